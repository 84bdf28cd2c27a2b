# Printing, summing up, subsetting and changing recordings.

#' @rdname spike_trains
#'
#' @param x A `spike_trains` object.
#' @param i,j Rows and columns, as for a data frame.
#' @param ... Not used; must be empty.
#' @param drop As for a data frame.
#' @export
`[.spike_trains` <- function(x, i, j, ..., time, unit, drop) {
  call <- rlang::current_env()
  check_no_dots(call)
  by_name <- !missing(time) || !missing(unit)
  n_index <- nargs() - 1L - !missing(time) - !missing(unit) - !missing(drop)
  if (by_name) {
    if (!missing(i) || !missing(j)) {
      cli::cli_abort(c(
        "Rows and columns cannot be chosen together with {.arg time} or {.arg unit}.",
        i = "Do one after the other: {.code x[time = c(0, 10)][1:5, ]}."
      ), class = c("synfire_error_argument", "synfire_error"), call = call)
    }
    check_spike_trains(x, "x", call)
    if (!missing(time)) x <- keep_time(x, time, call)
    if (!missing(unit)) x <- keep_units(x, unit, call)
    return(x)
  }

  check_spike_trains(x, "x", call)
  # What the indices themselves raise is theirs.
  if (!missing(i)) force(i)
  if (!missing(j)) force(j)
  plain <- as.data.frame(x)
  out <- tryCatch(
    # One index without a comma chooses columns (or, as a matrix, cells).
    if (n_index < 2L) {
      if (missing(i)) plain else plain[i]
    } else if (missing(drop)) {
      plain[i, j]
    } else {
      plain[i, j, drop = drop]
    },
    error = \(e) abort_arg("i, j", "rows and columns of the recording, as for a data frame",
                           "not, for some", call = call)
  )
  if (!is.data.frame(out) || !identical(sort(names(out)), c("time", "unit"))) return(out)
  if (anyNA(out$time)) {
    abort_arg("i", sprintf("rows between 1 and %s", commas(nrow(x))),
              "beyond them for some", call = call)
  }
  resolution <- attr(x, "resolution", exact = TRUE)
  kept <- build_spike_trains(
    round_to_ticks(out$time, resolution), out$unit,
    start = attr(x, "start", exact = TRUE), end = attr(x, "end", exact = TRUE),
    resolution = resolution, trials = attr(x, "trials", exact = TRUE),
    unit_table = attr(x, "unit_table", exact = TRUE), call = call
  )
  names_kept <- names(out)
  if (names_kept[[1L]] == "unit") {
    bare <- attributes(kept)
    kept <- unclass(kept)[names_kept]
    bare$names <- names_kept
    attributes(kept) <- bare
  }
  kept
}

keep_time <- function(x, time, call, arg = "time") {
  resolution <- attr(x, "resolution", exact = TRUE)
  if (!is.numeric(time) || is.object(time) || length(time) != 2L || anyNA(time)) {
    abort_arg(arg, "two numbers, the first and last second to keep", describe(time),
              call = call)
  }
  bounds <- interval_ticks(x)
  range <- as.double(time)
  inner <- is.finite(range)
  range[inner] <- seconds_to_ticks(range[inner], resolution, arg, call)
  if (range[[1L]] > range[[2L]]) {
    abort_arg(arg, "a range whose first bound is at or before its second",
              sprintf("c(%s, %s)", exact(time[[1L]]), exact(time[[2L]])), call = call)
  }
  if (range[[1L]] > bounds[[2L]] || range[[2L]] < bounds[[1L]]) {
    seconds <- exact(ticks_to_seconds(bounds, resolution))
    abort_arg(arg, sprintf("a range that meets the recording, [%s, %s] s", seconds[[1L]],
                              seconds[[2L]]),
              sprintf("c(%s, %s)", exact(time[[1L]]), exact(time[[2L]])), call = call)
  }
  range <- c(max(range[[1L]], bounds[[1L]]), min(range[[2L]], bounds[[2L]]))

  trials <- trial_ticks(x)
  if (!is.null(trials)) {
    trials <- trials[trials$end >= range[[1L]] & trials$start <= range[[2L]], , drop = FALSE]
    trials$start <- ticks_to_seconds(pmax(trials$start, range[[1L]]), resolution)
    trials$end <- ticks_to_seconds(pmin(trials$end, range[[2L]]), resolution)
    # A trial that only touched the range must not turn into a second start there.
    trials <- trials[!duplicated(trials$start, fromLast = TRUE), , drop = FALSE]
    rownames(trials) <- NULL
    if (nrow(trials) == 0L) {
      abort_arg(arg, "a range that meets at least one trial",
                sprintf("c(%s, %s), which lies between trials", exact(time[[1L]]),
                        exact(time[[2L]])), call = call)
    }
  }
  ticks <- train_ticks(x)
  keep <- ticks >= range[[1L]] & ticks <= range[[2L]]
  new_spike_trains(
    ticks[keep], .subset2(x, "unit")[keep],
    start = ticks_to_seconds(range[[1L]], resolution),
    end = ticks_to_seconds(range[[2L]], resolution),
    resolution = resolution, trials = trials,
    unit_table = attr(x, "unit_table", exact = TRUE)
  )
}

keep_units <- function(x, unit, call) {
  if (is.numeric(unit) && !is.object(unit)) unit <- number_labels(unit)
  if (is.factor(unit)) unit <- as.character(unit)
  if (!is.character(unit) || anyNA(unit) || length(unit) == 0L) {
    abort_arg("unit", "the names of one or more units", describe(unit), call = call)
  }
  unit <- unique(unit)
  all_units <- levels(.subset2(x, "unit"))
  unknown <- setdiff(unit, all_units)
  if (length(unknown)) {
    abort_arg("unit", sprintf("among the %s units of the recording", commas(length(all_units))),
              sprintf("not, for %s", some(encodeString(unknown, quote = "\""))),
              sprintf("Units: %s.", some(all_units)), call = call)
  }
  code <- match(all_units, unit)[as.integer(.subset2(x, "unit"))]
  keep <- !is.na(code)
  build_spike_trains(
    train_ticks(x)[keep], structure(code[keep], levels = unit, class = "factor"),
    start = attr(x, "start", exact = TRUE), end = attr(x, "end", exact = TRUE),
    resolution = attr(x, "resolution", exact = TRUE),
    trials = attr(x, "trials", exact = TRUE),
    unit_table = units_of_table(attr(x, "unit_table", exact = TRUE), unit), call = call
  )
}

#' The first few of many words: a, b, c and 7 more
#' @noRd
some <- function(words, n = 5L) {
  if (length(words) <= n + 1L) return(toString(words))
  sprintf("%s and %s more", toString(words[seq_len(n)]), commas(length(words) - n))
}

#' @export
`$<-.spike_trains` <- function(x, name, value) {
  x <- as.data.frame(x)
  x[[name]] <- value
  x
}

#' @export
`[[<-.spike_trains` <- function(x, i, j, value) {
  x <- as.data.frame(x)
  if (missing(j)) x[[i]] <- value else x[[i, j]] <- value
  x
}

#' @export
`[<-.spike_trains` <- function(x, i, j, value) {
  plain <- as.data.frame(x)
  if (nargs() < 4L) {
    if (missing(i)) plain[] <- value else plain[i] <- value
  } else {
    plain[i, j] <- value
  }
  plain
}

#' @export
`names<-.spike_trains` <- function(x, value) {
  x <- as.data.frame(x)
  names(x) <- value
  x
}

#' @export
rbind.spike_trains <- function(...) {
  # Intervals, clocks and trials of several recordings have no common meaning.
  do.call(rbind, lapply(list(...), as.data.frame))
}

# What the verbs of dplyr do with a data frame of a class: choose rows, change columns,
# and everything else.

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.spike_trains <- function(data, i, ...) data[i, ]

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.spike_trains <- function(data, cols) {
  data <- as.data.frame(data)
  for (name in names(cols)) data[[name]] <- cols[[name]]
  data
}

#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.spike_trains <- function(data, template) as.data.frame(data)

#' @rdname as_spike_trains
#' @param row.names,optional Not used.
#' @export
as.data.frame.spike_trains <- function(x, row.names = NULL, optional = FALSE, ...) {
  parts <- unclass(x)
  named <- names(parts)
  attributes(parts) <- NULL
  rows <- if (length(parts)) length(parts[[1L]]) else 0L
  structure(parts, names = named, class = "data.frame", row.names = .set_row_names(rows))
}

#' @rdname spike_trains
#' @return `format()` gives the summary line as one string.
#' @export
format.spike_trains <- function(x, ...) {
  check_spike_trains(x)
  n_units <- nlevels(.subset2(x, "unit"))
  n <- length(.subset2(x, "time"))
  start <- attr(x, "start", exact = TRUE)
  end <- attr(x, "end", exact = TRUE)
  rate <- if (end > start && n_units > 0L) n / n_units / (end - start) else NA_real_
  trials <- attr(x, "trials", exact = TRUE)
  paste(c(
    paste(commas(n_units), if (n_units == 1L) "unit" else "units"),
    paste(commas(n), if (n == 1L) "spike" else "spikes"),
    sprintf("%s s (%s to %s)", short(end - start), short(start), short(end)),
    if (!is.na(rate)) sprintf("%s Hz per unit", format(rate, digits = 3)),
    if (!is.null(trials)) {
      paste(commas(nrow(trials)), if (nrow(trials) == 1L) "trial" else "trials")
    }
  ), collapse = ", ")
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
  rows <- min(n, length(.subset2(x, "time")))
  if (rows > 0L) {
    first <- as.data.frame(x)
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
#'   * `spikes`: number of spikes;
#'   * `rate`: spikes divided by the length of the observation interval, in Hz; NA for an
#'     interval of length zero;
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
  trial <- trial_of(object, ticks)[o]

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

  duration <- attr(object, "end", exact = TRUE) - attr(object, "start", exact = TRUE)
  out <- data.frame(
    unit = factor(levels(unit), levels = levels(unit)),
    spikes = spikes,
    rate = if (duration > 0) spikes / duration else NA_real_[rep(1L, n_units)],
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
