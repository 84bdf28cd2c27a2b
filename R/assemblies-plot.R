# Pictures of assemblies: the kinds of pictures, and which assemblies they show.

#' Pictures of assemblies
#'
#' * `type = "aligned"`: the spikes of the members around the activations of an assembly, one
#'   panel each. A member is a band, in the order of lags, and in it each activation is a line of
#'   dots, the first at the top; shaded is the member's window.
#' * `type = "raster"`: a stretch of the recording. On top is when each assembly is active; then
#'   come the members, in the order of lags. Their spikes at activations are in the colour of the
#'   assembly, all other spikes are grey. Of more than 100 units those that are in none of the
#'   assemblies drawn are thinned to 40.
#' * `type = "lags"`: how often each member fires when the *other* members do, and by how many
#'   spikes this is more than beside its window, see Details. Activations are found by the spikes
#'   of all members, so around them any unit would have a peak in its window, by chance alone;
#'   here it has none.
#' * `type = "time"`: how many activations there are over the recording. Dashed is how many chance
#'   gives, if it does so evenly. Trials are bands.
#' * `type = "condition"`: activations per second in each trial or epoch, by condition (`by`).
#'   For the course of activations around events or in trials see
#'   [psth()][as_spike_trains.assemblies].
#' * `type = "participation"`: which members fired in which activation, and with how many spikes.
#' * `type = "stability"`: the share of the resamples that have each member, see Stability in
#'   [find_assemblies()].
#' * `type = "network"`: lines from each member to the next one, as
#'   [as.igraph()][as.igraph.assemblies] has them: arrows, or lines without heads between members
#'   whose windows overlap in time. Units stand where the table of units (`x` and `y`) says, else
#'   where igraph puts them.
#'
#' An assembly has the same colour in all pictures of a result. The first six are told apart with
#' any common colour vision; the next six are darker shades of these.
#'
#' @param object What [find_assemblies()] gave.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param type What to draw, see above.
#' @param assemblies Numbers of the assemblies to draw, up to 12; by default the first six. To
#'   choose by what they are, choose rows: `plot(x[x$size > 4, ])`.
#' @param from,to For `"raster"`: the stretch to draw, in seconds; by default one with many
#'   activations.
#' @param by For `"condition"`: the name of a column of the recording's [trial_table()], or a data
#'   frame of epochs with the columns `start` and `end` (seconds) and one with the condition.
#' @param layout For `"network"`: `NULL`, a matrix of two columns with the places of units, whose
#'   names are its row names, or a function of a graph of igraph that gives such places.
#' @details For `"lags"` the windows of all members but one are laid over the recording, without
#' its
#'   population bursts. At each moment a member's spikes in its window count by how surprising
#'   they are: by -log of the probability that a Poisson process with its mean rate has as many or
#'   more, 6 at most. Those moments are taken at which the sum is highest, as many as the assembly
#'   has activations. The histogram is that of the spikes of the one member around them. What
#'   chance gives (dashed) is taken from two widths of lags on either side of the window, half a
#'   width away from it. With few other members, or few activations, many of these moments are
#'   chance, and the excess is less than the share of activations in which the member fires.
#' @return `autoplot()` gives a ggplot object, `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For arguments out of range (`synfire_error_argument`), and where ggplot2 is not installed, or
#' igraph for `"network"`. Where there is no assembly, the picture and a message say so.
#' @seealso [find_assemblies()], [activation_rate()].
#' @examplesIf rlang::is_installed("ggplot2")
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' plot(found)
#' plot(found, type = "raster")
#' plot(found, type = "lags", assemblies = 1)
#' plot(found, type = "stability")
#' halves <- data.frame(start = c(0, 30), end = c(30, 60), light = c("off", "on"))
#' plot(found, type = "condition", by = halves)
#' @exportS3Method ggplot2::autoplot
autoplot.assemblies <- function(object, ...,
                                type = c("aligned", "raster", "lags", "time", "condition",
                                         "participation", "stability", "network"),
                                assemblies = NULL, from = NULL, to = NULL, by = NULL,
                                layout = NULL) {
  check_no_dots(draws = "assemblies")
  type <- check_choice(type)
  check_assemblies_table(object)
  only_for <- c(from = "raster", to = "raster", by = "condition", layout = "network")
  for (arg in names(only_for)) {
    refuse_if(!is.null(get(arg)) && type != only_for[[arg]], arg,
              sprintf("left out unless `type` is \"%s\"", only_for[[arg]]), "given")
  }
  if (!is.null(from)) from <- check_number(from)
  if (!is.null(to)) to <- check_number(to)
  check_layout(layout)
  if (nrow(object) == 0L) return(empty_picture("No assembly was found", "nothing"))
  rows <- drawn_assemblies(object, assemblies)
  if (sum(object$count[rows]) == 0) return(empty_picture("There is no activation", "nothing"))
  switch(type, aligned = draw_aligned(object, rows),
         raster = draw_assembly_raster(object, rows, from, to),
         lags = draw_lag_profiles(object, rows), time = draw_activations(object, rows),
         condition = draw_conditions(object, rows, by),
         participation = draw_participation(object, rows),
         stability = draw_stability(object, rows),
         network = draw_assembly_network(object, rows, layout))
}

#' Rows to draw
#' @noRd
drawn_assemblies <- function(x, assemblies) {
  if (is.null(assemblies)) return(utils::head(seq_len(nrow(x)), 6L))
  ok <- is_plain_numeric(assemblies) && length(assemblies) %in% 1:12 &&
    !anyDuplicated(assemblies) && all(assemblies %in% x$assembly)
  refuse_if(!ok, "assemblies", "up to 12 numbers from the column `assembly`",
            describe(assemblies))
  match(assemblies, x$assembly)
}
