# Where spike patterns occur.

#' Find where spike patterns occur
#'
#' A pattern occurs in a window of bins when each of its units fires in the bin that its
#' lag says, counted from the bin that opens the window.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes: that in
#'   which the patterns were mined, or another one. It is binned as that one was: from its
#'   start or, with trials, from the start of each.
#' @param patterns What [mine_patterns()] gives, or some of it: `found[1:10]`. Their units
#'   are looked for by name.
#' @return A data frame of class `pattern_occurrences` with a row for each occurrence,
#'   pattern by pattern:
#'   \describe{
#'     \item{pattern}{number of the pattern in `patterns`}
#'     \item{occurrence}{number of the occurrence, from 1 within its pattern}
#'     \item{trial}{label of the trial; `NA` in recordings without trials}
#'     \item{time}{start of the bin that opens the window, in seconds}
#'   }
#'   In the recording that was mined each pattern has as many as its `count`. The
#'   spikes of a pattern lie in the bins that begin at `time` plus its lags times the bin
#'   size. The attributes `patterns` and `recording` hold what was looked for and where.
#' @section Memory:
#' The table takes about 20 bytes for each occurrence, and twice to three times that while it
#' is made; the spikes of the recording take about 45 bytes each. There is nothing else that
#' grows, so that there is no limit to set: choose fewer patterns where the table would be too
#' large.
#' @section Errors:
#' Errors about an argument, such as a bin size that is no whole number of ticks of `x`,
#' have the class `synfire_error_argument`; 2^31 occurrences or more give
#' `synfire_error_too_large`.
#' @references
#' Porrmann F, Pilz S, Stella A, Kleinjohann A, Denker M, Hagemeyer J, Rueckert U (2021).
#' Acceleration of the SPADE method using a custom-tailored FP-growth implementation.
#' *Frontiers in Neuroinformatics*, 15, 723406. \doi{10.3389/fninf.2021.723406}
#' @seealso [mine_patterns()]; [itemsets] for all else that can be done with patterns.
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 10, min_spikes = 4, min_count = 10,
#'                        threads = 2)
#' pattern_occurrences(x, found[1:2])
#' @export
pattern_occurrences <- function(x, patterns) {
  check_given(x = "a recording", patterns = "what `mine_patterns()` gives")
  check_patterns(patterns)
  x <- as_spike_trains(x)
  bin <- seconds_to_ticks(attr(patterns, "bin_size", exact = TRUE), attr(x, "resolution"),
                          "bin_size")
  code <- match(attr(patterns, "units", exact = TRUE), levels(x$unit), nomatch = 0L) - 1L
  found <- .Call(r_pattern_windows, pattern_events(x, bin), patterns_to_find(patterns, code),
                 .Machine$integer.max)
  found <- finish_status(found, "listing these occurrences", "Choose fewer patterns.",
                         limit_of = "occurrences")
  trials <- trial_ticks(x)
  new_table(
    list(
      pattern = rep(seq_along(patterns), found$count), occurrence = sequence(found$count),
      trial = if (is.null(trials)) rep(NA, length(found$tick)) else {
        trials$trial[findInterval(found$tick, trials$start)]
      },
      time = ticks_to_seconds(found$tick, attr(x, "resolution"))
    ),
    "pattern_occurrences", list(patterns = patterns, recording = x)
  )
}

#' Patterns as the compiled code takes them, to find where they are
#' @param code Of each unit of the patterns, from 0; -1 for one that never fires.
#' @noRd
patterns_to_find <- function(patterns, code = seq_len(n_units(patterns)) - 1L) {
  list(window = attr(patterns, "window_bins", exact = TRUE), size = patterns$size,
       unit = code[item_units(patterns)], lag = item_lags(patterns))
}

#' @export
print.pattern_occurrences <- function(x, n = 10, ...) {
  n <- check_count(n, min = 0, infinite = TRUE)
  columns <- c("pattern", "occurrence", "trial", "time")
  if (!all(columns %in% names(x))) {
    print(as.data.frame(x), ...)
    return(invisible(x))
  }
  cat(occurrences_title(x, "pattern"), sep = "\n")
  if (nrow(x) > 0L && n > 0) {
    shown <- first_rows(x, n, columns)
    if (all(is.na(shown$trial))) shown$trial <- NULL
    # Taking rows loses the attribute; rows that are not there have no pattern.
    of <- attr(x, "patterns", exact = TRUE)
    if (!is.null(of)) {
      known <- which(shown$pattern %in% seq_along(of))
      spikes <- rep("NA", nrow(shown))
      spikes[known] <- set_pieces(take_sets(of, shown$pattern[known]))
      print_left(shown, list(spikes = spikes))
    } else {
      print(shown, row.names = FALSE)
    }
  }
  more_line(nrow(x) - n)
  invisible(x)
}
