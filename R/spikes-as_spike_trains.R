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
#' @param ... Passed on to [spike_trains()]: its arguments after `time` and `unit`.
#'
#' @details
#' The times of a `repeatedTrain` count from the start of each trial. They are laid one
#' after the other on one clock: trial k is shifted by (k - 1) times the length of
#' `trial_window` and a gap of at least one second, so that no pattern can reach across.
#' Where STAR says when the stimulus was on, the table of trials has that of each trial on this
#' clock, `stimulus_start` and `stimulus_end`, which [psth()] takes as `events`.
#'
#' # There and back
#' `as.data.frame(x)` gives a plain data frame with the columns `time` and `unit`, and
#' where there are trials `trial`, which is `NA` outside of all. It keeps what else the
#' recording says (its interval, clock, trials and table of units) in its attributes, so
#' that `as_spike_trains()` of it is the recording again. The verbs of dplyr and data.table
#' keep these attributes; `merge()`, `subset()` and `transform()` of base R do not.
#' Arguments such as `start` go before them, and `like` takes all of them from a recording.
#'
#' @return A [spike_trains] object; `as.data.frame()` gives a plain data frame.
#'
#' @section Errors:
#' As for [spike_trains()]; and for columns that are missing or ambiguous,
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
            if (rlang::is_string(x)) "A file is read with `read_spikes()`." else
              "For two vectors use `spike_trains(time, unit)`.")
}

#' @export
as_spike_trains.spike_trains <- function(x, ...) {
  check_no_dots()
  check_spike_trains(x, once = TRUE)
}

#' @rdname as_spike_trains
#' @param time_column,unit_column Names of the columns; by default found by name, as in
#'   [read_spikes()]. A name like `time_ms` says the unit of time unless `time_unit` does.
#' @param trial_column Names of the columns that together name the trial of each spike, as
#'   `trial` does in [spike_trains()]; by default found by name: `trial`, `trials`, or
#'   these with `_id`, `_nr` or the like at the end. `NA` for none. A column that may
#'   number trials (`sweep`, `segment`, `epoch`, `episode`, `block`, `repetition`, `run`)
#'   and is neither used nor ruled out so is an error.
#' @param like `NULL`, or `spike_trains` whose observation interval, clock, trials and table
#'   of units the result gets.
#' @export
as_spike_trains.data.frame <- function(x, ..., time_column = NULL, unit_column = NULL,
                                       trial_column = NULL, like = NULL) {
  more <- check_more(list(...))
  at <- find_columns(names(x), time_column, unit_column)
  if (!is.null(like)) {
    check_no_dots()
    # Its spikes may be anything.
    refuse_if(!inherits(like, "spike_trains"), "like", "NULL or a spike_trains object",
              describe(like))
    fault <- clock_fault(like) %||% trials_fault(like)
    if (!is.null(fault)) abort_unsound("like", fault)
  }
  own <- like %||% (if (is.null(clock_fault(x))) x)
  if (is.null(more[["time_unit"]]) && !is.na(at$said)) more[["time_unit"]] <- at$said
  n <- .row_names_info(x, 2L)
  unit <- if (length(at$unit) == 1L) x[[at$unit]] else join_units(
    lapply(at$unit, \(k) unit_factor(x[[k]], n, sprintf("x$%s", names(x)[[k]])))
  )
  if (!is.null(own)) more <- with_own(more, own, unit)
  if (is.null(more[["trial"]])) {
    column <- find_trial_column(x, trial_column, c(at$time, at$unit))
    if (length(column)) more[["trial"]] <- trial_of_columns(x, column)
  } else if (!is.null(trial_column)) {
    abort_arg("trial_column", "left out where `trial` is given", "given")
  }
  if (!is.null(own) && !is.null(more[["trial"]]) && !is.null(more[["trials"]])) {
    # Times of a recording are on its clock.
    more[["trial_clock"]] <- more[["trial_clock"]] %||% "recording"
  }
  # Of a table that was made of a recording, all was said when that was made.
  if (!is.null(own)) more$quiet <- TRUE
  column <- \(k) sprintf("x$%s", names(x)[[k]])
  from_columns(x[[at$time]], unit, more, column(at$time), column(at$unit[[1L]]))
}

#' What a recording, or a table that was made of one, says beside its spikes
#' @noRd
with_own <- function(more, own, unit) {
  for (name in setdiff(c("start", "end", "resolution", "trials", "unit_table"), names(more))) {
    value <- attr(own, name, exact = TRUE)
    # The levels of a factor say which units there are, silent ones too.
    if (name == "unit_table" && is.factor(unit) && is.data.frame(value)) {
      value <- value[label_text(value$unit) %in% levels(unit), , drop = FALSE]
    }
    more[name] <- list(value)
  }
  more
}

#' The columns that name the trial of each spike; none where there are no trials
#'
#' @param used Columns that are taken already.
#' @noRd
find_trial_column <- function(x, trial_column, used) {
  at <- find_trial(names(x), trial_column, used)
  # What is the same in all rows tells nothing apart.
  doubt <- Filter(\(k) length(unique(x[[k]])) > 1L, at$doubt)
  refuse_if(length(at$trial) == 0L && length(doubt), "x",
            "a table in which it is clear whether spikes come in trials",
            sprintf("one with %s, which may number trials",
                    paste0("`", names(x)[doubt], "`", collapse = " and ")),
            sprintf(paste("Say `trial_column = \"%s\"`, or `trial_column = NA` where all",
                          "times count on one clock and there are no trials."),
                    names(x)[[doubt[[1L]]]]))
  blocks <- if (length(at$trial) == 1L) {
    # A trial of one number is there in several blocks.
    trial <- x[[at$trial]]
    Filter(\(k) sum(!duplicated(data.frame(trial, x[[k]]))) > length(unique(trial)), doubt)
  }
  both <- names(x)[c(blocks[1L], at$trial)]
  refuse_if(length(blocks), "x", "a table whose trials have a number each",
            sprintf("one where `%s` starts again in each `%s`", both[[2L]], both[[1L]]),
            sprintf("Both together name a trial: `trial_column = c(\"%s\", \"%s\")`.",
                    both[[1L]], both[[2L]]))
  at$trial
}

#' The trial of each spike from one or several columns, which together name it
#' @noRd
trial_of_columns <- function(x, at) {
  if (length(at) == 1L) return(x[[at]])
  parts <- lapply(at, \(k) label_text(x[[k]]))
  replace(do.call(paste, c(parts, sep = "_")), Reduce(`|`, lapply(parts, is.na)), NA)
}

#' @export
as_spike_trains.list <- function(x, ...) {
  check_unit_names(x)
  repeated <- vapply(x, inherits, logical(1), what = "repeatedTrain")
  if (length(x) > 0L && all(repeated)) return(lay_out_trials(x, ...))
  refuse_if(any(repeated), "x", "a list of one kind", "repeatedTrain objects mixed with others")
  times <- Map(\(times, name) check_times(plain_times(times), sprintf("x$%s", name)), x, names(x))
  from_columns(as.double(unlist(times, use.names = FALSE)),
               factor(rep(names(x), lengths(times)), levels = names(x)), check_more(list(...)))
}

#' spike_trains() with what a method was given for it in its dots
#' @noRd
from_columns <- function(time, unit, more, time_arg = "x", unit_arg = "x") {
  do.call(make_trains, c(list(time, unit), more, list(arg = time_arg, unit_arg = unit_arg)))
}

#' What a method was given for spike_trains(), or an error where that is no argument of it
#' @noRd
check_more <- function(more) {
  known <- setdiff(names(formals(spike_trains)), c("time", "unit"))
  unknown <- setdiff(names(more) %||% rep("", length(more)), known)
  refuse_if(length(unknown), if (nzchar(unknown[[1L]])) unknown[[1L]] else "...",
            "an argument of this function or of `spike_trains()`", "none",
            sprintf("`spike_trains()` takes %s.", toString(known)))
  more
}

#' @rdname as_spike_trains
#' @param unit Name of the unit.
#' @export
as_spike_trains.spikeTrain <- function(x, ..., unit = "1") {
  check_string(unit)
  from_columns(plain_times(x), unit, check_more(list(...)))
}

#' @rdname as_spike_trains
#' @param trial_window Start and end of each trial, in seconds, on the clock of the
#'   `repeatedTrain`; by default the times, and 0 where all are later, widened to whole
#'   seconds.
#' @export
as_spike_trains.repeatedTrain <- function(x, ..., unit = "1", trial_window = NULL) {
  check_string(unit)
  lay_out_trials(rlang::set_names(list(x), unit), ..., trial_window = trial_window)
}

lay_out_trials <- function(x, trial_window = NULL, resolution = 1e-6, ...) {
  check_no_dots()
  resolution <- check_resolution(resolution)
  n_trials <- unique(lengths(x))
  refuse_if(length(n_trials) != 1L || n_trials == 0L, "x",
            "units with the same number of trials, at least one",
            sprintf("units with %s trials", toString(sort(lengths(x)))))
  times <- lapply(x, \(trials) lapply(unclass(trials), \(one) check_times(plain_times(one), "x")))
  per_trial <- unlist(lapply(times, lengths), use.names = FALSE)
  placed <- lay_out(round_to_ticks(as.double(unlist(times, use.names = FALSE)), resolution),
                    rep(rep(seq_len(n_trials), length(times)), per_trial),
                    data.frame(trial = seq_len(n_trials)), trial_window, resolution, say = FALSE)
  placed$trials <- with_stimulus(placed, attr(x[[1L]], "stimTimeCourse", exact = TRUE), resolution)
  per_unit <- vapply(times, \(trials) sum(lengths(trials)), numeric(1))
  build_spike_trains(placed$ticks, factor(rep(names(x), per_unit), levels = names(x)),
                     resolution = resolution, trials = placed$trials, arg = "x")
}

#' The table of trials with when the stimulus of each began and ended
#'
#' @param placed What `lay_out()` gives.
#' @param on Both on the clock of a trial, as STAR keeps them, or anything else.
#' @noRd
with_stimulus <- function(placed, on, resolution) {
  if (!is_plain_numeric(on) || length(on) != 2L || !all(is.finite(on))) return(placed$trials)
  on <- round_to_ticks(on, resolution)
  placed$trials$stimulus_start <- ticks_to_seconds(on[[1L]] + placed$shift, resolution)
  placed$trials$stimulus_end <- ticks_to_seconds(on[[2L]] + placed$shift, resolution)
  placed$trials
}

#' Numbers of a spikeTrain without its class, anything else unchanged
#' @noRd
plain_times <- function(x) if (inherits(x, "spikeTrain")) as.vector(unclass(x)) else x

check_unit_names <- function(x) {
  name <- names(x)
  refuse_if(is.null(name) || anyNA(name) || any(name == ""), "x",
            "a list with a name for each unit", "without a name for some")
  twice <- unique(name[duplicated(name)])
  refuse_if(length(twice), "x", "a list with a different name for each unit",
            sprintf("one that names %s more than once", some(twice)))
}
