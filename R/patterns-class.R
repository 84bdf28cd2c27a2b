# Spike patterns: itemsets whose items are units at lags.

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
  by_size(x, integer(length(x)), function(items) {
    unit <- lapply(seq_len(nrow(items)), \(k) item_units(x, items[k, ]))
    different <- rep(1L, ncol(items))
    for (k in seq_along(unit)[-1L]) {
      new <- rep(TRUE, ncol(items))
      for (earlier in unit[seq_len(k - 1L)]) new <- new & unit[[k]] != earlier
      different <- different + new
    }
    different
  })
}

pattern_durations <- function(x) {
  by_size(x, double(length(x)), \(items) lag_seconds(x, item_lags(x, items[nrow(items), ])))
}

#' Lags in seconds, as exact as the clock of the recording
#' @noRd
lag_seconds <- function(x, lags) {
  bin_size <- attr(x, "bin_size", exact = TRUE)
  resolution <- attr(attr(x, "recording", exact = TRUE), "resolution", exact = TRUE) %||% 1e-6
  ticks_to_seconds(lags * round_to_ticks(bin_size, resolution), resolution)
}

#' @rdname itemsets
#' @export
subset.patterns <- function(x, condition, units = NULL, match = c("all", "any"), ...) {
  check_no_dots()
  check_whole_sets(x, "x")
  match <- check_choice(match)
  keep <- if (!missing(condition)) {
    eval(substitute(condition), column_environment(x, parent.frame()))
  }
  units_of <- \(items) item_units(x, items)
  keep_sets(x, keep, units_of, attr(x, "units", exact = TRUE), units, match, "units")
}

#' @rdname itemsets
#' @export
format.patterns <- function(x, ...) {
  check_whole_sets(x, "x")
  units <- attr(x, "units", exact = TRUE)
  by_size(x, character(length(x)), function(items) {
    rows <- lapply(seq_len(nrow(items)), \(k) {
      paste0(units[item_units(x, items[k, ])], "@", item_lags(x, items[k, ]))
    })
    do.call(paste, rows)
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
  check_frame_dots()
  check_whole_sets(x, "x")
  if (check_long(long, times)) return(long_table(x))
  columns <- list(
    pattern = format(x), size = x$size,
    units = split_sets(x, attr(x, "units", exact = TRUE)[item_units(x)]),
    lags = split_sets(x, item_lags(x)), count = x$count, duration = x$duration
  )
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
check_long <- function(long, times, call = rlang::caller_env()) {
  check_flag(times, call = call)
  check_flag(long, call = call)
  refuse_if(long && times, "times", "FALSE where `long` is TRUE", "TRUE",
            "`pattern_occurrences()` gives a table with a row for each occurrence.", call = call)
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
  c(
    paste0("# ", sets_text(x, "spike pattern"),
           if (n > 0L) sprintf(" of up to %s spikes", commas(max(x$runs$size))),
           if (!is.null(least)) {
             sprintf(", at least %s occurrence%s each", commas(least), if (least == 1) "" else "s")
           }),
    sprintf("# bins of %s ms, windows of %s bins; unit@lag, lags in bins",
            exact(1000 * attr(x, "bin_size", exact = TRUE)),
            commas(attr(x, "window_bins", exact = TRUE)))
  )
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
  check_no_dots()
  check_whole_sets(x, "x")
  tidy_frame(term = format(x), size = x$size, estimate = x$count, duration = x$duration)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.patterns <- function(x, ...) {
  check_no_dots()
  check_whole_sets(x, "x")
  tidy_frame(patterns = length(x), max_size = max(.subset2(x, "runs")$size, 0L),
             bin_size = attr(x, "bin_size", exact = TRUE),
             window = attr(x, "window", exact = TRUE))
}
