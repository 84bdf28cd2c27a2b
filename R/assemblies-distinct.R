# Drops groups that share their spikes with a better group: the same spikes at other lags are no
# second assembly.

#' The groups whose activations are not mostly made of spikes of those before them
#'
#' Units that fire in a rhythm are found together again with some of them a period later, and a
#' group whose lags vary is found again at lags nearby. Half of the spikes in the windows of its
#' members, or more, are then in those of groups that were found before.
#'
#' @param groups As the core gives them, the surest first.
#' @param x The recording that they were found in.
#' @param bin Ticks of a bin.
#' @noRd
distinct_groups <- function(groups, x, bin) {
  by_unit <- split(seq_len(nrow(x)), x$unit)
  ticks <- train_ticks(x)
  used <- logical(nrow(x))
  keep <- logical(length(groups))
  for (k in seq_along(groups)) {
    own <- spikes_in_windows(groups[[k]], ticks, by_unit, bin)
    keep[[k]] <- length(own) == 0L || mean(used[own]) < 0.5
    used[own] <- TRUE
  }
  groups[keep]
}

#' Rows of the spikes of members in their windows at all activations of a group
#' @noRd
spikes_in_windows <- function(group, ticks, by_unit, bin) {
  rows <- lapply(seq_along(group$unit), \(m) {
    own <- by_unit[[group$unit[[m]]]]
    start <- group$tick + trunc((2 * group$lag[[m]] - group$width[[m]]) * bin / 2)
    before <- findInterval(start, ticks[own], left.open = TRUE)
    up_to <- findInterval(start + group$width[[m]] * bin, ticks[own], left.open = TRUE)
    own[sequence(up_to - before, before + 1L)]
  })
  unique(unlist(rows))
}
