# A stretch of a recording with occurrences of episodes drawn into it.

plot_episode_raster <- function(x, episodes, from, to, order, others, call) {
  found <- episode_occurrences(x, episodes)
  window <- dense_window(x, found, from, to, call)
  all_units <- nlevels(.subset2(x, "unit"))
  x <- keep_drawn(x, units_of_chains(episodes), others, order, call)
  shown <- keep_time(x, window, call, "from, to")
  few <- nrow(shown) <= 30000L
  rows <- episode_rows(x, episodes, order, tall = few)
  inside <- found[found$start >= window[[1L]] & found$end <= window[[2L]], ]
  colours <- syn_palette(nrow(episodes))
  # Those of this recording, which need not be the one that was mined.
  episodes$count <- tabulate(match(found$episode, episodes$episode), nrow(episodes))
  labels <- chain_names(episodes, count = TRUE)
  paths <- occurrence_paths(inside, episodes, rows, labels)
  crowded <- nrow(inside) > 200L

  ggplot2::ggplot() +
    found_background(shown, rows, few) +
    ggplot2::geom_path(
      aes_from(x = "time", y = "row", group = "group", colour = "episode"),
      data = paths, linewidth = if (crowded) 0.25 else 0.55, alpha = 0.75,
      lineend = "round", show.legend = TRUE
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$time, xend = .data$time, y = .data$row - .data$half,
                   yend = .data$row + .data$half, colour = .data$episode),
      data = paths, linewidth = if (crowded) 0.25 else 0.9, show.legend = FALSE
    ) +
    ggplot2::scale_colour_manual(
      name = NULL, values = rlang::set_names(colours, labels), limits = labels,
      drop = FALSE,
      guide = ggplot2::guide_legend(
        ncol = 1, override.aes = list(linewidth = 1.2, alpha = 1)
      )
    ) +
    theme_synfire() +
    episode_axes(shown, rows, episodes, all_units) +
    found_theme(rows)
}

#' Events of occurrences, in the order in which lines go through them
#' @noRd
occurrence_paths <- function(found, episodes, rows, labels) {
  which <- match(found$episode, .subset2(episodes, "episode"))
  units <- .subset2(episodes, "units")[which]
  n <- lengths(units)
  at <- match(as.character(unlist(units, use.names = FALSE)), rows$unit)
  data.frame(
    time = as.double(unlist(found$times, use.names = FALSE)),
    row = rows$y[at], half = 0.42 * rows$height[at],
    group = rep(seq_along(n), n),
    episode = factor(labels[rep(which, n)], labels)
  )
}
