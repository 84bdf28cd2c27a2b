# From other objects to spike trains.

#' Convert to spike trains
#'
#' @param x What to convert:
#'   * a data frame with a column of times, in seconds, and a column of units;
#'   * a named list with a numeric vector of times, in seconds, for each unit; a vector
#'     of length zero is a silent unit;
#'   * an object of class `spikeTrain` (numeric, seconds: one unit, one recording) or
#'     `repeatedTrain` (a list of `spikeTrain`: one unit, a trial each) as made by the
#'     package STAR, or a named list of these with a unit each;
#'   * `spike_trains`, given back as it is.
#' @param ... Passed on to [spike_trains()]: `start`, `end`, `resolution`, `trials`,
#'   `unit_table`.
#'
#' @details
#' The times of a `repeatedTrain` count from the start of each trial. They are laid one
#' after the other on one clock: trial k is shifted by (k - 1) times the length of
#' `trial_window` and a gap of at least one second, so that no pattern can reach across.
#'
#' @return A [spike_trains] object; `as.data.frame()` gives a plain data frame with the
#'   columns `time` and `unit`.
#'
#' @section Errors:
#' As for [spike_trains()]; and for columns that are not there or not to be told apart,
#' lists without names, and units with different numbers of trials.
#'
#' @references
#' Pouzat C, Chaffiol A (2009). Automatic Spike Train Analysis and Report Generation. An
#' Implementation with R, R2HTML and STAR. *Journal of Neuroscience Methods*, 181(1),
#' 119-144. \doi{10.1016/j.jneumeth.2009.01.037}
#'
#' @examples
#' as_spike_trains(list(A = c(0.1, 0.4), B = 0.2, silent = numeric()), start = 0, end = 1)
#' as_spike_trains(data.frame(neuron = c(1, 2), time = c(0.1, 0.2)))
#' trials <- list(structure(c(0.1, 0.3), class = "spikeTrain"),
#'                structure(c(0.2, 0.6), class = "spikeTrain"))
#' as_spike_trains(structure(trials, class = "repeatedTrain"), unit = "n1")
#' @export
as_spike_trains <- function(x, ...) {
  check_given(x = "a data frame, a named list of times, or a spikeTrain or repeatedTrain")
  UseMethod("as_spike_trains")
}

#' @export
as_spike_trains.default <- function(x, ...) {
  abort_arg("x", "a data frame, a named list of times, or a spikeTrain or repeatedTrain",
            if (is.object(x)) sprintf("of class %s", class(x)[[1L]]) else describe(x),
            "For two vectors use `spike_trains(time, unit)`.",
            call = rlang::caller_env())
}

#' @export
as_spike_trains.spike_trains <- function(x, ...) {
  check_no_dots()
  check_spike_trains(x, once = TRUE)
}

#' @rdname as_spike_trains
#' @param time_column,unit_column Names of the columns; by default found by name, as in
#'   [read_spikes()].
#' @param like `NULL`, or `spike_trains` whose observation interval, clock, trials and table
#'   of units the result gets: the way back from a table that was made of them, where only its spikes
#'   were changed.
#' @export
as_spike_trains.data.frame <- function(x, ..., time_column = NULL, unit_column = NULL,
                                       like = NULL) {
  call <- rlang::current_env()
  at <- find_columns(names(x), time_column, unit_column, call = call)
  if (is.null(time_column) && !at$said %in% c(NA, "s")) {
    abort_arg("x", "a table with times in seconds",
              sprintf("in %s, as the name of its column `%s` says", at$said,
                      names(x)[[at$time]]),
              "Convert it first; `time_column` takes a column of any name.", call = call)
  }
  time <- check_times(x[[at$time]], sprintf("x$%s", names(x)[[at$time]]), call = call)
  if (length(at$unit) > 1L) {
    unit <- join_units(lapply(at$unit, \(k) {
      unit_factor(x[[k]], length(time), sprintf("x$%s", names(x)[[k]]), call)
    }))
  } else {
    unit <- unit_factor(x[[at$unit]], length(time), sprintf("x$%s", names(x)[[at$unit]]), call)
  }
  if (is.null(like)) return(from_columns(time, unit, ..., call = call))
  check_no_dots(call)
  check_like(like, call)
  build_spike_trains(
    round_to_ticks(time, attr(like, "resolution", exact = TRUE)), unit,
    start = attr(like, "start", exact = TRUE), end = attr(like, "end", exact = TRUE),
    resolution = attr(like, "resolution", exact = TRUE),
    trials = attr(like, "trials", exact = TRUE),
    unit_table = table_like(like, levels(unit), call), arg = "x", call = call
  )
}

#' Error unless `like` has a clock, an interval and sound trials; its spikes may be anything
#' @noRd
check_like <- function(like, call) {
  if (!inherits(like, "spike_trains")) {
    abort_arg("like", "NULL or a spike_trains object", describe(like), call = call)
  }
  fault <- clock_fault(like) %||% trials_fault(like)
  if (!is.null(fault)) abort_unsound("like", fault, call)
}

#' The rows of the table of units of `like` for these units, or NULL
#' @noRd
table_like <- function(like, units, call) {
  table <- attr(like, "unit_table", exact = TRUE)
  units_of_table(check_unit_table(table, units, "unit_table(like)", call), units)
}

#' @export
as_spike_trains.list <- function(x, ...) {
  call <- rlang::current_env()
  check_unit_names(x, call)
  repeated <- vapply(x, inherits, logical(1), what = "repeatedTrain")
  if (length(x) > 0L && all(repeated)) return(lay_out_trials(x, ..., call = call))
  if (any(repeated)) {
    abort_arg("x", "a list of one kind", "repeatedTrain objects mixed with others", call = call)
  }
  times <- Map(\(times, name) {
    check_times(plain_times(times), sprintf("x$%s", name), call)
  }, x, names(x))
  from_columns(
    as.double(unlist(times, use.names = FALSE)),
    factor(rep(names(x), lengths(times)), levels = names(x)), ..., call = call
  )
}

#' spike_trains() with what a method was given for it in its dots
#' @noRd
from_columns <- function(time, unit, ..., call) {
  more <- list(...)
  known <- setdiff(names(formals(spike_trains)), c("time", "unit"))
  unknown <- setdiff(names(more) %||% rep("", length(more)), known)
  if (length(unknown)) {
    name <- if (nzchar(unknown[[1L]])) unknown[[1L]] else "..."
    abort_arg(name, "an argument of this function or of `spike_trains()`", "none",
              sprintf("`spike_trains()` takes %s.", toString(known)), call = call)
  }
  spike_trains(time, unit, ...)
}

#' @rdname as_spike_trains
#' @param unit Name of the unit.
#' @export
as_spike_trains.spikeTrain <- function(x, ..., unit = "1") {
  check_string(unit)
  from_columns(plain_times(x), unit, ..., call = rlang::current_env())
}

#' @rdname as_spike_trains
#' @param trial_window Start and end of each trial, in seconds, on the clock of the
#'   `repeatedTrain`; by default the times, and 0 where all are later, widened to whole
#'   seconds.
#' @export
as_spike_trains.repeatedTrain <- function(x, ..., unit = "1", trial_window = NULL) {
  check_string(unit)
  lay_out_trials(rlang::set_names(list(x), unit), ..., trial_window = trial_window,
                 call = rlang::current_env())
}

lay_out_trials <- function(x, trial_window = NULL, resolution = 1e-6, ..., call) {
  check_no_dots(call)
  resolution <- check_resolution(resolution, call)
  n_trials <- unique(lengths(x))
  if (length(n_trials) != 1L || n_trials == 0L) {
    abort_arg("x", "units with the same number of trials, at least one",
              sprintf("units with %s trials", toString(sort(lengths(x)))), call = call)
  }
  times <- lapply(x, \(trials) lapply(unclass(trials), \(one) {
    check_times(plain_times(one), "x", call)
  }))
  all_times <- as.double(unlist(times, use.names = FALSE))
  if (is.null(trial_window)) {
    if (length(all_times) == 0L) {
      abort_arg("trial_window", "given, in seconds, when there are no spikes", "NULL",
                call = call)
    }
    # Outwards to whole seconds, and then onto the clock, also outwards.
    window <- raw_ticks(c(floor(min(0, all_times)), ceiling(max(all_times))), resolution)
    slack <- 1e-9 * pmax(1, abs(window))
    window <- c(floor(window[[1L]] + slack[[1L]]), ceiling(window[[2L]] - slack[[2L]]))
  } else {
    if (!is.numeric(trial_window) || length(trial_window) != 2L) {
      abort_arg("trial_window", "two numbers, the start and end of a trial in seconds",
                describe(trial_window), call = call)
    }
    window <- seconds_to_ticks(trial_window, resolution, "trial_window", call)
    if (window[[1L]] > window[[2L]]) {
      abort_arg("trial_window", "a start at or before the end",
                sprintf("c(%s, %s)", exact(trial_window[[1L]]), exact(trial_window[[2L]])),
                call = call)
    }
    outside <- sum(round_to_ticks(all_times, resolution) < window[[1L]] |
                     round_to_ticks(all_times, resolution) > window[[2L]])
    if (outside > 0L) {
      abort_arg("trial_window", "wide enough for all spikes",
                sprintf("too narrow for %s of %s", commas(outside), commas(length(all_times))),
                call = call)
    }
  }
  period <- window[[2L]] - window[[1L]] + max(1, ceiling(raw_ticks(1, resolution)))
  shift <- (seq_len(n_trials) - 1) * period
  ticks <- unlist(lapply(times, \(trials) Map(
    \(one, by) round_to_ticks(one, resolution) + by, trials, shift
  )), use.names = FALSE)
  per_unit <- vapply(times, \(trials) sum(lengths(trials)), numeric(1))
  build_spike_trains(
    as.double(ticks), factor(rep(names(x), per_unit), levels = names(x)),
    resolution = resolution,
    trials = data.frame(
      trial = seq_len(n_trials),
      start = ticks_to_seconds(window[[1L]] + shift, resolution),
      end = ticks_to_seconds(window[[2L]] + shift, resolution)
    ), arg = "x", call = call
  )
}

#' Numbers of a spikeTrain without its class, anything else unchanged
#' @noRd
plain_times <- function(x) if (inherits(x, "spikeTrain")) as.vector(unclass(x)) else x

check_unit_names <- function(x, call) {
  name <- names(x)
  if (is.null(name) || anyNA(name) || any(name == "")) {
    abort_arg("x", "a list with a name for each unit", "without a name for some", call = call)
  }
  twice <- unique(name[duplicated(name)])
  if (length(twice)) {
    abort_arg("x", "a list with a different name for each unit",
              sprintf("one that names %s more than once", some(twice)), call = call)
  }
}
