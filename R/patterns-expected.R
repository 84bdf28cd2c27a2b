# How often patterns would occur if units fired independently of each other.

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
  by_size(x, double(length(x)), function(items) {
    windows <- double(ncol(items))
    lag <- item_lags(x, items[nrow(items), ])
    for (bins in unique(stretches)) {
      windows <- windows + sum(stretches == bins) * pmax(0, bins - lag)
    }
    for (k in seq_len(nrow(items))) windows <- windows * share[item_units(x, items[k, ])]
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
