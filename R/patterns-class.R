# Spike patterns: itemsets whose items are units at lags; and where they occur.

#' @export
itemset_columns.patterns <- function(x) {
  list(size = itemset_sizes, count = itemset_counts, n_units = pattern_unit_numbers,
       duration = pattern_durations)
}

#' Place of the unit of each item, from 1, and its lag in bins
#' @noRd
item_units <- function(x, items = .subset2(x, "items")) items %% n_units(x) + 1L
item_lags <- function(x, items = .subset2(x, "items")) items %/% n_units(x)
n_units <- function(x) length(attr(x, "units", exact = TRUE))

pattern_unit_numbers <- function(x) {
  by_size(x, integer(length(x)), function(rows) {
    Reduce(`+`, first_parts(lapply(rows, \(items) item_units(x, items))))
  })
}

#' Which members of sets have a part, such as a unit, that no member before them has
#'
#' @param part A list with a vector for each place in the sets.
#' @return A list of logical vectors.
#' @noRd
first_parts <- function(part) {
  lapply(seq_along(part), \(k) {
    Reduce(`&`, lapply(part[seq_len(k - 1L)], `!=`, part[[k]]), rep(TRUE, length(part[[k]])))
  })
}

pattern_durations <- function(x) lag_seconds(x, last_lags(x))

#' Lags in seconds, as exact as the clock of the recording
#' @noRd
lag_seconds <- function(x, lags) {
  bin_size <- attr(x, "bin_size", exact = TRUE)
  resolution <- attr(attr(x, "recording", exact = TRUE), "resolution", exact = TRUE) %||% 1e-6
  ticks_to_seconds(lags * round_to_ticks(bin_size, resolution), resolution)
}

#' Lag of the last spike of each pattern, in bins
#' @noRd
last_lags <- function(x) {
  item_lags(x, .subset2(x, "items")[cumsum(as.double(itemset_sizes(x)))])
}

#' @rdname itemsets
#' @export
subset.patterns <- function(x, condition, units = NULL, match = c("all", "any"), ...) {
  check_no_dots()
  match <- check_choice(match)
  condition <- if (!missing(condition)) substitute(condition)
  keep_sets(x, condition, parent.frame(), units, match, "units")
}

#' @rdname itemsets
#' @export
format.patterns <- function(x, ...) {
  check_whole_sets(x, "x")
  units <- attr(x, "units", exact = TRUE)
  by_size(x, character(length(x)), function(rows) {
    do.call(paste, lapply(rows, \(items) {
      paste0(units[item_units(x, items)], "@", item_lags(x, items))
    }))
  })
}

#' @rdname itemsets
#' @export
as.list.patterns <- function(x, ...) {
  check_whole_sets(x, "x")
  lags <- item_lags(x)
  names(lags) <- attr(x, "units", exact = TRUE)[item_units(x)]
  split_sets(x, lags)
}

#' @rdname itemsets
#' @export
as.data.frame.patterns <- function(x, row.names = NULL, optional = FALSE, ...,
                                   times = FALSE, long = FALSE) {
  check_no_dots(but = frame_arguments)
  check_whole_sets(x, "x")
  if (check_long(long, times)) return(long_table(x))
  columns <- list(pattern = format(x), size = x$size,
                  units = split_sets(x, attr(x, "units", exact = TRUE)[item_units(x)]),
                  lags = split_sets(x, item_lags(x)), count = x$count, duration = x$duration)
  if (times) {
    recording <- own_recording(x)
    refuse_if(is.null(recording), "x", "patterns of one recording where `times` are asked for",
              "without a recording")
    found <- pattern_occurrences(recording, x)
    columns$times <- unname(split(found$time, numbered(found$pattern, length(x))))
  }
  new_frame(columns, length(x), row.names)
}

#' Whether a table has a row for each spike, and so no column of lists
#' @noRd
check_long <- function(long, times) {
  check_flag(times)
  check_flag(long)
  refuse_if(long && times, "times", "FALSE where `long` is TRUE", "TRUE",
            "`pattern_occurrences()` gives a table with a row for each occurrence.")
  long
}

#' A row for each spike of each pattern, in columns that any file can hold
#'
#' @param more List of further columns with one value a pattern.
#' @noRd
long_table <- function(x, more = list()) {
  pattern <- rep(seq_along(x), itemset_sizes(x))
  each <- c(list(number = seq_along(x), pattern = format(x), size = x$size,
                 count = x$count, duration = x$duration), more)
  lags <- item_lags(x)
  columns <- c(lapply(each, `[`, pattern),
               list(unit = as.character(attr(x, "units", exact = TRUE))[item_units(x)],
                    lag = lags, delay = lag_seconds(x, lags)))
  structure(columns, row.names = .set_row_names(length(pattern)), class = "data.frame")
}

#' @export
itemset_title.patterns <- function(x) {
  n <- length(x)
  least <- attr(x, "parameters", exact = TRUE)$min_count
  c(paste0("# ", sets_text(x, "spike pattern"),
           if (n > 0L) sprintf(" of up to %s spikes", commas(max(x$runs$size))),
           if (!is.null(least)) sprintf(", at least %s each", counted(least, "occurrence"))),
    sprintf("# bins of %s ms, windows of %s bins; unit@lag, lags in bins",
            exact(1000 * attr(x, "bin_size", exact = TRUE)),
            commas(attr(x, "window_bins", exact = TRUE))))
}

#' @export
set_pieces.patterns <- function(x) {
  lapply(as.list(x), \(lags) {
    paste0(rep(c("", " "), c(1L, length(lags) - 1L)), names(lags), "@", lags)
  })
}

#' @export
shown_columns.patterns <- function(x) {
  list(size = x$size, count = x$count, "duration (ms)" = 1000 * x$duration)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.patterns <- function(x, ...) {
  begin_method(x)
  tidy_frame(term = format(x), size = x$size, estimate = x$count, duration = x$duration)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.patterns <- function(x, ...) {
  begin_method(x)
  tidy_frame(patterns = length(x), max_size = max(.subset2(x, "runs")$size, 0L),
             bin_size = attr(x, "bin_size", exact = TRUE),
             window = attr(x, "window", exact = TRUE))
}

#' The spikes of a few patterns: data frame `pattern`, `unit` (label), `lag` (bins)
#' @noRd
pattern_table <- function(patterns) {
  data.frame(pattern = rep(seq_along(patterns), itemset_sizes(patterns)),
             unit = as.character(attr(patterns, "units", exact = TRUE))[item_units(patterns)],
             lag = item_lags(patterns))
}

#' "A@0 B@1 C@3 (3 spikes, 20 times)", the middle of long ones left out
#' @param times How often each occurs where it is drawn.
#' @noRd
pattern_names <- function(patterns, times) {
  spikes <- pattern_table(patterns)
  unit <- short_members(list(spikes$unit))[[1L]]
  spelt <- split(paste0(unit, "@", spikes$lag), spikes$pattern)
  short <- vapply(spelt, cut_middle, "", most = 8L, first = 6L, sep = " ", USE.NAMES = FALSE)
  told_apart(sprintf("%s (%d spikes, %s times)", short, lengths(spelt), commas_each(times)))
}

#' What the names of patterns mean
#' @noRd
pattern_key_title <- function(patterns) {
  sprintf("Unit@lag, in bins of %s ms", exact(1000 * attr(patterns, "bin_size", exact = TRUE)))
}

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
  new_table(list(pattern = rep(seq_along(patterns), found$count),
                 occurrence = sequence(found$count),
                 trial = if (is.null(trials)) rep(NA, length(found$tick)) else
                           trials$trial[findInterval(found$tick, trials$start)],
                 time = ticks_to_seconds(found$tick, attr(x, "resolution"))),
            "pattern_occurrences", list(patterns = patterns, recording = x))
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
