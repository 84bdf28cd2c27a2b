# Pictures of tested episodes: each against its surrogates, all against chance, as a network.

#' Plots of tested episodes
#'
#' Three pictures of what [episode_significance()] says. `"counts"` draws the episodes with
#' the largest excess, one below the other: the count, and what surrogates give, their
#' middle 95 % and their mean. `"chance"` draws all tested episodes: the count over the mean
#' of the surrogates; on the line both are the same. `"network"` is that of
#' [autoplot.episodes()] with the steps of significant episodes alone; those whose pair was
#' tested and is not significant itself are left out too, as an episode also becomes
#' significant by its other steps. Where that leaves no step, all steps of significant
#' episodes are drawn: a chain may stand out where none of its pairs does.
#'
#' @param object What [episode_significance()] gives.
#' @param type Which picture.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param episodes For `"counts"`: the largest number of episodes to draw.
#' @param edges,layout,connections For `"network"`: as in [autoplot.episodes()].
#' @return `autoplot()` gives a ggplot object; `plot()` draws it and returns it
#'   invisibly.
#' @section Errors:
#' Where ggplot2 or igraph is not installed. Where no episode was tested, the picture and a message
#' say so.
#' `"network"` without significant episodes is no error: a message says so, and the picture
#' does.
#' @seealso [autoplot.episodes()] for the episodes themselves:
#'   `plot(found[tested$significant, ], type = "raster")`.
#' @examplesIf rlang::is_installed(c("ggplot2", "igraph"))
#' set.seed(1)
#' found <- mine_episodes(songbird, min_count = 16, intervals = c(0.02, 0.12), threads = 2)
#' tested <- episode_significance(found, n_surrogates = 100, threads = 2)
#' plot(tested)
#' plot(tested, type = "chance")
#' plot(tested, type = "network")
#' @exportS3Method ggplot2::autoplot
autoplot.episode_significance <- function(object, type = c("counts", "chance", "network"),
                                          ..., episodes = 25, edges = 25, layout = NULL,
                                          connections = NULL) {
  check_no_dots(draws = "tested episodes")
  type <- check_choice(type)
  episodes <- check_count(episodes)
  edges <- check_count(edges)
  check_layout(layout)
  check_sound(object, "object")
  check_connections(connections, object)
  if (!any(is_tested(object))) return(empty_picture("No episode was tested", "nothing"))
  if (type == "counts") return(plot_against_surrogates(object, episodes))
  if (type == "chance") return(plot_against_chance(object))
  if (!any(.subset2(object, "significant"))) {
    return(empty_picture("No episode is significant", "no network"))
  }
  plot_network(significant_episodes(object), edges, layout, insignificant_pairs(object),
               connections)
}

significance_words_of <- c("significant", "not significant")

significance_colours <- function() {
  rlang::set_names(c(syn_colours[["vermilion"]], "#9AA1AB"), significance_words_of)
}

judgement <- function(significant) {
  factor(ifelse(significant, significance_words_of[[1L]], significance_words_of[[2L]]),
         significance_words_of)
}

significance_caption <- function(x) {
  sprintf("%s. %s of %s significant at %s,\n%s.", surrogates_text(x),
          commas(sum(.subset2(x, "significant"))), counted(sum(is_tested(x)), "episode"),
          exact(attr(x, "alpha", exact = TRUE)), correction_text(x))
}

plot_against_surrogates <- function(x, most) {
  rows <- tested_rows(x, most)
  shown <- data.frame(row = rev(seq_along(rows)), count = x$count[rows], mean = x$mean[rows],
                      lower = x$lower[rows], upper = x$upper[rows],
                      judged = judgement(x$significant[rows]))
  ggplot2::ggplot(shown, aes_from(y = "row")) +
    ggplot2::geom_segment(aes_from(x = "mean", xend = "count", yend = "row"), colour = syn_grid,
                          linewidth = 0.5) +
    ggplot2::geom_segment(aes_from(x = "lower", xend = "upper", yend = "row"),
                          colour = syn_colours[["sky"]], linewidth = 2.6, lineend = "round") +
    ggplot2::geom_point(aes_from(x = "mean"), colour = syn_colours[["blue"]], size = 1.2) +
    ggplot2::geom_point(aes_from(x = "count", colour = "judged"), size = 2.2) +
    ggplot2::scale_colour_manual(name = NULL, values = significance_colours()) +
    ggplot2::scale_x_continuous(name = "Count (large points); in surrogates (bars: 95 %, small points: mean)",
                                labels = commas_each) +
    ggplot2::scale_y_continuous(name = NULL, breaks = shown$row,
                                labels = interval_chain_names(x, rows),
                                expand = ggplot2::expansion(add = 0.6)) +
    theme_synfire() +
    legend_on_top(panel.grid.major.y = ggplot2::element_blank(),
                  axis.text.y = ggplot2::element_text(size = if (length(rows) > 30L) 6 else 8,
                                                      colour = syn_ink)) +
    caption(significance_caption(x))
}

#' "F > G > H", and what tells those of the same units apart: their delays
#' @noRd
interval_chain_names <- function(x, rows) {
  units <- .subset2(x, "units")[rows]
  names <- vapply(units, paste, "", collapse = " > ")
  twice <- names %in% names[duplicated(names)]
  out <- vapply(short_members(units), cut_middle, "", most = 8L, first = 5L, sep = " > ")
  long <- lengths(units) > 8L
  out[long] <- sprintf("%s (%d units)", out[long], lengths(units)[long])
  delays <- vapply(rows, \(row) {
    paste(exact(1000 * .subset2(x, "high")[[row]]), collapse = ", ")
  }, "")
  out[twice] <- sprintf("%s (to %s ms)", out[twice], delays[twice])
  out
}

plot_against_chance <- function(x) {
  rows <- which(is_tested(x))
  # Those that stand out are drawn on top.
  rows <- rows[order(x$significant[rows])]
  shown <- data.frame(mean = x$mean[rows], count = x$count[rows], size = x$size[rows],
                      judged = judgement(x$significant[rows]))
  # From 0 on, as the mean may be; otherwise as logarithms.
  scale <- \(make, name) make(name = name, trans = "log1p", labels = commas_each,
                              breaks = log_breaks,
                              expand = ggplot2::expansion(mult = 0.04))
  ggplot2::ggplot(shown) +
    ggplot2::geom_abline(slope = 1, intercept = 0, colour = syn_muted, linewidth = 0.4) +
    ggplot2::geom_point(aes_from(x = "mean", y = "count", colour = "judged", size = "size"),
                        alpha = if (nrow(shown) > 300L) 0.5 else 0.8, shape = 16) +
    scale(ggplot2::scale_x_continuous, "Mean count in surrogates") +
    scale(ggplot2::scale_y_continuous, "Count") +
    ggplot2::scale_colour_manual(
      name = NULL, values = significance_colours(),
      guide = ggplot2::guide_legend(order = 1, override.aes = list(size = 3, alpha = 1))
    ) +
    ggplot2::scale_size_area(name = "Size", max_size = 4,
                             breaks = \(limits) whole_breaks(limits, 4L)) +
    theme_synfire() +
    caption("On the line a count is that of surrogates.", significance_caption(x))
}

#' The significant ones as a table of episodes
#' @noRd
significant_episodes <- function(x) {
  rows <- which(.subset2(x, "significant"))
  columns <- lapply(as.list(x)[c("episode", "size", "count", "units", "low", "high")], `[`, rows)
  columns$support <- rep(NA_real_, length(rows))
  new_episodes(columns[episode_columns], list(recording = attr(x, "recording", exact = TRUE)))
}

#' Steps that were tested as episodes of two units, and are not significant
#' @noRd
insignificant_pairs <- function(x) {
  pairs <- which(.subset2(x, "size") == 2L & is_tested(x) & !.subset2(x, "significant"))
  episode_steps(lapply(as.list(x)[c("units", "low", "high", "count")], `[`, pairs))
}
