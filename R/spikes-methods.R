# Printing recordings and summing them up.

#' @rdname spike_trains
#' @return `format()` gives the summary line as one string.
#' @export
format.spike_trains <- function(x, ...) {
  check_spike_trains(x)
  n_units <- nlevels(.subset2(x, "unit"))
  n <- length(.subset2(x, "time"))
  start <- attr(x, "start", exact = TRUE)
  end <- attr(x, "end", exact = TRUE)
  trials <- attr(x, "trials", exact = TRUE)
  n_in <- if (is.null(trials)) n else sum(!is.na(trial_of(x)))
  seconds <- observed_seconds(x)
  rate <- if (seconds > 0 && n_units > 0L) n_in / n_units / seconds else NA_real_
  paste(c(counted(n_units, "unit"),
          paste0(counted(n, "spike"),
                 if (n_in < n) sprintf(" (%s outside of trials)", commas(n - n_in))),
          sprintf("%s s (%s to %s)", short(end - start), short(start), short(end)),
          if (!is.null(trials)) sprintf("%s (%s s%s)", counted(nrow(trials), "trial"),
                                        short(seconds),
                                        if (nrow(trials) > 1L) " together" else ""),
          if (!is.na(rate)) sprintf("%s Hz per unit%s", format(rate, digits = 3),
                                    if (is.null(trials)) "" else " in trials")), collapse = ", ")
}

#' @rdname spike_trains
#' @param n Number of rows to print.
#' @export
print.spike_trains <- function(x, ..., n = 6L) {
  n <- check_count(n, min = 0, infinite = TRUE)
  cat("<spike_trains> ", format(x), "\n", sep = "")
  unit <- .subset2(x, "unit")
  silent <- levels(unit)[tabulate(unit, nlevels(unit)) == 0L]
  if (length(silent)) {
    cat(if (length(silent) == 1L) "Unit" else "Units", " without spikes: ", some(silent), "\n",
        sep = "")
  }
  first <- first_rows(bare_columns(x), n)
  first$time <- exact(first$time)
  if (nrow(first) > 0L) print(first, row.names = FALSE)
  more_line(nrow(x) - n, noun = "spike")
  invisible(x)
}

#' Summary of spike trains, unit by unit
#'
#' @param object A [spike_trains] object.
#' @param ... Not used; must be empty.
#' @return A data frame of class `summary.spike_trains` with a row for each unit, silent
#'   ones too, and the columns
#'   * `unit`: factor with the levels of `object`;
#'   * `spikes`: number of spikes, also of those outside of trials;
#'   * `rate`: spikes divided by the length of the observation interval, in Hz; with trials
#'     the spikes in trials divided by the length of all trials; NA where that is zero;
#'   * `first`, `last`: first and last spike, in seconds; NA for a silent unit;
#'   * `cv_isi`: standard deviation of the inter-spike intervals divided by their mean;
#'     NA below two intervals;
#'   * `short_isi`: share of the inter-spike intervals below 2 ms; NA without intervals.
#'
#'   With trials, an interval counts only where both its spikes lie in the same trial.
#'   The line that `format(object)` gives is kept in the attribute `train`.
#' @examples
#' x <- spike_trains(c(0, 0.001, 0.5, 0.2), c("A", "A", "A", "B"), start = 0, end = 1)
#' summary(x)
#' @export
summary.spike_trains <- function(object, ...) {
  check_no_dots()
  check_spike_trains(object, "object")
  unit <- .subset2(object, "unit")
  resolution <- attr(object, "resolution", exact = TRUE)
  n_units <- nlevels(unit)
  ends <- first_and_last(train_ticks(object), as.integer(unit), n_units)
  # The share of intervals below 2 ms, and how much they vary.
  intervals <- isi_table(object, intervals_of(object), 0.002)
  duration <- observed_seconds(object)
  out <- data.frame(unit = factor(levels(unit), levels = levels(unit)),
                    spikes = tabulate(unit, n_units),
                    rate = if (duration > 0) intervals$spikes / duration else
                             rep(NA_real_, n_units),
                    first = ticks_to_seconds(ends$first, resolution),
                    last = ticks_to_seconds(ends$last, resolution), cv_isi = intervals$cv,
                    short_isi = intervals$violation_share)
  structure(out, class = c("summary.spike_trains", "data.frame"), train = format(object))
}

#' @rdname summary.spike_trains
#' @param x A `summary.spike_trains` object.
#' @param n Number of units to print.
#' @export
print.summary.spike_trains <- function(x, ..., n = 20L) {
  n <- check_count(n, min = 0, infinite = TRUE)
  train <- attr(x, "train", exact = TRUE)
  if (!is.null(train)) cat("Spike trains: ", train, "\n", sep = "")
  shown <- first_rows(x, n)
  numbers <- setdiff(names(shown)[vapply(shown, is.double, logical(1))], c("first", "last"))
  shown[numbers] <- lapply(shown[numbers], signif, 3)
  print(shown, row.names = FALSE)
  more_line(nrow(x) - n, noun = "unit")
  invisible(x)
}
