# Pictures of episodes: the kinds of pictures, and which episodes they show.

#' Plots of episodes
#'
#' Four pictures of what [mine_episodes()] found. `"counts"` shows how many episodes there
#' are of each size, and how their counts are distributed. `"raster"` is a stretch of the
#' recording with occurrences drawn into it. `"network"` shows the steps between units.
#' `"lags"` shows how the lags of each step are distributed.
#'
#' # Which episodes
#' The largest episodes are often variants of each other. So that a picture shows
#' different things, episodes are taken in the order of size, then count, and one that
#' shares more than half of its units with those taken before is passed over. `episodes`
#' sets how many are taken, or says which. Of a table whose rows you have put into an order
#' the first ones are taken, `found[order(-found$count), ]`.
#'
#' # The raster
#' A line connects the events of an occurrence; its spikes are drawn bold. Occurrences
#' are the non-overlapped ones that [episode_occurrences()] gives, those that attain the
#' count. Without `from` and `to` the stretch is where most of them lie; it is six times
#' as long as a typical occurrence of the longest lasting episode, and longer where spikes
#' are few. Units stand in the order of the episodes drawn, from top to bottom, then the
#' others, by area, depth and position where [unit_table()] has them. Of more than a
#' hundred units only a sample of the others is drawn, at even steps; `others` says how
#' many.
#'
#' # The network
#' An arrow is a step of an episode, as in [as.igraph.episodes()]: wider for higher
#' counts, coloured by its delay interval, or by its count where all steps have the same
#' interval. At most `edges` steps are drawn: first those that are part of an episode of
#' three or more units, then the others, by count. Units without such a step are left
#' out. Long names lose their common prefix. Where
#' [unit_table()] has the columns `x` and `y`, units stand at their positions, as on a map of
#' the array; where it has `area`, they are coloured by it.
#'
#' With `connections`, a step is a solid line where its two units are also connected: where
#' [find_synapses()] found excitation from the first to the second whose peak lies within the
#' delays of the step. Other steps are dashed; they may lead through other units, or come from a
#' common input. Steps between units that were not tested, such as a unit and itself, are dotted.
#'
#' @param object An `episodes` object with counts.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param episodes For `"raster"` and `"lags"`: how many episodes to draw, a character
#'   vector of those wanted (as in the column `episode`), or an `episodes` object.
#' @param from,to For `"raster"`: the stretch to draw, in seconds.
#' @param order For `"raster"`: the order of the units. `"episodes"` as described;
#'   `"levels"` and `"rate"` as in [autoplot.spike_trains()].
#' @param others For `"raster"`: how many of the units that are in no episode to draw, `Inf`
#'   for all of them; by default all of up to a hundred units, else 40.
#' @param edges For `"network"`: the largest number of steps to draw.
#' @param layout For `"network"`: positions of the units. A function of an igraph graph
#'   that gives a matrix, such as [igraph::layout_in_circle()], or a two-column matrix of
#'   positions with the units as row names, such as the places of electrodes.
#' @param bins For `"lags"`: number of bins of each histogram.
#' @param connections For `"network"`: what [find_synapses()] gave for the recording, to mark steps
#'   that are also connections; `NULL` for no marks.
#' @param recording The [spike_trains] that `"raster"` and `"lags"` look into; by default
#'   those that were mined.
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' For an object without what the picture needs (counts, a recording); for episodes that are not
#' among those given; and where ggplot2 or igraph is not installed. Where there is no episode, or
#' none in which a unit follows another, the picture and a message say so.
#' @seealso [as.igraph.episodes()], [episode_occurrences()], [episode_lags()]
#' @examplesIf rlang::is_installed(c("ggplot2", "igraph"))
#' found <- mine_episodes(songbird, min_count = 16, intervals = c(0.02, 0.12), threads = 2)
#' plot(found)
#' plot(found, type = "raster", episodes = 2)
#' plot(found, type = "network", edges = 16)
#' plot(found, type = "lags", episodes = 1)
#' @exportS3Method ggplot2::autoplot
autoplot.episodes <- function(object, type = c("counts", "raster", "network", "lags"), ...,
                              episodes = 3, from = NULL, to = NULL,
                              order = c("episodes", "levels", "rate"), others = NULL,
                              edges = 25,
                              layout = NULL, bins = 20, connections = NULL,
                              recording = attr(object, "recording", exact = TRUE)) {
  check_no_dots(draws = "episodes")
  type <- check_choice(type)
  order <- check_choice(order)
  if (!is.null(others)) others <- check_count(others, min = 0, infinite = TRUE)
  edges <- check_count(edges)
  check_episodes(object)
  bins <- check_count(bins)
  if (!is.null(from)) from <- check_number(from)
  if (!is.null(to)) to <- check_number(to)
  check_episode_choice(object, episodes)
  if (!is.null(recording)) check_spike_trains(recording, "recording")
  check_layout(layout)
  check_connections(connections, object)
  if (nrow(object) == 0L) return(empty_picture("There is no episode", "nothing"))
  if (type %in% c("raster", "lags")) {
    refuse_if(is.null(recording), "recording", "the spike trains to look into", "NULL",
              "These episodes do not know their recording; give it.")
    episodes <- choose_episodes(object, episodes)
    if (nrow(episodes) == 0L) return(empty_picture("No episode has two units", "nothing"))
  }
  switch(type, counts = plot_counts(object),
         raster = plot_episode_raster(recording, episodes, from, to, order, others),
         network = plot_network(object, edges, layout, connections = connections),
         lags = autoplot.episode_lags(episode_lags(recording, episodes, bins = bins)))
}

#' Error unless an argument `connections` is of these units
#' @noRd
check_connections <- function(connections, x) {
  if (is.null(connections)) return(invisible())
  refuse_if(!inherits(connections, "synapses") ||
              !is.matrix(attr(connections, "power", exact = TRUE)), "connections",
            "NULL, or what `find_synapses()` gives", describe(connections))
  check_table(connections, c("from", "to", "kind", "sign", "lag", "width"), "find_synapses")
  unknown <- setdiff(episode_units(x), rownames(attr(connections, "power", exact = TRUE)))
  refuse_if(length(unknown) > 0L, "connections", "of the recording in which episodes were found",
            sprintf("without the unit %s", encodeString(unknown[[1L]], quote = "\"")))
}

# ---- Which episodes, and what to call them -----------------------------------------

#' Error unless an argument `episodes` is a number, episodes, or names of some in the table
#' @noRd
check_episode_choice <- function(x, episodes) {
  if (inherits(episodes, "episodes")) return(check_episodes(episodes, "episodes"))
  if (!is.character(episodes)) return(check_count(episodes))
  unknown <- episodes[!episodes %in% .subset2(x, "episode")]
  refuse_if(length(episodes) == 0L || length(unknown) > 0L, "episodes",
            "a number, or episodes of the table",
            if (length(unknown)) sprintf("\"%s\", which is not among them", unknown[[1L]]) else
              "empty")
}

#' The episodes that an argument `episodes` asks for, of at least two units
#' @noRd
choose_episodes <- function(x, episodes) {
  chosen <- if (inherits(episodes, "episodes")) {
    episodes
  } else if (is.character(episodes)) {
    x[match(episodes, .subset2(x, "episode")), ]
  } else {
    x[best_episodes(x, episodes), ]
  }
  chosen[.subset2(chosen, "size") >= 2L, ]
}
