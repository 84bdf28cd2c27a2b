# Pictures of assemblies: what can be drawn, and spikes lined up at the activations.

#' Pictures of assemblies
#'
#' * `type = "aligned"`: the spikes of the members around the activations of an assembly, one
#'   panel each. A member is a band, in the order of lags, and in it each activation is a line of
#'   dots, the first at the top; shaded is the member's window.
#' * `type = "raster"`: a stretch of the recording. On top is when each assembly is active; then
#'   come the members, in the order of lags. Their spikes at activations are in the colour of the
#'   assembly and joined by lines, all other spikes are grey. Of more than 100 units those that
#'   are in none of the assemblies drawn are thinned to 40.
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
#' @details For `"lags"` the windows of all members but one are laid over the recording, without its
#'   population bursts. At each moment a member's spikes in its window count by how surprising they are: by -log of the
#'   probability that a Poisson process with its mean rate has as many or more, 6 at most. Those
#'   moments are taken at which the sum is highest, as many as the assembly has activations. The
#'   histogram is that of the spikes of the one member around them. What chance gives (dashed) is
#'   taken from two widths of lags on either side of the window, half a width away from it. With
#'   few other members, or few activations, many of these moments are chance, and the excess is
#'   less than the share of activations in which the member fires.
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
#' halves <- data.frame(start = c(0, 30), end = c(30, 60), light = c("off", "on"))
#' plot(found, type = "condition", by = halves)
#' @exportS3Method ggplot2::autoplot
autoplot.assemblies <- function(object, ...,
                                type = c("aligned", "raster", "lags", "time", "condition",
                                         "participation", "network"),
                                assemblies = NULL, from = NULL, to = NULL, by = NULL,
                                layout = NULL) {
  rlang::check_installed("ggplot2", "to draw assemblies.")
  check_no_dots()
  call <- rlang::current_env()
  type <- check_choice(type)
  check_assemblies_table(object)
  given <- list(from = from, to = to, by = by, layout = layout)
  check_only_for(given, type, list(from = "raster", to = "raster", by = "condition",
                                   layout = "network"), call)
  if (!is.null(from)) from <- check_number(from)
  if (!is.null(to)) to <- check_number(to)
  check_layout(layout)
  if (nrow(object) == 0L) return(empty_picture("No assembly was found", "nothing"))
  rows <- drawn_assemblies(object, assemblies, call)
  switch(
    type,
    aligned = draw_aligned(object, rows),
    raster = draw_assembly_raster(object, rows, from, to, call),
    lags = draw_lag_profiles(object, rows),
    time = draw_activations(object, rows),
    condition = draw_conditions(object, rows, by, call),
    participation = draw_participation(object, rows),
    network = draw_assembly_network(object, rows, layout, call)
  )
}

#' Error where an argument was given that the type of picture does not use
#' @noRd
check_only_for <- function(given, type, for_type, call) {
  for (arg in names(given)) {
    refuse_if(!is.null(given[[arg]]) && type != for_type[[arg]], arg,
              sprintf("left out unless `type` is \"%s\"", for_type[[arg]]), "given", call = call)
  }
}

#' Rows to draw
#' @noRd
drawn_assemblies <- function(x, assemblies, call = rlang::caller_env()) {
  if (is.null(assemblies)) return(utils::head(seq_len(nrow(x)), 6L))
  ok <- is_plain_numeric(assemblies) && length(assemblies) %in% 1:12 &&
    !anyDuplicated(assemblies) && all(assemblies %in% x$assembly)
  refuse_if(!ok, "assemblies", "up to 12 numbers from the column `assembly`",
            describe(assemblies), call = call)
  match(assemblies, x$assembly)
}

assembly_label_levels <- function(x, rows) {
  vapply(rows, \(row) {
    sprintf("Assembly %d (%s)", x$assembly[[row]], counted(x$count[[row]], "activation"))
  }, "")
}

#' "Assembly 1", the name of an assembly wherever it stands beside others
#' @noRd
assembly_names <- function(x, rows = seq_len(nrow(x))) sprintf("Assembly %d", x$assembly[rows])

#' "6 of 20 assemblies: ...", for captions, or NULL where all are drawn
#' @noRd
left_out_text <- function(x, rows) {
  if (length(rows) == nrow(x)) return(NULL)
  sprintf("%d of %d assemblies; `assemblies` chooses others.", length(rows), nrow(x))
}

#' The colour of each of these assemblies, the same in all pictures of a result
#' @noRd
assembly_colours <- function(x, rows) {
  base <- syn_palette(6L)
  darker <- grDevices::rgb(t(grDevices::col2rgb(base)) * 0.5, maxColorValue = 255)
  colours <- c(base, darker)
  k <- (x$assembly[rows] - 1L) %% length(colours) + 1L
  if (anyDuplicated(k)) k <- (seq_along(rows) - 1L) %% length(colours) + 1L
  colours[k]
}

#' @param values One for each of the assemblies drawn, such as their labels.
#' @noRd
assembly_scale <- function(x, rows, values, aesthetics = "colour", ...) {
  ggplot2::scale_colour_manual(
    values = rlang::set_names(assembly_colours(x, rows), values), limits = values,
    aesthetics = aesthetics, ...
  )
}

# ---- Spikes around activations -------------------------------------------------------

#' Spikes of each member between two lags from each activation, of its trial alone
#'
#' @param row The assembly.
#' @param low,high Lags in seconds, for all members or each; `low` is in, `high` is not.
#' @param which Numbers of the activations.
#' @return Data frame `activation` (number), `member` (its place), `time` and `lag` (seconds).
#' @noRd
spikes_around <- function(x, row, low, high, which = seq_along(x$times[[row]])) {
  recording <- attr(x, "recording", exact = TRUE)
  resolution <- attr(recording, "resolution", exact = TRUE)
  members <- match(x$units[[row]], levels(recording$unit))
  of_member <- match(as.integer(recording$unit), members)
  inside <- which(!is.na(of_member))
  ticks <- round_to_ticks(recording$time[inside], resolution)
  of_member <- of_member[inside]
  times <- round_to_ticks(x$times[[row]][which], resolution)
  trials <- trial_ticks(recording)
  # The middle of an activation is in its trial, even where the first member is missing.
  middle <- times + round_to_ticks(max(x$lags[[row]]) / 2, resolution)
  trial <- findInterval(middle, trials$start)
  low <- rep_len(low, length(members)) / resolution
  high <- rep_len(high, length(members)) / resolution
  parts <- lapply(seq_along(members), \(m) {
    own <- ticks[of_member == m]
    first <- findInterval(times + low[[m]] - 1e-3, own)
    n <- pmax(0L, findInterval(times + high[[m]] - 1e-3, own) - first)
    at <- own[sequence(n, first + 1L)]
    k <- rep(seq_along(which), n)
    same <- if (is.null(trials)) rep(TRUE, length(at)) else
      findInterval(at, trials$start) == trial[k]
    data.frame(activation = which[k], member = rep(m, length(at)),
               time = ticks_to_seconds(at, resolution),
               lag = ticks_to_seconds(at - times[k], resolution))[same, , drop = FALSE]
  })
  do.call(rbind, parts)
}

#' Whether lags are in windows around others, to within the rounding of seconds
#' @noRd
in_window <- function(lag, middle, width) {
  lag >= middle - width / 2 - 1e-9 & lag < middle + width / 2 - 1e-9
}

#' At most `most` activations, at even steps
#' @noRd
some_activations <- function(x, row, most) {
  n <- x$count[[row]]
  if (n > most) unique(round(seq(1, n, length.out = most))) else seq_len(n)
}

# ---- Aligned -------------------------------------------------------------------------

#' Spikes of the members around the activations of one assembly
#'
#' @return Data frame `lag` (ms), `y`, from 1 (first activation) to 0 in each member's band,
#'   `inside` its window.
#' @noRd
aligned_spikes <- function(x, row, most = 400L) {
  lags <- x$lags[[row]]
  widths <- x$widths[[row]]
  range <- aligned_range(x, row)
  which <- some_activations(x, row, most)
  dots <- spikes_around(x, row, range[[1L]], range[[2L]], which)
  place <- (match(dots$activation, which) - 0.5) / max(1, length(which))
  data.frame(lag = dots$lag * 1e3, y = x$size[[row]] - dots$member + 0.95 - 0.9 * place,
             inside = in_window(dots$lag, lags[dots$member], widths[dots$member]))
}

#' From when to when around an activation spikes are shown, in seconds
#' @noRd
aligned_range <- function(x, row) {
  lags <- x$lags[[row]]
  half <- x$widths[[row]] / 2
  margin <- max(4 * max(half), 0.4 * (max(lags) + 2 * max(half)))
  c(min(lags - half) - margin, max(lags + half) + margin)
}

#' A band for each member of the assemblies, in the order of lags, with its window
#' @noRd
member_bands <- function(x, rows, labels) {
  do.call(rbind, lapply(seq_along(rows), \(k) {
    row <- rows[[k]]
    data.frame(low = (x$lags[[row]] - x$widths[[row]] / 2) * 1e3,
               high = (x$lags[[row]] + x$widths[[row]] / 2) * 1e3,
               y = x$size[[row]] - seq_len(x$size[[row]]), unit = x$units[[row]],
               panel = factor(labels[[k]], labels))
  }))
}

draw_aligned <- function(x, rows) {
  labels <- assembly_label_levels(x, rows)
  dots <- do.call(rbind, lapply(seq_along(rows), \(k) {
    cbind(aligned_spikes(x, rows[[k]]), panel = factor(labels[[k]], labels))
  }))
  bands <- member_bands(x, rows, labels)
  # Also where no spike lies outside of the windows.
  reach <- data.frame(lag = 1e3 * unlist(lapply(rows, \(row) aligned_range(x, row))),
                      panel = factor(rep(labels, each = 2L), labels))
  size <- min(1.2, max(0.45, 25 / max(x$count[rows])))
  ggplot2::ggplot(dots) +
    band_layers(bands) +
    ggplot2::geom_blank(aes_from(x = "lag"), data = reach) +
    ggplot2::geom_point(aes_from(x = "lag", y = "y"), colour = "#9AA1AB",
                        data = dots[!dots$inside, ], shape = 16, size = size) +
    ggplot2::geom_point(aes_from(x = "lag", y = "y", colour = "panel"),
                        data = dots[dots$inside, ], shape = 16, size = 1.2 * size) +
    assembly_scale(x, rows, labels, guide = "none") +
    band_names(bands) +
    caption("A band is a member, a line of dots in it an activation, the first at the top.",
            "Shaded: the window in which the member counts.", left_out_text(x, rows))
}

#' Windows of members, and lines between their bands
#' @noRd
band_layers <- function(bands) {
  list(
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = .data$y,
                                    ymax = .data$y + 1), data = bands, fill = syn_band_strong),
    ggplot2::geom_hline(aes_from(yintercept = "y"), data = bands, colour = syn_grid)
  )
}

#' Names of members in their bands, panels and axes
#'
#' @param right Share of the width to leave free on the right.
#' @noRd
band_names <- function(bands, right = 0.02) {
  # Names share a panel with the dots: its width is 7 inches by the number of panels in a row.
  columns <- ggplot2::wrap_dims(nlevels(bands$panel))[[2L]]
  left <- min(0.5, (0.15 + 0.075 * max(nchar(bands$unit))) * columns / 7)
  list(
    ggplot2::geom_text(ggplot2::aes(x = -Inf, y = .data$y + 0.5, label = .data$unit),
                       data = bands, hjust = -0.1, size = 3, colour = syn_ink),
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(left / (1 - left), right))),
    ggplot2::facet_wrap(~panel, scales = "free"),
    ggplot2::labs(x = "Time from the activation (ms)", y = NULL),
    theme_synfire(),
    ggplot2::theme(axis.text.y = ggplot2::element_blank(),
                   panel.grid.major.y = ggplot2::element_blank())
  )
}
