# The network of a table of episodes: units, and the steps between them.

#' Network of the steps in episodes
#'
#' A directed multigraph with a vertex for each unit of the episodes and an edge for each
#' step: a pair of units, in this order, and the delay interval between them. Steps with
#' the same units and another interval are different edges.
#'
#' Vertices stand in the order of the recording's units, where the episodes know their
#' recording, else in the order in which they come. A unit that is in no episode has no
#' vertex; a unit that is an episode of its own only is a vertex without edges.
#'
#' @param x An `episodes` object, as [mine_episodes()] gives it.
#' @param ... Not used; must be empty.
#' @return An igraph graph. Vertex attributes: `name`, the unit, and `spikes`, its number
#'   of spikes in the recording (`NA` without one). Edge attributes: `low` and `high`, the
#'   interval in seconds; `count`, the highest count of an episode that contains the step
#'   (`NA` where none of them has been counted); `episodes`, the number of episodes that
#'   contain it; `size`, the size of the largest of these.
#' @section Errors:
#' Where igraph is not installed.
#' @seealso [autoplot.episodes()] with `type = "network"` to draw it.
#' @examplesIf rlang::is_installed("igraph")
#' found <- mine_episodes(songbird, min_count = 16, intervals = c(0.02, 0.12), threads = 2)
#' graph <- igraph::as.igraph(found)
#' igraph::degree(graph, mode = "out")
#' @exportS3Method igraph::as.igraph
as.igraph.episodes <- function(x, ...) {
  rlang::check_installed("igraph", "to make a network of episodes.")
  begin_method(x)
  steps <- episode_steps(x)
  vertices <- data.frame(name = episode_units(x))
  recording <- own_recording(x)
  vertices$spikes <- if (is.null(recording)) {
    rep(NA_integer_, nrow(vertices))
  } else {
    unit <- .subset2(recording, "unit")
    tabulate(unit, nlevels(unit))[match(vertices$name, levels(unit))]
  }
  igraph::graph_from_data_frame(steps, directed = TRUE, vertices = vertices)
}

#' Units of the episodes, each once
#' @noRd
episode_units <- function(x) {
  units <- unique(as.character(unlist(.subset2(x, "units"), use.names = FALSE)))
  recording <- own_recording(x)
  if (is.null(recording)) return(units)
  known <- levels(.subset2(recording, "unit"))
  c(known[known %in% units], setdiff(units, known))
}

#' The steps of the episodes: a row for each (from, to, low, high)
#'
#' @return Data frame `from`, `to`, `low`, `high`, `count`, `episodes`, `size`; in the
#'   order in which the steps first come.
#' @noRd
episode_steps <- function(x) {
  units <- .subset2(x, "units")
  n_steps <- pmax(lengths(units) - 1L, 0L)
  owner <- rep(seq_along(units), n_steps)
  all <- data.frame(from = as.character(unlist(lapply(units, \(u) u[-length(u)]),
                                               use.names = FALSE)),
                    to = as.character(unlist(lapply(units, \(u) u[-1L]), use.names = FALSE)),
                    low = as.double(unlist(.subset2(x, "low"), use.names = FALSE)),
                    high = as.double(unlist(.subset2(x, "high"), use.names = FALSE)))
  key <- step_keys(all)
  steps <- all[!duplicated(key), , drop = FALSE]
  row.names(steps) <- NULL

  count <- as.double(.subset2(x, "count"))[owner]
  # Where a step comes more than once, the last assignment stays.
  rising <- order(count, na.last = NA)
  steps$count <- rep(NA_real_, nrow(steps))
  steps$count[key[rising]] <- count[rising]
  # An episode that goes through the same step twice is one episode.
  once <- !duplicated((owner - 1) * max(1, key) + key)
  steps$episodes <- tabulate(key[once], nrow(steps))
  rising <- order(n_steps[owner])
  steps$size <- integer(nrow(steps))
  steps$size[key[rising]] <- (n_steps[owner] + 1L)[rising]
  steps
}

#' A number for each step, the same for the same step
#'
#' Group numbers rather than pasted text, in which units with odd names could collide.
#' @noRd
step_keys <- function(steps) {
  number <- \(v) match(v, unique(v))
  key <- number(steps$from)
  for (column in c("to", "low", "high")) {
    this <- number(steps[[column]])
    key <- number((key - 1) * max(1, this) + this)
  }
  key
}

#' The steps that are not among those to drop
#' @noRd
without_steps <- function(steps, drop) {
  key <- step_keys(rbind(steps, drop))
  own <- seq_len(nrow(steps))
  steps[!key[own] %in% key[-own], , drop = FALSE]
}

# ---- Drawing it ----------------------------------------------------------------------

#' @param drop Steps, as episode_steps() gives them, that are left out.
#' @param connections What `find_synapses()` gave, or NULL.
#' @noRd
plot_network <- function(x, edges, layout, drop = NULL, connections = NULL) {
  rlang::check_installed("igraph", "to draw a network of episodes.")
  steps <- episode_steps(x)
  all <- without_steps(steps, drop)
  # Chains may stand out where none of their pairs does by itself.
  if (nrow(all) == 0L) all <- steps
  if (nrow(all) == 0L) return(empty_picture("No unit follows another", "no network"))
  counted <- !anyNA(all$count)
  # Without counts, steps that are in many episodes come first.
  all$weight <- if (counted) all$count else all$episodes
  # Most pairs of busy units are frequent by chance; what goes on to a third is rarer.
  steps <- all[order(all$size < 3L, -all$weight, all$from, all$to, method = "radix"), ]
  steps <- steps[seq_len(min(edges, nrow(steps))), ]
  names <- episode_units(x)
  names <- names[names %in% c(steps$from, steps$to)]
  recording <- own_recording(x)
  drawn <- network_parts(steps, names, layout, unit_places(recording), unit_areas(recording))
  curves <- drawn$curves
  known <- unique(steps[c("low", "high")])
  known <- known[order(known$low, known$high), ]
  intervals <- interval_names(known$low, known$high)
  by_interval <- length(intervals) > 1L && length(intervals) <= 8L
  curves$interval <- factor(interval_names(curves$low, curves$high), intervals)
  linked <- if (!is.null(connections)) steps_connected(steps, connections)
  if (!is.null(linked)) curves$linked <- factor(linked[curves$edge], c("yes", "no", "not tested"))
  # Wide lines would hide what is close to each other.
  narrow <- min(1, max(0.4, drawn$radius / 0.03))
  ggplot2::ggplot() +
    ggplot2::geom_path(ggplot2::aes(x = .data$x, y = .data$y, group = .data$group,
                                    linewidth = .data$weight,
                                    linetype = if (is.null(linked)) NULL else .data$linked,
                                    colour = if (by_interval) .data$interval else .data$weight),
                       data = curves, lineend = "butt", linejoin = "mitre",
                       arrow = edge_arrows(curves), key_glyph = key_without_arrow) +
    drawn$nodes +
    width_scale(steps$weight, c(0.15, 1.9) * narrow, name = if (counted) "Count" else "Episodes",
                labels = commas_each, breaks = weight_breaks(steps$weight)) +
    (if (!is.null(linked)) ggplot2::scale_linetype_manual(
      name = "Also a\nconnection", values = c(yes = "solid", no = "42", `not tested` = "11"),
      guide = ggplot2::guide_legend(override.aes = list(linewidth = 0.7))
    )) +
    (if (by_interval) {
      ggplot2::scale_colour_manual(
        name = "Delay (ms)", values = named_palette(intervals),
        limits = intervals,
        guide = ggplot2::guide_legend(order = 1, override.aes = list(linewidth = 1.4))
      )
    } else {
      ggplot2::scale_colour_gradientn(colours = syn_scale[-1L], limits = from_zero(steps$weight),
                                      guide = "none")
    }) +
    theme_network(paste(c(
      paste(c(if (nrow(steps) < nrow(all)) {
                sprintf("%s of %s steps.", commas(nrow(steps)), commas(nrow(all)))
              } else {
                paste0(counted(nrow(all), "step"), ".")
              },
              if (length(intervals) == 1L) sprintf("Delay %s ms.", intervals),
              if (length(intervals) > 1L && !by_interval) {
                sprintf("%d delay intervals.", length(intervals))
              },
              drawn$left_out,
              if (drawn$mapped) "\nUnits stand where they lie; dots are the others."),
            collapse = " "),
      linked_caption(linked)
    ), collapse = "\n"))
}

#' Whether each step is also an excitatory connection whose lags lie within its interval
#'
#' @param steps As episode_steps() gives them.
#' @param connections What `find_synapses()` gave.
#' @return "yes", "no" or "not tested", one for each step.
#' @noRd
steps_connected <- function(steps, connections) {
  found <- as.data.frame(connections)
  found <- found[found$kind %in% "connection" & found$sign %in% 1L, , drop = FALSE]
  row <- match(paste(steps$from, steps$to, sep = "\r"), paste(found$from, found$to, sep = "\r"))
  # Lags are those of bins: the peak covers its width.
  half <- found$width[row] / 2
  within <- found$lag[row] + half > steps$low & found$lag[row] - half <= steps$high
  power <- attr(connections, "power", exact = TRUE)
  tested <- power[cbind(match(steps$from, rownames(power)), match(steps$to, colnames(power)))]
  ifelse(within %in% TRUE, "yes", ifelse(is.na(tested), "not tested", "no"))
}

linked_caption <- function(linked) {
  if (is.null(linked)) return(NULL)
  tested <- sum(linked != "not tested")
  both <- sum(linked == "yes")
  paste0(sprintf("%s of %s %s.", commas(both), counted(tested, "tested step"),
                 if (both == 1L) "is also a connection" else "are also connections"),
         if (tested < length(linked)) sprintf(" Not tested: %s.", counted(
           length(linked) - tested, "step")))
}
