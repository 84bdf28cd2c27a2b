# How many episodes there are of each size, and how their counts are distributed.

plot_counts <- function(x) {
  refuse_if(anyNA(.subset2(x, "count")), "object", "episodes that have been counted",
            "without counts", "See `count_episodes()`.")
  panels <- c("Number of episodes", "Count of an episode: median, middle half, range")
  size <- .subset2(x, "size")
  sizes <- sort(unique(size))
  number <- tabulate(match(size, sizes))
  count <- split(as.double(.subset2(x, "count")), factor(size, sizes))
  spread <- data.frame(size = sizes, panel = factor(panels[[2L]], panels),
                       t(vapply(count, stats::quantile, double(5),
                                probs = c(0, 0.25, 0.5, 0.75, 1), type = 1, names = FALSE)))
  names(spread)[3:7] <- c("least", "lower", "median", "upper", "most")
  bars <- data.frame(size = sizes, number = number, label = commas_each(number),
                     panel = factor(panels[[1L]], panels))
  line <- \(from, to, width) ggplot2::geom_linerange(aes_from(x = "size", ymin = from, ymax = to),
                                                     data = spread, linewidth = width,
                                                     colour = syn_colours[["blue"]])
  ggplot2::ggplot() +
    sky_bars(.data$size - 0.35, .data$size + 0.35, data = bars) +
    bar_labels("size", data = bars) +
    line("least", "most", 0.5) +
    line("lower", "upper", 2.6) +
    ggplot2::geom_point(aes_from(x = "size", y = "median"), data = spread, shape = 21, size = 2.2,
                        fill = "white", colour = syn_colours[["blue"]], stroke = 0.9) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1, scales = "free_y") +
    ggplot2::scale_x_continuous(name = "Size (units in the episode)",
                                breaks = \(limits) whole_breaks(limits, 20L),
                                expand = ggplot2::expansion(add = 0.4)) +
    log_count_axis(NULL, c(0.03, 0.14)) +
    theme_synfire() +
    without("panel.grid.major.x") +
    large_strips()
}
