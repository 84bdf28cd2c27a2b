# A stretch of a recording with occurrences of episodes drawn into it.

plot_episode_raster <- function(x, episodes, from, to, order, others) {
  found <- episode_occurrences(x, episodes)
  window <- dense_window(x, found, from, to)
  # Those of this recording, which need not be the one that was mined.
  episodes$count <- tabulate(match(found$episode, episodes$episode), nrow(episodes))
  labels <- chain_names(episodes, count = TRUE)
  found_raster(x, found, episodes, window, order, others, \(rows, inside, crowded) {
    paths <- occurrence_paths(inside, episodes, rows, labels)
    list(ggplot2::geom_path(aes_from(x = "time", y = "row", group = "group", colour = "episode"),
                            data = paths, linewidth = if (crowded) 0.25 else 0.55, alpha = 0.75,
                            lineend = "round", show.legend = TRUE),
         ggplot2::geom_segment(aes_from(x = "time", xend = "time", y = "low", yend = "high",
                                        colour = "episode"), data = paths,
                               linewidth = if (crowded) 0.25 else 0.9, show.legend = FALSE),
         found_colours(labels))
  })
}

#' Events of occurrences, in the order in which lines go through them
#' @noRd
occurrence_paths <- function(found, episodes, rows, labels) {
  which <- match(found$episode, .subset2(episodes, "episode"))
  units <- .subset2(episodes, "units")[which]
  n <- lengths(units)
  at <- match(as.character(unlist(units, use.names = FALSE)), rows$unit)
  half <- 0.42 * rows$height[at]
  data.frame(time = as.double(unlist(found$times, use.names = FALSE)), row = rows$y[at],
             low = rows$y[at] - half, high = rows$y[at] + half, group = rep(seq_along(n), n),
             episode = factor(labels[rep(which, n)], labels))
}
