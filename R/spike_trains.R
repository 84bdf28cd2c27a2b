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
#' stays while both columns do; `dplyr::filter()` and its like choose rows as well.
#' Assigning into a column, `dplyr::mutate()` and putting recordings together give a plain
#' data frame `y`, as the result need not be a valid recording;
#' `as_spike_trains(y, like = x)` makes one again, with the interval, the clock and the
#' trials of `x`. An object that was changed in any other way is refused by every function
#' that takes one.
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
#'   ...). Rows are sorted by `start`. Further columns, such as a condition, are kept.
#' @param unit_table `NULL`, or a data frame with a column `unit`, which names each unit
#'   once, and what is known of it: area, depth, quality, electrode. Units that it names
#'   and that have no spike become silent units. [unit_table()] gives it back.
#'
#' @return A data frame of class `spike_trains` with a row for each spike and the columns
#'   `time` (double, in seconds) and `unit` (factor), sorted by time, then by unit.
#'   Attributes: `start`, `end` and `resolution` (in seconds), `trials` (`NULL`, or a data
#'   frame with the columns `trial`, `start`, `end` and those that were given), and
#'   `unit_table` (`NULL`, or a data frame with a row for each level of `unit`).
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
                         trials = NULL, unit_table = NULL) {
  call <- rlang::current_env()
  check_given(time = "a numeric vector of seconds",
              unit = "a factor, character or numeric vector")
  resolution <- check_resolution(resolution, call = call)
  time <- check_times(time, call = call)
  own_order <- is.factor(unit)
  unit <- unit_factor(unit, length(time), call = call)
  unit_table <- check_unit_table(unit_table, levels(unit), call = call)
  if (!own_order && !is.null(unit_table)) {
    known <- levels(unit_table$unit)
    known <- known[natural_order(known)]
    unit <- structure(match(levels(unit), known)[as.integer(unit)], levels = known,
                      class = "factor")
  }
  build_spike_trains(
    round_to_ticks(time, resolution), unit, start, end, resolution, trials, unit_table,
    call = call
  )
}

#' From ticks and a factor in any order to a checked object
#'
#' The readers come in here, as they make ticks from other units than seconds.
#' @noRd
build_spike_trains <- function(ticks, unit, start = NULL, end = NULL, resolution = 1e-6,
                               trials = NULL, unit_table = NULL, arg = "time",
                               call = rlang::caller_env()) {
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
  unit_table <- check_unit_table(unit_table, levels(unit), call = call)
  unit <- structure(code, levels = levels(unit_table$unit %||% unit), class = "factor")

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
    resolution = resolution, trials = trials, unit_table = unit_table
  )
}

#' The class from parts known to be right
#'
#' @param ticks Whole doubles, sorted, with their unit; no unit twice on a tick.
#' @param unit_factor Factor as long as `ticks`, no NA.
#' @param start,end,resolution Seconds.
#' @param trials NULL or data frame `trial`, `start`, `end` (seconds), ..., sorted.
#' @param unit_table NULL or data frame `unit` (in the order of the levels), ...
#' @noRd
new_spike_trains <- function(ticks, unit_factor, start, end, resolution, trials = NULL,
                             unit_table = NULL) {
  structure(
    list(time = ticks_to_seconds(ticks, resolution), unit = unit_factor),
    class = c("spike_trains", "data.frame"),
    row.names = .set_row_names(length(ticks)),
    start = start, end = end, resolution = resolution, trials = trials,
    unit_table = unit_table
  )
}
