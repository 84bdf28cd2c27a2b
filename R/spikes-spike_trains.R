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
#' belong to no trial, and no analysis uses them; a message says how many there are.
#' Rates are spikes in trials divided by the time of all trials.
#'
#' `trials` says when each trial starts and ends. Where each spike also names its `trial`,
#' times count either on one clock for the whole recording or from the start of each
#' trial. `trial_clock` says which:
#' * `"recording"`: each spike must lie in the trial that it names, or, with `NA`, outside
#'   of all. Without `trials`, a trial reaches from its first to its last spike; this
#'   leaves out what was silent before and after, so that rates come out too high.
#' * `"trial"`: each spike is moved to the start of its trial in `trials`. Without these
#'   times, trials are laid one after the other: trial k is shifted by (k - 1) times the
#'   length of `trial_window` and a gap of at least one second, so that no pattern can
#'   reach across. `trials` may then have `trial` and columns such as a condition alone;
#'   its rows are all the trials, in their order. Trials without spikes are known from
#'   there, or from the levels of a factor `trial`.
#' * `NULL` takes the only clock that the times can count on, and says so in a message.
#'   Trials of one recording do not overlap, so times that do count from the start of
#'   each. Where both are possible there is an error.
#'
#' # Subsetting and changing
#' `x[time = c(0, 10)]` keeps the closed range from 0 to 10 s, and narrows the
#' observation interval and the trials to it; either bound may be infinite. A bound between
#' two ticks, such as half of an odd number of them, is that of the tick inside the range, so that
#' `x[time = c(0, middle)]` and `x[time = c(middle, Inf)]` share no spike.
#' `x[unit = c("A", "B")]` keeps these units, with the levels in this order.
#' `x[trial = c(1, 5)]` keeps these trials and the spikes in them, and narrows the
#' observation interval to reach from the first to the last of them. Trials are named by
#' their labels, as units are: `x[trial = 2]` is the trial whose label is 2, wherever it
#' stands. Where no label is a number, trials may also be named by number.
#' `x[trial = condition == "go"]` and `x[unit = area == "CA1" & depth > 200]` set conditions
#' on the columns of [trial_table()] and [unit_table()].
#'
#' Rows can be chosen as in any data frame; spikes stay sorted, and each is kept once. The
#' class stays while both columns do; `dplyr::filter()` and its like choose rows as well.
#' Assigning into a column, `dplyr::mutate()`, `dplyr::arrange()` and putting recordings
#' together give a plain data frame `y`, as the result need not be a valid recording;
#' `as_spike_trains(y)` makes one again from a table that kept its attributes, and
#' `as_spike_trains(y, like = x)` from any, with the interval, the clock, the trials and the
#' table of units of `x`. An object that was changed in any other way is refused by every
#' function that takes one.
#'
#' @param time Numeric vector of spike times, in seconds unless `time_unit` says otherwise;
#'   in `x[time = ]` the range to keep, `c(from, to)`, always in seconds.
#' @param unit Units (neurons, channels) that fired: a factor, character or numeric
#'   vector as long as `time`, or of length 1; in `x[unit = ]` the units to keep.
#' @param start,end Bounds of the observation interval, in seconds; by default the first
#'   and last spike, or the bounds of the trials where these reach further. Must be
#'   given when there is neither a spike nor a trial. Where times count from the start of each
#'   `trial`, they are the bounds of each trial, as `trial_window` is.
#' @param resolution Length of a tick, in seconds; at least 1e-12.
#' @param trials `NULL`, or a data frame with the columns `start` and `end`, in seconds,
#'   and where wanted `trial`, a label that is different for each row (default 1, 2,
#'   ...). Rows are sorted by `start`. Further columns, such as a condition, are kept.
#' @param unit_table `NULL`, or a data frame with a column `unit`, which names each unit
#'   once, and what is known of it: area, depth, quality, electrode. Units that it names
#'   and that have no spike become silent units. [unit_table()] gives it back.
#' @param trial `NULL`, or the trial of each spike: a vector as long as `time`, with `NA`
#'   for spikes outside of all trials. In `x[trial = ]` the trials to keep.
#' @param trial_clock `"recording"`, `"trial"`, or `NULL` where the times themselves show
#'   it: what times count from when spikes name their `trial`, as described under Trials.
#' @param trial_window Start and end of each trial, in seconds from its own zero, for times
#'   that count from the start of each trial; by default the times, and 0 where all are
#'   later, widened to whole seconds.
#' @param time_unit Unit of `time`: `"s"`, `"ms"`, `"us"`, or `"samples"` (with
#'   `sampling_rate`). Times become ticks with whole factors wherever these exist, as
#'   [read_spikes()] does. All other arguments are in seconds.
#' @param sampling_rate Samples in a second, for `time_unit = "samples"`.
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
                         trials = NULL, unit_table = NULL, trial = NULL,
                         trial_clock = NULL, trial_window = NULL,
                         time_unit = c("s", "ms", "us", "samples"), sampling_rate = NULL) {
  check_given(time = "a numeric vector of seconds",
              unit = "a factor, character or numeric vector")
  time_unit <- check_choice(time_unit)
  make_trains(time, unit, start, end, resolution, trials, unit_table, trial, trial_clock,
              trial_window, time_unit, sampling_rate)
}

#' spike_trains() for whoever calls it
#' @noRd
make_trains <- function(time, unit, start = NULL, end = NULL, resolution = 1e-6,
                        trials = NULL, unit_table = NULL, trial = NULL, trial_clock = NULL,
                        trial_window = NULL, time_unit = "s", sampling_rate = NULL,
                        quiet = FALSE, arg = "time", unit_arg = "unit") {
  check_choice(time_unit, c("s", "ms", "us", "samples"))
  if (!is.null(sampling_rate)) check_number(sampling_rate, above = 0)
  per_second <- units_per_second(time_unit, sampling_rate)
  resolution <- check_resolution(resolution)
  check_time_type(time, arg)
  named <- unit_codes(unit, length(time), unit_arg)
  if (!quiet) check_swapped(time, unit, named, arg)
  unit_table <- check_unit_table(unit_table, named$levels)
  if (!is.factor(unit) && !is.null(unit_table)) named <- natural_levels(named, unit_table)
  scale <- tick_scale(resolution, per_second)
  if (is.null(trial)) {
    check_no_trial(trial_clock, trial_window)
  } else {
    time <- round_to_ticks(check_times(time, arg), resolution, per_second)
    placed <- place_trials(time, trial, trials, trial_clock, trial_window, start, end, resolution)
    time <- placed$ticks
    trials <- placed$trials
    start <- placed$start
    end <- placed$end
    scale <- c(1, 1)
  }
  x <- assemble_trains(time, scale, named, start, end, resolution, trials, unit_table, quiet,
                       arg, unit_arg)
  if (!quiet && is.null(trial)) check_bounds_unit(x, start, end, per_second)
  x
}

#' Units whose levels are also those of the table, in natural order
#' @noRd
natural_levels <- function(named, unit_table) {
  known <- levels(unit_table$unit)
  known <- known[natural_order(known)]
  named$unit <- c(0L, match(named$levels, known))[named$unit + 1L]
  named$levels <- known
  named
}

#' From ticks and a factor in any order to a checked object
#'
#' The readers come in here, as they make ticks from other units than seconds.
#' @param quiet Whether to say nothing, as the recording is a part of another.
#' @noRd
build_spike_trains <- function(ticks, unit, start = NULL, end = NULL, resolution = 1e-6,
                               trials = NULL, unit_table = NULL, quiet = FALSE, arg = "time") {
  assemble_trains(ticks, c(1, 1), factor_codes(unit), start, end, resolution, trials,
                  unit_table, quiet, arg, "unit")
}

#' @param time,scale Times, and what makes ticks of them.
#' @param named What `unit_codes()` gives.
#' @noRd
assemble_trains <- function(time, scale, named, start, end, resolution, trials, unit_table,
                            quiet, arg, unit_arg) {
  spikes <- arrange_spikes(time, scale, named, resolution, arg, unit_arg)
  if (!quiet && is.null(trials)) {
    if (!spikes$sorted) check_restarts(time, named$code)
    n <- length(spikes$time)
    if (n > 1L && resolution <= finest_of_slow) {
      check_slow(n, length(named$levels), spikes$time[[n]] - spikes$time[[1L]])
    }
  }
  unit_table <- check_unit_table(unit_table, named$levels)
  levels <- if (is.null(unit_table)) named$levels else levels(unit_table$unit)

  trials <- check_trials(trials, resolution)
  n <- length(spikes$time)
  ends <- round_to_ticks(spikes$time[if (n) c(1L, n)], resolution)
  bounds <- check_interval(start, end, inside = c(ends, trials$start, trials$end),
                           resolution = resolution)
  check_inside(spikes$time, ends, bounds, arg, resolution)
  check_trials_inside(trials, bounds, resolution)

  if (!is.null(trials)) {
    trials$start <- ticks_to_seconds(trials$start, resolution)
    trials$end <- ticks_to_seconds(trials$end, resolution)
  }
  x <- as_recording(spikes$time, as_factor(spikes$unit, levels),
                    start = ticks_to_seconds(bounds[[1L]], resolution),
                    end = ticks_to_seconds(bounds[[2L]], resolution), resolution = resolution,
                    trials = trials, unit_table = unit_table)
  if (!quiet) tell_outside(x)
  x
}

#' Spikes by time, then by unit, each once, or an error that says which of them is wrong
#'
#' @return `time` in seconds and the numbers of the `unit`; `sorted`, whether they came so.
#' @noRd
arrange_spikes <- function(time, scale, named, resolution, arg, unit_arg) {
  time <- as.double(time)
  spikes <- .Call(r_arrange, time, named$code, named$unit, scale, clock_of(resolution),
                  check_threads(NULL))
  spikes <- finish_status(spikes, "making this recording", "Read a part of it at a time.",
                          limit_of = "spikes")
  if (spikes$fault == "sound") return(spikes)
  check_times(time, arg)
  unit <- known_units(named, unit_arg)
  ticks <- .Call(r_ticks, time, scale)
  check_tick_range(ticks, resolution, arg)
  # Ticks and units that do not fit a word together: years at a fine resolution.
  o <- order(ticks, unit, method = "radix")
  named$code <- named$code[o]
  sorted <- arrange_spikes(ticks[o], c(1, 1), named, resolution, arg, unit_arg)
  sorted$sorted <- FALSE
  sorted
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
  as_recording(ticks_to_seconds(ticks, resolution), unit_factor, start, end, resolution,
               trials, unit_table)
}

#' The same with times in seconds
#' @noRd
as_recording <- function(time, unit_factor, start, end, resolution, trials, unit_table) {
  structure(list(time = time, unit = unit_factor), class = c("spike_trains", "data.frame"),
            row.names = .set_row_names(length(time)), start = start, end = end,
            resolution = resolution, trials = trials, unit_table = unit_table)
}

#' A recording of other spikes on the clock of `x`, with its interval, trials and table of units
#'
#' @param ... What differs, as in `build_spike_trains()`.
#' @param sound Whether the spikes are known to be sorted and right.
#' @noRd
spikes_like <- function(x, ticks, unit, ..., sound = FALSE) {
  given <- own_attributes(x)
  differs <- list(...)
  given[names(differs)] <- differs
  make <- if (sound) new_spike_trains else \(...) build_spike_trains(..., quiet = TRUE)
  do.call(make, c(list(ticks, unit), given), quote = TRUE)
}
