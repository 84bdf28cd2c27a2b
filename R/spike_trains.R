# Spike trains: the class every analysis takes, and its exact clock.
#
# Time is a whole number of ticks, held in a double (exact below 2^53). The `time`
# column is the tick divided by the tick rate, so a tick always comes back unchanged.

#' Spike trains of a recording
#'
#' `spike_trains()` makes the object every analysis in this package takes: who fired
#' when, over which observation interval, on which clock, and in which trials.
#'
#' # The clock
#' A time is kept as a whole number of ticks of length `resolution`. Spike times are
#' rounded to the nearest tick when the object is made (a time half way between two
#' ticks goes to the even one). `start`, `end` and the bounds of trials are not rounded:
#' they must be whole ticks to within 1e-9 relative, and never off by more than a
#' thousandth of a tick, or there is an error. From then on every comparison is
#' between whole numbers, so floating point never decides whether a spike falls inside
#' an interval. A tick must lie within 2^53 of zero, and times so far from zero that
#' doubles no longer tell neighbouring ticks apart are refused: with the default
#' resolution of one microsecond that is at least 71 years.
#'
#' The same unit twice on one tick is one spike. The order in which spikes are given
#' means nothing. Negative times are allowed.
#'
#' # Units
#' A factor keeps its levels, in their order, also those without a spike (silent
#' units). Numbers become levels in numeric order. Character units are ordered so that
#' runs of digits count as numbers (`ch2` before `ch10`) and everything else by
#' character code, which is the same in every locale.
#'
#' # Trials
#' Trials are closed intervals that may touch but not overlap. No pattern crosses from
#' one into the next. Where a trial ends on the tick on which the next one starts, that
#' tick belongs to the later trial. Spikes outside all trials stay in the table but
#' belong to no trial.
#'
#' # Subsetting and changing
#' `x[time = c(0, 10)]` keeps the closed range from 0 to 10 s, and narrows the
#' observation interval and the trials to it; either bound may be infinite.
#' `x[unit = c("A", "B")]` keeps these units, with the levels in this order. Rows can
#' be chosen as in any data frame; spikes stay sorted, and each is kept once. The class
#' stays while both columns do. Assigning into a column gives a plain data frame, as
#' the result need not be a valid recording; [as_spike_trains()] makes one again.
#'
#' @param time Numeric vector of spike times, in seconds; in `x[time = ]` the range to
#'   keep, `c(from, to)`.
#' @param unit Units (neurons, channels) that fired: a factor, character or numeric
#'   vector as long as `time`, or of length 1; in `x[unit = ]` the units to keep, by name.
#' @param start,end Bounds of the observation interval, in seconds; by default the first
#'   and last spike, or the bounds of the trials where these reach further. Must be
#'   given when there is neither a spike nor a trial.
#' @param resolution Length of a tick, in seconds.
#' @param trials `NULL`, or a data frame with the columns `start` and `end`, in seconds,
#'   and where wanted `trial`, a label that is different for each row (default 1, 2,
#'   ...). Rows are sorted by `start`.
#'
#' @return A data frame of class `spike_trains` with a row for each spike and the columns
#'   `time` (double, in seconds) and `unit` (factor), sorted by time, then by unit.
#'   Attributes: `start`, `end` and `resolution` (in seconds), and `trials` (`NULL`, or a
#'   data frame with the columns `trial`, `start`, `end`).
#'
#' @section Errors:
#' Every error about an argument has the class `synfire_error_argument`. There is one
#' for times that are not numbers, or not finite; missing units; lengths that differ; a
#' resolution that is not positive; ticks beyond 2^53; bounds that are not whole ticks;
#' `start` after `end`; spikes or trials outside the interval; and trials that are
#' reversed or overlap.
#'
#' @seealso [read_spikes()] to read a file, [as_spike_trains()] to convert other objects,
#'   [autoplot.spike_trains()] for the raster.
#' @examples
#' x <- spike_trains(
#'   time = c(0.010, 0.012, 0.030, 0.031, 0.500),
#'   unit = c("A", "B", "A", "B", "A"),
#'   start = 0, end = 1
#' )
#' x
#' summary(x)
#' x[time = c(0, 0.1)]
#' x[unit = "A"]
#'
#' # Two trials: no pattern crosses from one into the other.
#' spike_trains(c(0.1, 0.2, 1.1), c(1, 2, 1),
#'              trials = data.frame(start = c(0, 1), end = c(0.5, 1.5)))
#' @export
spike_trains <- function(time, unit, start = NULL, end = NULL, resolution = 1e-6,
                         trials = NULL) {
  call <- rlang::current_env()
  rlang::check_required(time)
  rlang::check_required(unit)
  resolution <- check_resolution(resolution, call = call)
  time <- check_times(time, call = call)
  unit <- unit_factor(unit, length(time), call = call)
  build_spike_trains(
    round_to_ticks(time, resolution), unit, start, end, resolution, trials, call = call
  )
}

#' From ticks and a factor in any order to a checked object
#'
#' The readers come in here, as they make ticks from other units than seconds.
#' @noRd
build_spike_trains <- function(ticks, unit, start = NULL, end = NULL, resolution = 1e-6,
                               trials = NULL, arg = "time", call = rlang::caller_env()) {
  check_tick_range(ticks, resolution, arg, call)

  # Sorted input is the rule for recordings, and checking costs far less than sorting.
  code <- as.integer(unit)
  if (!sorted_events(ticks, code)) {
    o <- order(ticks, code, method = "radix")
    ticks <- ticks[o]
    code <- code[o]
  }
  twice <- same_as_previous(ticks, code)
  if (any(twice)) {
    ticks <- ticks[!twice]
    code <- code[!twice]
  }
  unit <- structure(code, levels = levels(unit), class = "factor")

  trials <- check_trials(trials, resolution, call = call)
  n <- length(ticks)
  bounds <- check_interval(
    start, end,
    inside = c(if (n) ticks[c(1L, n)], trials$start, trials$end),
    resolution = resolution, call = call
  )
  check_inside(ticks, bounds, arg, resolution, call)
  check_trials_inside(trials, bounds, resolution, call)

  if (!is.null(trials)) {
    trials$start <- ticks_to_seconds(trials$start, resolution)
    trials$end <- ticks_to_seconds(trials$end, resolution)
  }
  new_spike_trains(
    ticks, unit,
    start = ticks_to_seconds(bounds[[1L]], resolution),
    end = ticks_to_seconds(bounds[[2L]], resolution),
    resolution = resolution, trials = trials
  )
}

#' The class from parts known to be right
#'
#' @param ticks Whole doubles, sorted, with their unit; no unit twice on a tick.
#' @param unit_factor Factor as long as `ticks`, no NA.
#' @param start,end,resolution Seconds.
#' @param trials NULL or data frame `trial`, `start`, `end` (seconds), sorted.
#' @noRd
new_spike_trains <- function(ticks, unit_factor, start, end, resolution, trials = NULL) {
  structure(
    list(time = ticks_to_seconds(ticks, resolution), unit = unit_factor),
    class = c("spike_trains", "data.frame"),
    row.names = .set_row_names(length(ticks)),
    start = start, end = end, resolution = resolution, trials = trials
  )
}

# ---- Clock -------------------------------------------------------------------------

#' Ticks in a second when that is a whole number, else NA
#' @noRd
tick_rate <- function(resolution) {
  rate <- round(1 / resolution)
  if (rate >= 1 && abs(rate * resolution - 1) <= 1e-9) rate else NA_real_
}

ticks_to_seconds <- function(ticks, resolution) {
  rate <- tick_rate(resolution)
  # Dividing by a whole rate gives the double nearest to the decimal time (1.38056);
  # multiplying by 1e-6, which no double holds exactly, does not.
  if (is.na(rate)) ticks * resolution else ticks / rate
}

#' Ticks as real numbers, not yet rounded
#'
#' @param per_second How many units of `value` make a second.
#' @noRd
raw_ticks <- function(value, resolution, per_second = 1) {
  value <- as.double(value)
  rate <- tick_rate(resolution)
  if (is.na(rate)) return(value / (resolution * per_second))
  # Whole factors are exact, so 1380.56 ms is 1380560 ticks and nothing near it.
  if (rate %% per_second == 0) return(value * (rate / per_second))
  if (per_second %% rate == 0) return(value / (per_second / rate))
  value * rate / per_second
}

#' Nearest tick of each time; ties go to the even tick
#' @noRd
round_to_ticks <- function(time, resolution, per_second = 1) {
  round(raw_ticks(time, resolution, per_second))
}

#' Ticks of bounds that must lie on the clock
#'
#' @param value Seconds; finite.
#' @return Whole doubles. Error unless each is a whole number of ticks to within 1e-9
#'   relative, and below 2^53 in size.
#' @noRd
seconds_to_ticks <- function(value, resolution, arg = rlang::caller_arg(value),
                             call = rlang::caller_env()) {
  if (!is.numeric(value) || is.object(value) || !all(is.finite(value))) {
    abort_arg(arg, "finite and in seconds", describe(value), call = call)
  }
  raw <- raw_ticks(value, resolution)
  ticks <- round(raw)
  size <- abs(ticks)
  if (any(size >= 2^53)) {
    abort_arg(arg, "within 2^53 ticks of zero",
              sprintf("%s s, with ticks of %s s", exact(value[size >= 2^53][[1L]]),
                      exact(resolution)),
              "Give seconds, or use a coarser `resolution`.", call = call)
  }
  # A relative bound alone would let half a tick pass beyond 5e8 ticks. What rounding
  # of the double itself can do is always forgiven.
  slack <- pmin(1e-9 * pmax(1, size), 1e-3)
  off <- abs(raw - ticks) > pmax(slack, 4 * .Machine$double.eps * size)
  if (any(off)) {
    first <- which(off)[[1L]]
    abort_arg(arg, sprintf("a whole number of ticks of %s s", exact(resolution)),
              sprintf("%s s, which is %s ticks", exact(value[[first]]), exact(raw[[first]])),
              "Round it, or make the spike trains with a finer `resolution`.", call = call)
  }
  ticks + 0  # turns -0 into 0
}

#' A number with as many digits as it needs
#' @noRd
exact <- function(v) {
  vapply(v, \(one) format(one, digits = 15, scientific = one != 0 && abs(one) < 1e-4),
         character(1))
}

#' Ticks of the spikes of `x`
#' @noRd
train_ticks <- function(x) {
  round_to_ticks(.subset2(x, "time"), attr(x, "resolution", exact = TRUE))
}

#' First and last tick of the observation interval
#' @noRd
interval_ticks <- function(x) {
  round_to_ticks(c(attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE)),
                 attr(x, "resolution", exact = TRUE))
}

#' Trials with their bounds in ticks, or NULL
#' @noRd
trial_ticks <- function(x) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  resolution <- attr(x, "resolution", exact = TRUE)
  trials$start <- round_to_ticks(trials$start, resolution)
  trials$end <- round_to_ticks(trials$end, resolution)
  trials
}

#' For each spike the row of its trial, NA outside all; all 1 without trials
#' @noRd
trial_of <- function(x) {
  trials <- trial_ticks(x)
  if (is.null(trials)) return(rep(1L, nrow(x)))
  ticks <- train_ticks(x)
  at <- findInterval(ticks, trials$start)
  at[at == 0L] <- NA_integer_
  at[!is.na(at) & ticks > trials$end[at]] <- NA_integer_
  at
}

# ---- Checks ------------------------------------------------------------------------

check_resolution <- function(resolution, call) {
  check_number(resolution, "resolution", above = 0, call = call)
}

check_times <- function(time, arg = "time", call = rlang::caller_env()) {
  # A class may carry another unit (difftime) or another meaning (integer64).
  if (!is.numeric(time) || is.object(time)) {
    is <- if (is.object(time) && !is.list(time)) {
      sprintf("of class %s", class(time)[[1L]])
    } else {
      describe(time)
    }
    abort_arg(arg, "a numeric vector of seconds", is,
              if (is.character(time)) "Convert it with `as.numeric()` first.", call = call)
  }
  time <- as.double(time)
  bad <- !is.finite(time)
  if (any(bad)) {
    abort_arg(arg, "finite: no NA, NaN or infinite times",
              sprintf("not, for %s of %s times, the first in row %d (%s)",
                      commas(sum(bad)), commas(length(bad)), which(bad)[[1L]],
                      format(time[bad][[1L]])),
              "Drop these rows first.", call = call)
  }
  time
}

check_tick_range <- function(ticks, resolution, arg, call) {
  if (length(ticks) == 0L) return(invisible())
  far <- max(abs(range(ticks)))
  # From 2^51 on, two ticks may share one double of seconds.
  lost <- far >= 2^53 || (far >= 2^51 && any(
    round_to_ticks(ticks_to_seconds(ticks, resolution), resolution) != ticks
  ))
  if (lost) {
    worst <- which.max(abs(ticks))
    abort_arg(arg, "within 2^53 ticks of zero, and told apart by doubles",
              sprintf("not, in row %d: %s s, with ticks of %s s", worst,
                      exact(ticks[[worst]] * resolution), exact(resolution)),
              "Count time from the start of the recording, or use a coarser `resolution`.",
              call = call)
  }
}

sorted_events <- function(ticks, code) {
  n <- length(ticks)
  if (n < 2L) return(TRUE)
  if (is.unsorted(ticks)) return(FALSE)
  tie <- ticks[-1L] == ticks[-n]
  !any(tie & code[-1L] < code[-n])
}

same_as_previous <- function(ticks, code) {
  n <- length(ticks)
  if (n < 2L) return(logical(n))
  c(FALSE, ticks[-1L] == ticks[-n] & code[-1L] == code[-n])
}

#' Bounds of the interval in ticks
#'
#' @param inside Ticks the default interval has to cover.
#' @noRd
check_interval <- function(start, end, inside, resolution, call) {
  bound <- function(value, arg, default) {
    if (!is.null(value)) {
      value <- check_number(value, arg, call = call)
      return(seconds_to_ticks(value, resolution, arg, call))
    }
    if (length(inside) == 0L) {
      abort_arg(arg, "given, in seconds, when there are no spikes", "NULL", call = call)
    }
    default(inside)
  }
  bounds <- c(bound(start, "start", min), bound(end, "end", max))
  if (bounds[[1L]] > bounds[[2L]]) {
    hint <- if (is.null(start) || is.null(end)) {
      "A bound that is not given is the first or last spike or trial."
    }
    seconds <- exact(ticks_to_seconds(bounds, resolution))
    abort_arg("start", "at or before `end`",
              sprintf("%s s, and `end` is %s s", seconds[[1L]], seconds[[2L]]),
              hint, call = call)
  }
  bounds
}

check_inside <- function(ticks, bounds, arg, resolution, call) {
  n <- length(ticks)
  # Sorted, so that the ends tell.
  if (n == 0L || (ticks[[1L]] >= bounds[[1L]] && ticks[[n]] <= bounds[[2L]])) {
    return(invisible())
  }
  before <- sum(ticks < bounds[[1L]])
  after <- sum(ticks > bounds[[2L]])
  seconds <- exact(ticks_to_seconds(c(bounds, ticks[c(1L, n)]), resolution))
  abort_arg(
    arg, sprintf("within [`start`, `end`] = [%s, %s] s", seconds[[1L]], seconds[[2L]]),
    sprintf("not, for %s of %s spikes: %s before `start` and %s after `end`",
            commas(before + after), commas(n), commas(before), commas(after)),
    sprintf(paste("Spikes span %s to %s s: widen `start` and `end`, or leave them out",
                  "and keep a part with `x[time = c(%s, %s)]`."),
            seconds[[3L]], seconds[[4L]], seconds[[1L]], seconds[[2L]]),
    call = call
  )
}

#' Trials with bounds in ticks, sorted, or NULL
#' @noRd
check_trials <- function(trials, resolution, call) {
  if (is.null(trials)) return(NULL)
  if (!is.data.frame(trials) || !all(c("start", "end") %in% names(trials))) {
    abort_arg("trials", "a data frame with the columns `start` and `end` (seconds)",
              if (is.data.frame(trials)) {
                sprintf("a data frame with the columns %s",
                        if (ncol(trials)) toString(names(trials)) else "(none)")
              } else {
                describe(trials)
              }, call = call)
  }
  if (nrow(trials) == 0L) {
    abort_arg("trials", "NULL, or have at least one row", "a data frame without rows",
              call = call)
  }
  start <- seconds_to_ticks(trials[["start"]], resolution, "trials$start", call)
  end <- seconds_to_ticks(trials[["end"]], resolution, "trials$end", call)
  label <- if ("trial" %in% names(trials)) trials[["trial"]] else seq_along(start)
  if (!is.atomic(label) || anyNA(label) || anyDuplicated(label)) {
    abort_arg("trials$trial", "a label that is not missing and different for each row",
              if (anyNA(label)) "missing in some rows" else "the same in some rows",
              call = call)
  }
  if (any(end < start)) {
    bad <- which(end < start)
    abort_arg("trials", "intervals whose `start` is at or before their `end`",
              sprintf("reversed in %s of %s rows, the first in row %d (%s to %s s)",
                      commas(length(bad)), commas(length(start)), bad[[1L]],
                      exact(trials[["start"]][[bad[[1L]]]]),
                      exact(trials[["end"]][[bad[[1L]]]])), call = call)
  }
  o <- order(start, end)
  start <- start[o]
  end <- end[o]
  label <- label[o]
  n <- length(start)
  clash <- which(start[-1L] < end[-n] | start[-1L] == start[-n])
  if (length(clash)) {
    k <- clash[[1L]]
    seconds <- exact(ticks_to_seconds(c(start[k], end[k], start[k + 1L], end[k + 1L]),
                                      resolution))
    abort_arg("trials", "intervals that do not overlap",
              sprintf("overlapping %s, first trial %s (%s to %s s) with trial %s (%s to %s s)",
                      times_text(length(clash)), format(label[[k]]), seconds[[1L]],
                      seconds[[2L]], format(label[[k + 1L]]), seconds[[3L]], seconds[[4L]]),
              "Trials may touch, but not share more than that tick.", call = call)
  }
  data.frame(trial = label, start = start, end = end)
}

times_text <- function(n) if (n == 1L) "once" else paste(commas(n), "times")

check_trials_inside <- function(trials, bounds, resolution, call) {
  if (is.null(trials)) return(invisible())
  out <- trials$start < bounds[[1L]] | trials$end > bounds[[2L]]
  if (any(out)) {
    seconds <- exact(ticks_to_seconds(bounds, resolution))
    abort_arg("trials", sprintf("within [`start`, `end`] = [%s, %s] s", seconds[[1L]],
                                seconds[[2L]]),
              sprintf("not, for %s of %s trials", commas(sum(out)), commas(length(out))),
              "Widen `start` and `end`, or leave them out.", call = call)
  }
}

#' Error unless `x` is a sound spike_trains object
#' @noRd
check_spike_trains <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (!inherits(x, "spike_trains")) {
    abort_arg(arg, "a spike_trains object", describe(x),
              "Make one with `spike_trains()`, `as_spike_trains()` or `read_spikes()`.",
              call = call)
  }
  # Foreign code can change a data frame behind our back; a wrong order would give a
  # wrong count without a word.
  sound <- is.double(.subset2(x, "time")) && is.factor(.subset2(x, "unit")) &&
    !is.unsorted(.subset2(x, "time")) && !anyNA(.subset2(x, "unit")) &&
    is.double(attr(x, "resolution", exact = TRUE)) &&
    is.double(attr(x, "start", exact = TRUE)) && is.double(attr(x, "end", exact = TRUE))
  if (!sound) {
    abort_arg(arg, "a sound spike_trains object", "one that was changed by hand",
              "Rebuild it: `as_spike_trains(as.data.frame(x))`.", call = call)
  }
  invisible(x)
}

# ---- Units -------------------------------------------------------------------------

#' Units as a factor without missing values
#' @noRd
unit_factor <- function(unit, n, arg = "unit", call = rlang::caller_env()) {
  plain <- is.character(unit) || is.factor(unit) || (is.numeric(unit) && !is.object(unit))
  if (!plain) {
    abort_arg(arg, "a factor, character or numeric vector",
              if (is.object(unit)) sprintf("of class %s", class(unit)[[1L]]) else describe(unit),
              call = call)
  }
  if (length(unit) != n) {
    if (length(unit) != 1L) {
      abort_arg(arg, sprintf("as long as `time` (%s), or of length 1", commas(n)),
                sprintf("of length %s", commas(length(unit))), call = call)
    }
    if (is.factor(unit)) unit <- unit[rep(1L, n)] else unit <- rep(unit, n)
  }
  if (is.factor(unit)) {
    missing_unit <- is.na(levels(unit))[as.integer(unit)]
    missing_unit[is.na(unit)] <- TRUE
  } else if (is.numeric(unit)) {
    missing_unit <- !is.finite(unit)
  } else {
    missing_unit <- is.na(unit)
  }
  if (any(missing_unit)) {
    abort_arg(arg, "given for each spike",
              sprintf("missing for %s of %s spikes, the first in row %d",
                      commas(sum(missing_unit)), commas(n), which(missing_unit)[[1L]]),
              "Drop these rows first, or name the unit.", call = call)
  }
  if (is.factor(unit)) {
    levels <- levels(unit)
    if (anyNA(levels)) return(factor(as.character(unit), levels = levels[!is.na(levels)]))
    return(structure(as.integer(unit), levels = levels, class = "factor"))
  }
  if (is.numeric(unit)) {
    values <- sort(unique(as.double(unit)))
    labels <- number_labels(values)
    # Numbers equal to 15 digits share a label, so they are one unit.
    code <- match(labels, unique(labels))[match(unit, values)]
    return(structure(code, levels = unique(labels), class = "factor"))
  }
  unit <- enc2utf8(as.vector(unit))
  values <- unique(unit)
  values <- values[natural_order(values)]
  structure(match(unit, values), levels = values, class = "factor")
}

#' Labels without an exponent where the number is whole: 100000, not 1e+05
#' @noRd
number_labels <- function(values) {
  whole <- values == round(values) & abs(values) < 1e15
  out <- as.character(values)
  out[whole] <- sprintf("%.0f", values[whole] + 0)
  out
}

#' Order in which runs of digits count as numbers, the same in every locale
#'
#' Labels that are all plain numbers are ordered as numbers, so that -2 comes before -1.
#' @noRd
natural_order <- function(labels) {
  if (length(labels) == 0L) return(integer())
  plain <- "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
  if (all(grepl(plain, labels))) {
    return(order(as.double(labels), labels, method = "radix"))
  }
  at <- gregexpr("[0-9]+", labels)
  digits <- regmatches(labels, at)
  width <- max(0L, nchar(unlist(digits)))
  pad <- \(run) {
    run <- sub("^0+(?=.)", "", run, perl = TRUE)
    paste0(strrep("0", width - nchar(run)), run)
  }
  key <- labels
  regmatches(key, at) <- lapply(digits, pad)
  order(key, labels, method = "radix")
}

#' Whole number for people: 208,277
#' @noRd
commas <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)

# ---- Methods -----------------------------------------------------------------------

#' @rdname spike_trains
#'
#' @param x A `spike_trains` object.
#' @param i,j Rows and columns, as for a data frame.
#' @param ... Not used; must be empty.
#' @param drop As for a data frame.
#' @export
`[.spike_trains` <- function(x, i, j, ..., time, unit, drop) {
  call <- rlang::current_env()
  rlang::check_dots_empty(call = call)
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

  plain <- as.data.frame(x)
  # One index without a comma chooses columns (or, as a matrix, cells).
  if (n_index < 2L) {
    out <- if (missing(i)) plain else plain[i]
  } else if (missing(drop)) {
    out <- plain[i, j]
  } else {
    out <- plain[i, j, drop = drop]
  }
  if (!is.data.frame(out) || !identical(sort(names(out)), c("time", "unit"))) return(out)
  if (anyNA(out$time)) {
    abort_arg("i", sprintf("rows between 1 and %s", commas(nrow(x))),
              "beyond them for some", call = call)
  }
  resolution <- attr(x, "resolution", exact = TRUE)
  kept <- build_spike_trains(
    round_to_ticks(out$time, resolution), out$unit,
    start = attr(x, "start", exact = TRUE), end = attr(x, "end", exact = TRUE),
    resolution = resolution, trials = attr(x, "trials", exact = TRUE), call = call
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
    resolution = resolution, trials = trials
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
    trials = attr(x, "trials", exact = TRUE), call = call
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

#' @rdname as_spike_trains
#' @param row.names,optional Not used.
#' @export
as.data.frame.spike_trains <- function(x, row.names = NULL, optional = FALSE, ...) {
  parts <- unclass(x)
  structure(
    list(time = parts$time, unit = parts$unit)[names(parts)],
    class = "data.frame", row.names = .set_row_names(length(parts$time))
  )
}

#' @rdname spike_trains
#' @return `format()` gives the summary line as one string.
#' @export
format.spike_trains <- function(x, ...) {
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
  rlang::check_dots_empty()
  check_spike_trains(object, "object")
  unit <- .subset2(object, "unit")
  resolution <- attr(object, "resolution", exact = TRUE)
  ticks <- train_ticks(object)
  n_units <- nlevels(unit)
  spikes <- tabulate(unit, n_units)
  o <- order(as.integer(unit), method = "radix")  # stable: time order within a unit
  code <- as.integer(unit)[o]
  by_unit <- ticks[o]
  trial <- trial_of(object)[o]

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
