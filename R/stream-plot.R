# The picture of a stream: the counts of the episodes that it follows.

#' Plot a stream
#'
#' Draws how the counts of the strongest episodes went from update to update.
#'
#' # Which episodes
#' Strength is the number of spikes an episode accounts for, its size times its count; size
#' 1 is left out. At each update the `follow` strongest that differ are picked (one that
#' shares more than half of its units with stronger ones is passed over), and are followed
#' from there on: at most five times `follow` episodes, of which the one whose best
#' count lies longest back gives way. The picture shows those that were strongest at
#' any update, again passing over what a stronger one stands for: one that holds more than
#' half of its units, in the table at least at every other update that it is in itself. A
#' line begins when its episode is picked, and is interrupted where it is not in the
#' table, that is, as a rule, below `min_count`, the dashed line.
#'
#' @param object An [episode_stream()] that has been updated.
#' @param ... For `plot()`, passed on to `autoplot()`; else not used.
#' @param episodes Number of episodes to draw.
#' @return `autoplot()` gives a ggplot object whose x axis is the end of the window in
#'   seconds; `plot()` draws it and returns it invisibly.
#' @section Errors:
#' For a stream without an update, or with `follow = 0` (`synfire_error_argument`), and where
#' ggplot2 is not installed.
#' @seealso [autoplot.episodes()] for pictures of the window: `plot(s$episodes)`.
#' @examplesIf rlang::is_installed("ggplot2")
#' s <- episode_stream(c(0.02, 0.12), min_count = 5, window = 4, threads = 2)
#' for (end in seq(0.5, 22, by = 0.5)) {
#'   block <- songbird[songbird$time > end - 0.5 & songbird$time <= end, ]
#'   s <- update(s, as.data.frame(block), now = end)
#' }
#' plot(s)
#' @exportS3Method ggplot2::autoplot
autoplot.episode_stream <- function(object, ..., episodes = 6) {
  check_no_dots(draws = "a stream")
  episodes <- check_count(episodes, max = 100)
  check_stream(object)
  followed <- object$followed
  refuse_if(object$updates == 0, "object", "a stream that has been updated",
            "one without an update")
  refuse_if(followed$most == 0, "object", "a stream that follows episodes", "one with `follow = 0`",
            "Set it up with `follow` above 0.")
  if (length(followed$episode) == 0L) {
    return(empty_picture("No episode of two or more units was frequent in any window", "nothing"))
  }
  shown <- lines_to_draw(followed, episodes)
  names <- chain_names(list(units = followed$units[shown], count = NA))
  end <- object$history$end
  lines <- data.frame(end = rep(end, length(shown)),
                      count = as.vector(followed$counts[, shown, drop = FALSE]),
                      episode = factor(rep(names, each = length(end)), names))
  lines$count[lines$count == 0L] <- NA
  # The order of the legend is that of the lines where they end.
  final <- followed$counts[length(end), shown]
  lines$episode <- factor(lines$episode, names[order(-final, method = "radix")])
  colours <- named_palette(names)

  ggplot2::ggplot(lines, aes_from(x = "end", y = "count", colour = "episode")) +
    stream_threshold(object$arguments$min_count, end[[1L]]) +
    ggplot2::geom_line(linewidth = 0.8, na.rm = TRUE) +
    # Where there are gaps, a line may be a single point.
    ggplot2::geom_point(size = if (length(end) <= 60L) 1.4 else 0.5, na.rm = TRUE) +
    ggplot2::scale_colour_manual(name = NULL, values = colours) +
    ggplot2::scale_x_continuous(name = "End of the window (s)") +
    ggplot2::scale_y_continuous(name = "Count in the window", limits = c(0, NA),
                                breaks = whole_numbers,
                                expand = ggplot2::expansion(mult = c(0, 0.05))) +
    theme_synfire()
}

#' Columns of the followed counts: the strongest, each for what stronger ones do not show
#' @noRd
lines_to_draw <- function(followed, n) {
  there <- !is.na(followed$counts) & followed$counts > 0L
  peak <- apply(followed$counts, 2L, max, na.rm = TRUE) * followed$size
  rows <- order(-peak, method = "radix")
  drawn <- integer()
  for (row in rows[peak[rows] > 0]) {
    if (length(drawn) == n) break
    own <- unique(followed$units[[row]])
    alike <- drawn[vapply(followed$units[drawn], \(u) mean(own %in% u) > 0.5, NA)]
    shown <- rowSums(there[, alike, drop = FALSE]) > 0
    if (mean(shown[there[, row]]) >= 0.5) next
    drawn <- c(drawn, row)
  }
  drawn
}

#' The count below which episodes are not in the table; with `min_support` there is no one
#' @noRd
stream_threshold <- function(min_count, from) {
  if (is.null(min_count)) return(NULL)
  list(ggplot2::geom_hline(yintercept = min_count, colour = syn_muted, linetype = "dashed",
                           linewidth = 0.4),
       ggplot2::annotate("text", x = from, y = min_count, label = "min_count", hjust = 0,
                         vjust = 1.5, size = 3, colour = syn_muted))
}

