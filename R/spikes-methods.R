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
  paste(c(
    counted(n_units, "unit"),
    paste0(counted(n, "spike"),
           if (n_in < n) sprintf(" (%s outside of trials)", commas(n - n_in))),
    sprintf("%s s (%s to %s)", short(end - start), short(start), short(end)),
    if (!is.null(trials)) {
      sprintf("%s (%s s%s)", counted(nrow(trials), "trial"), short(seconds),
              if (nrow(trials) > 1L) " together" else "")
    },
    if (!is.na(rate)) {
      sprintf("%s Hz per unit%s", format(rate, digits = 3),
              if (is.null(trials)) "" else " in trials")
    }
  ), collapse = ", ")
}

#' Seconds over which analyses look at spikes: all trials, or the observation interval
#' @noRd
observed_seconds <- function(x) {
  trials <- trial_ticks(x)
  bounds <- interval_ticks(x)
  ticks <- if (is.null(trials)) bounds[[2L]] - bounds[[1L]] else sum(trials$end - trials$start)
  ticks_to_seconds(ticks, attr(x, "resolution", exact = TRUE))
}

#' Seconds for people: six significant digits, and no exponent where avoidable
#' @noRd
short <- function(v) format(signif(v, 6), big.mark = ",", digits = 6, trim = TRUE)

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
  rows <- min(n, length(.subset2(x, "time")))
  if (rows > 0L) {
    first <- bare_columns(x)
    first <- first[seq_len(rows), , drop = FALSE]
    first$time <- exact(first$time)
    print(first, row.names = FALSE)
  }
  more <- length(.subset2(x, "time")) - rows
  if (more > 0L) {
    cat("... and ", commas(more), " more ", if (more == 1L) "spike" else "spikes", "\n", sep = "")
  }
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
  ticks <- train_ticks(object)
  n_units <- nlevels(unit)
  spikes <- tabulate(unit, n_units)
  o <- order(as.integer(unit), method = "radix")  # stable: time order within a unit
  code <- as.integer(unit)[o]
  by_unit <- ticks[o]
  trial <- trial_of(object, ticks)
  observed <- tabulate(unit[!is.na(trial)], n_units)
  trial <- trial[o]

  last_at <- cumsum(spikes)
  first_at <- last_at - spikes + 1L
  last_at[spikes == 0L] <- NA
  first_at[spikes == 0L] <- NA

  n <- length(by_unit)
  together <- if (n < 2L) integer() else {
    which(code[-1L] == code[-n] & !is.na(trial[-1L]) & !is.na(trial[-n]) &
            trial[-1L] == trial[-n])
  }
  isi <- by_unit[together + 1L] - by_unit[together]
  owner <- code[together]
  n_isi <- tabulate(owner, n_units)
  add <- \(v) {
    out <- numeric(n_units)
    sums <- rowsum(v, owner)
    out[as.integer(rownames(sums))] <- sums
    out
  }
  mean_isi <- add(isi) / n_isi
  sd_isi <- sqrt(add((isi - mean_isi[owner])^2) / (n_isi - 1))
  sd_isi[n_isi < 2L] <- NA_real_
  short_isi <- add(as.double(isi < raw_ticks(2, resolution, 1000))) / n_isi
  short_isi[n_isi == 0L] <- NA_real_

  duration <- observed_seconds(object)
  out <- data.frame(
    unit = factor(levels(unit), levels = levels(unit)),
    spikes = spikes,
    rate = if (duration > 0) observed / duration else NA_real_[rep(1L, n_units)],
    first = ticks_to_seconds(by_unit[first_at], resolution),
    last = ticks_to_seconds(by_unit[last_at], resolution),
    cv_isi = sd_isi / mean_isi,
    short_isi = short_isi
  )
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
  plain <- x
  class(plain) <- "data.frame"
  attr(plain, "train") <- NULL
  rows <- min(n, nrow(plain))
  shown <- plain[seq_len(rows), , drop = FALSE]
  numbers <- setdiff(names(shown)[vapply(shown, is.double, logical(1))], c("first", "last"))
  shown[numbers] <- lapply(shown[numbers], signif, 3)
  print(shown, row.names = FALSE)
  if (nrow(plain) > rows) {
    cat("... and ", commas(nrow(plain) - rows), " more units\n", sep = "")
  }
  invisible(x)
}
