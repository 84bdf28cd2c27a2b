# How often patterns would occur if units fired independently of each other, and which of them
# occur most beyond that.

#' @export
expected_counts.patterns <- function(x, recording = attr(x, "recording", exact = TRUE)) {
  check_whole_sets(x, "x")
  recording <- counted_recording(recording)
  columns <- list(number = seq_along(x), pattern = format(x), size = x$size, count = x$count)
  with_excess(columns, expected_patterns(x, recording))
}

expected_patterns <- function(x, recording) {
  resolution <- attr(recording, "resolution", exact = TRUE)
  bin <- round_to_ticks(attr(x, "bin_size", exact = TRUE), resolution)
  stretches <- pmax(1, ceiling(round(lengths_of_trials(recording) / resolution) / bin))
  share <- occupied_bins(recording, bin)[attr(x, "units", exact = TRUE)] / sum(stretches)
  share[is.na(share)] <- 0
  by_size(x, double(length(x)), function(rows) {
    lag <- item_lags(x, rows[[length(rows)]])
    windows <- double(length(lag))
    for (bins in unique(stretches)) {
      windows <- windows + sum(stretches == bins) * pmax(0, bins - lag)
    }
    for (items in rows) windows <- windows * share[item_units(x, items)]
    windows
  })
}

#' In how many bins each unit fires; bins begin with each trial
#' @noRd
occupied_bins <- function(x, bin) {
  unit <- .subset2(x, "unit")
  ticks <- train_ticks(x)
  trial <- trial_of(x, ticks)
  trials <- trial_ticks(x)
  start <- if (is.null(trials)) interval_ticks(x)[[1L]] else trials$start[trial]
  # Trials one after the other, each as long as the longest.
  number <- (ticks - start) %/% bin
  all <- max(number, 0, na.rm = TRUE) + 1
  cell <- unique((as.integer(unit) - 1) * all * max(1L, NROW(trials)) + (trial - 1) * all + number)
  of <- cell[!is.na(cell)] %/% (all * max(1L, NROW(trials))) + 1
  rlang::set_names(tabulate(of, nlevels(unit)), levels(unit))
}

#' Places of the most surprising patterns that differ from each other
#' @noRd
best_patterns <- function(x, n, recording) {
  rows <- order(pattern_surprise(x, recording), decreasing = TRUE, method = "radix")
  # Variants of one pattern can be millions; nobody waits for the first that differs.
  rows <- rows[seq_len(min(length(rows), 10000L))]
  units <- lapply(as.list(take_sets(x, rows)), names)
  rows[distinct_rows(units, seq_along(rows), n)]
}

#' How surprising the occurrences of each pattern would be if units fired independently
#'
#' The logarithm of the Poisson likelihood of what was found over that of what is expected
#' from the rates; negative where less was found.
#' @noRd
pattern_surprise <- function(x, recording, at_once = 2^16) {
  duration <- attr(recording, "end", exact = TRUE) - attr(recording, "start", exact = TRUE)
  bins <- max(1, duration / attr(x, "bin_size", exact = TRUE))
  unit <- .subset2(recording, "unit")
  spikes <- tabulate(unit, nlevels(unit))[match(attr(x, "units", exact = TRUE), levels(unit))]
  log_share <- log(pmin(1, pmax(1, spikes, na.rm = TRUE) / bins))
  expected <- by_size(x, double(length(x)), at_once = at_once, do = \(rows) {
    bins * exp(Reduce(`+`, lapply(rows, \(items) log_share[item_units(x, items)])))
  })
  found <- .subset2(x, "count")
  score <- found * log(found / expected) - found + expected
  ifelse(found < expected, -score, score)
}

#' @export
surprising_sets.patterns <- function(x) {
  recording <- own_recording(x)
  if (is.null(recording) || length(x) == 0L) return(NULL)
  best <- take_sets(x, best_patterns(x, 5L, recording))
  found <- expected_counts(best, recording)
  text <- vapply(set_pieces(best), fit_pieces, "", room = 60L)
  data.frame(size = found$size, count = found$count, expected = signif(found$expected, 3),
             surprise = signif(found$surprise, 3), pattern = text)
}
