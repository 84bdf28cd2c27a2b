# One motif, one group, and one activation each time: drops groups that share their spikes or
# their activations with a better group, and activations that are the second spikes of others.

#' The groups whose activations are not mostly made of spikes of those before them
#'
#' Units that fire in a rhythm are found together again with some of them a period later, and a
#' group whose lags vary is found again at lags nearby. Half of the spikes in the windows of its
#' members, or more, are then in those of groups that were found before. Units that fire twice in a
#' motif are found with other spikes, of which one_motif() tells.
#'
#' @param groups As the core gives them, the surest first, each in order of time.
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
    keep[[k]] <- length(own) == 0L || mean(used[own]) < 0.5 &&
      !is_same_motif(groups[[k]], groups[which(keep)], x, bin)
    used[own] <- TRUE
  }
  groups[keep]
}

#' Whether a group is one motif with one of others
#' @noRd
is_same_motif <- function(group, others, x, bin) {
  for (other in others) {
    shared <- length(intersect(group$unit, other$unit))
    sizes <- min(length(group$unit), length(other$unit))
    width <- bin * max(stats::median(group$width), stats::median(other$width))
    both <- come_together(other$tick, group$tick, width, bin * max(group$lag, other$lag) + width,
                          recorded_length(x))
    if (one_motif(shared, sizes, both$share)) return(TRUE)
  }
  FALSE
}

#' A group, of the activations of which those are left out that are second spikes of others
#'
#' Where members fire twice in a motif, or longer than a window, each motif has a second
#' activation at the same shift. In a rhythm activations follow one another, too, but these are
#' followed by others in turn.
#' @noRd
counted_once <- function(group, x, bin) {
  width <- bin * max(group$width)
  reach <- bin * max(group$lag) + 2 * width
  repeat {
    n <- length(group$tick)
    chance <- n^2 * width / recorded_length(x)
    follow <- findInterval(group$tick + reach, group$tick) - seq_len(n)
    first <- rep(seq_len(n), follow)
    second <- sequence(follow, seq_len(n) + 1L)
    o <- order(group$tick[second] - group$tick[first])
    shift <- (group$tick[second] - group$tick[first])[o]
    pairs <- o[densest(shift, width)]
    if (chance >= n / 4 || length(pairs) - chance < n / 4) return(group)
    if (mean(second[pairs] %in% first[pairs]) > 0.35) return(group)
    members <- rowSums(group$spikes > 0)
    earlier <- mean(members[first[pairs]]) >= mean(members[second[pairs]])
    group <- keep_activations(group, -unique(if (earlier) second[pairs] else first[pairs]))
  }
}

#' @noRd
keep_activations <- function(group, which) {
  group$tick <- group$tick[which]
  group$spikes <- group$spikes[which, , drop = FALSE]
  group
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
