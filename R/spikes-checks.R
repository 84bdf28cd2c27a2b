# What a recording must be: the checks that its constructor makes.

#' The length of a tick: at least a picosecond, so that a millisecond is fewer than 2^31 ticks
#' @noRd
check_resolution <- function(resolution) check_number(resolution, "resolution", min = 1e-12)

#' Error where an argument is given that a choice has no use for
#'
#' @param takes The arguments of each choice, by its name.
#' @param must A template for the choice.
#' @param hint Gives the hint from the choices that take the argument.
#' @noRd
check_taken <- function(given, choice, takes, must, hint = \(choices) NULL) {
  foreign <- setdiff(as.character(given), takes[[choice]])
  choices <- names(takes)[vapply(takes, \(args) foreign[1L] %in% args, NA)]
  refuse_if(length(foreign), foreign[[1L]], sprintf(must, choice), "given",
            hint(paste0("\"", choices, "\"")))
}

check_time_type <- function(time, arg = "time") {
  # A class may carry another unit (difftime) or another meaning (integer64).
  refuse_if(!is_plain_numeric(time), arg, "a numeric vector of seconds",
            if (is.object(time) && !is.list(time)) sprintf("of class %s", class(time)[[1L]]) else
              describe(time), if (is.character(time)) "Convert it with `as.numeric()` first.")
}

check_times <- function(time, arg = "time") {
  check_time_type(time, arg)
  time <- as.double(time)
  bad <- !is.finite(time)
  refuse_if(any(bad), arg, "finite: no NA, NaN or infinite times",
            sprintf("not, for %s of %s times, the first in row %d (%s)", commas(sum(bad)),
                    commas(length(bad)), which(bad)[[1L]], format(time[bad][[1L]])),
            "Drop these rows first.")
  time
}

check_tick_range <- function(ticks, resolution, arg) {
  if (length(ticks) == 0L) return(invisible())
  far <- max(abs(range(ticks)))
  # From 2^51 on, two ticks may share one double of seconds.
  lost <- far >= 2^53 || (far >= 2^51 && any(round_to_ticks(ticks_to_seconds(ticks, resolution),
                                                            resolution) != ticks))
  worst <- \() which.max(abs(ticks))
  refuse_if(lost, arg, "within 2^53 ticks of zero, and told apart by doubles",
            sprintf("not, in row %d: %s s, with ticks of %s s", worst(),
                    exact(ticks[[worst()]] * resolution), exact(resolution)),
            "Count time from the start of the recording, or use a coarser `resolution`.")
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
check_interval <- function(start, end, inside, resolution) {
  bound <- function(value, arg, default) {
    if (!is.null(value)) {
      value <- check_number(value, arg)
      return(seconds_to_ticks(value, resolution, arg))
    }
    refuse_if(length(inside) == 0L, arg, "given, in seconds, when there are no spikes", "NULL")
    default(inside)
  }
  bounds <- c(bound(start, "start", min), bound(end, "end", max))
  seconds <- \(k) exact(ticks_to_seconds(bounds[[k]], resolution))
  refuse_if(bounds[[1L]] > bounds[[2L]], "start", "at or before `end`",
            sprintf("%s s, and `end` is %s s", seconds(1L), seconds(2L)),
            if (is.null(start) || is.null(end)) {
              "A bound that is not given is the first or last spike or trial."
            })
  bounds
}

#' @param time Sorted seconds, and the first and the last tick in `ends`.
#' @noRd
check_inside <- function(time, ends, bounds, arg, resolution) {
  n <- length(time)
  if (n == 0L || (ends[[1L]] >= bounds[[1L]] && ends[[2L]] <= bounds[[2L]])) return(invisible())
  ticks <- round_to_ticks(time, resolution)
  before <- sum(ticks < bounds[[1L]])
  after <- sum(ticks > bounds[[2L]])
  seconds <- exact(ticks_to_seconds(c(bounds, ends), resolution))
  abort_arg(arg, sprintf("within [`start`, `end`] = [%s, %s] s", seconds[[1L]], seconds[[2L]]),
            sprintf("not, for %s of %s spikes: %s before `start` and %s after `end`",
                    commas(before + after), commas(n), commas(before), commas(after)),
            sprintf(paste("Spikes span %s to %s s: give a `start` and an `end` that hold these;",
                          "`x[time = c(%s, %s)]` then keeps a part."), seconds[[3L]],
                    seconds[[4L]], seconds[[1L]], seconds[[2L]]))
}

#' Trials with bounds in ticks, sorted, or NULL
#' @noRd
check_trials <- function(trials, resolution) {
  if (is.null(trials)) return(NULL)
  refuse_if(!is.data.frame(trials) || !all(c("start", "end") %in% names(trials)), "trials",
            "a data frame with the columns `start` and `end` (seconds)", some_columns(trials))
  refuse_if(nrow(trials) == 0L, "trials", "NULL, or have at least one row",
            "a data frame without rows")
  start <- seconds_to_ticks(trials[["start"]], resolution, "trials$start")
  end <- seconds_to_ticks(trials[["end"]], resolution, "trials$end")
  label <- if ("trial" %in% names(trials)) trials[["trial"]] else seq_along(start)
  refuse_if(!is.atomic(label) || anyNA(label) || anyDuplicated(label), "trials$trial",
            "a label that is not missing and different for each row",
            if (anyNA(label)) "missing in some rows" else "the same in some rows")
  bad <- which(end < start)
  refuse_if(length(bad), "trials", "intervals whose `start` is at or before their `end`",
            sprintf("reversed in %s of %s rows, the first in row %d (%s to %s s)",
                    commas(length(bad)), commas(length(start)), bad[[1L]],
                    exact(trials[["start"]][[bad[[1L]]]]), exact(trials[["end"]][[bad[[1L]]]])))
  o <- order(start, end)
  out <- data.frame(trial = label[o], start = start[o], end = end[o])
  more <- setdiff(names(trials), names(out))
  out[more] <- as.data.frame(trials)[o, more, drop = FALSE]
  clash <- which(out$start[-1L] < out$end[-length(o)] | diff(out$start) == 0)
  said <- \(k) sprintf("trial %s (%s to %s s)", format(out$trial[[k]]),
                       exact(ticks_to_seconds(out$start[[k]], resolution)),
                       exact(ticks_to_seconds(out$end[[k]], resolution)))
  refuse_if(length(clash), "trials", "intervals that do not overlap",
            sprintf("overlapping %s, first %s with %s",
                    times_text(length(clash)), said(clash[[1L]]), said(clash[[1L]] + 1L)),
            "Trials may touch, but not share more than that tick.")
  out
}

times_text <- function(n) if (n == 1L) "once" else paste(commas(n), "times")

check_trials_inside <- function(trials, bounds, resolution) {
  if (is.null(trials)) return(invisible())
  out <- trials$start < bounds[[1L]] | trials$end > bounds[[2L]]
  refuse_if(any(out), "trials",
            sprintf("within [`start`, `end`] = [%s] s",
                    toString(exact(ticks_to_seconds(bounds, resolution)))),
            sprintf("not, for %s of %s trials", commas(sum(out)), commas(length(out))),
            "Widen `start` and `end`, or leave them out.")
}

# ---- Objects that exist ------------------------------------------------------------

#' Error unless `x` is a sound spike_trains object
#'
#' Other code can change a data frame without our methods, and a wrong order or a wrong
#' bound would give a wrong count without a word. Every function that reads spikes asks
#' this first.
#'
#' The same unit twice on a tick is no fault, as surrogates have that.
#' @param once Whether to drop what is there twice: analyses count it once.
#' @noRd
check_spike_trains <- function(x, arg = rlang::caller_arg(x), once = FALSE) {
  refuse_if(!inherits(x, "spike_trains"), arg, "a spike_trains object", describe(x),
            "Make one with `spike_trains()`, `as_spike_trains()` or `read_spikes()`.")
  fault <- columns_fault(x) %||% clock_fault(x) %||% trials_fault(x) %||%
    unit_table_fault(x) %||% spikes_fault(x)
  if (!is.null(fault$is)) abort_unsound(arg, fault)
  invisible(if (once && !is.null(fault$twice)) without_twice(x) else x)
}

#' Without a unit's second spike on a tick
#' @noRd
without_twice <- function(x) {
  columns <- unclass(x)
  keep <- !same_as_previous(columns$time, as.integer(columns$unit))
  with_columns(x, list(time = columns$time[keep], unit = columns$unit[keep])[names(columns)])
}

#' Other columns for a recording, which are known to be right, with all its attributes
#' @noRd
with_columns <- function(x, columns) {
  about <- attributes(x)
  about$names <- names(columns)
  about$row.names <- .set_row_names(length(columns$time))
  attributes(columns) <- about
  columns
}

#' The recording that a result keeps, or NULL
#' @noRd
own_recording <- function(x, arg = rlang::caller_arg(x)) {
  recording <- attr(x, "recording", exact = TRUE)
  if (is.null(recording)) return(NULL)
  check_spike_trains(recording, sprintf("attr(%s, \"recording\")", arg), once = TRUE)
}

#' @param fault What is wrong: `is`, and `hint`, or `NULL` where making the object from its
#'   own spikes mends it; these are then those that are `where`.
#' @noRd
abort_unsound <- function(arg, fault) {
  spikes <- sprintf("as.data.frame(%s)", arg)
  if (!is.null(fault$where)) spikes <- sprintf("subset(%s, %s)", spikes, fault$where)
  abort_arg(arg, "a sound spike_trains object", paste0("one that was changed: ", fault$is),
            fault$hint %||% paste("Rebuild it on the same clock, interval and trials:",
                                  sprintf("`as_spike_trains(%s, like = %s)`.", spikes, arg)))
}

remake_hint <- paste("Make it once more from the recording that it came from, or with",
                     "`spike_trains(time, unit, start, end, resolution, trials)`.")

#' What is wrong with the columns of `x`, or NULL
#' @noRd
columns_fault <- function(x) {
  fault <- \(...) list(is = paste0(...), hint = remake_hint)
  if (!is.list(x) || length(x) != 2L || !setequal(names(x), c("time", "unit"))) {
    return(fault("its columns are not `time` and `unit` alone"))
  }
  time <- .subset2(x, "time")
  unit <- .subset2(x, "unit")
  if (!is.double(time) || is.object(time) || !is.null(dim(time))) {
    return(fault("its `time` does not hold doubles, but is ", describe(time)))
  }
  levels <- attr(unit, "levels", exact = TRUE)
  if (is.character(unit)) return(list(is = "its `unit` is text and no factor"))
  if (typeof(unit) != "integer" || !is.null(dim(unit)) ||
        !(identical(class(unit), "factor") || is.ordered(unit))) {
    return(fault("its `unit` is ", describe(unit)))
  }
  if (!is.character(levels) || anyNA(levels) || anyDuplicated(levels)) {
    return(fault("its `unit` is a factor without levels, or with levels that are not names"))
  }
  rows <- .row_names_info(x, 2L)
  if (length(time) != length(unit) || length(time) != rows) {
    return(fault(sprintf("it has %s times, %s units and %s rows", commas(length(time)),
                         commas(length(unit)), commas(rows))))
  }
}

#' What is wrong with the clock and the observation interval of `x`, or NULL
#' @noRd
clock_fault <- function(x) {
  fault <- \(...) list(is = paste0(...), hint = remake_hint)
  for (name in c("resolution", "start", "end")) {
    value <- attr(x, name, exact = TRUE)
    if (!is.double(value) || !is_number(value) || !is.finite(value)) {
      return(fault("its attribute `", name, "` is ", describe(value)))
    }
  }
  if (attr(x, "resolution", exact = TRUE) <= 0) return(fault("its `resolution` is not positive"))
  bounds <- interval_seconds(x)
  if (!all(on_clock(bounds, x))) return(fault("its `start` or `end` is no tick of its clock"))
  if (bounds[[1L]] > bounds[[2L]]) return(fault("its `start` lies after its `end`"))
}

#' Which seconds are ticks of the clock of `x`
#' @noRd
on_clock <- function(seconds, x) {
  resolution <- attr(x, "resolution", exact = TRUE)
  ticks <- round_to_ticks(seconds, resolution)
  is.finite(ticks) & abs(ticks) < 2^53 & ticks_to_seconds(ticks, resolution) == seconds
}

#' What is wrong with the trials of `x`, or NULL
#' @noRd
trials_fault <- function(x) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(NULL)
  fault <- \(...) list(is = paste0("its trials ", ...), hint = remake_hint)
  n <- if (is.data.frame(trials)) .row_names_info(trials, 2L) else 0L
  if (n == 0L || !all(c("trial", "start", "end") %in% names(trials))) {
    return(fault("are no data frame with rows and the columns `trial`, `start` and `end`"))
  }
  label <- .subset2(trials, "trial")
  start <- .subset2(trials, "start")
  end <- .subset2(trials, "end")
  numbers <- \(v) is.double(v) && !is.object(v) && length(v) == n && all(is.finite(v))
  if (!numbers(start) || !numbers(end)) return(fault("do not have a finite start and end each"))
  if (!is.atomic(label) || length(label) != n || anyNA(label) || anyDuplicated(label)) {
    return(fault("do not have a different label each"))
  }
  if (!all(on_clock(c(start, end), x))) return(fault("do not begin and end on ticks of its clock"))
  if (any(start > end) || any(diff(start) <= 0) || any(end[-n] > start[-1L])) {
    return(fault("are reversed, not sorted, or overlap"))
  }
  if (start[[1L]] < attr(x, "start", exact = TRUE) ||
        max(end) > attr(x, "end", exact = TRUE)) {
    return(fault("do not lie within its `start` and `end`"))
  }
}

#' What is wrong with the spikes of `x`, or NULL
#'
#' @return For spikes that are there `twice`, that alone.
#' @noRd
spikes_fault <- function(x) {
  time <- .subset2(x, "time")
  unit <- .subset2(x, "unit")
  n <- length(time)
  resolution <- attr(x, "resolution", exact = TRUE)
  bounds <- interval_seconds(x)
  found <- .Call(r_check_spikes, time, unit, nlevels(unit), clock_of(resolution), bounds)
  found <- finish_status(found, "checking this recording")
  here <- \(...) list(is = paste0(..., " in row ", commas(found$row)))
  at <- \() exact(time[[found$row]])
  switch(
    found$fault,
    "not finite" = c(here("its time is ", at()), where = "is.finite(time)"),
    "off clock" = here("its time of ", at(), " s is no tick of its clock"),
    far = c(here("its time of ", at(), " s is 2^53 ticks from zero or more"), hint = remake_hint),
    unit = c(here("its unit has no name"), hint = remake_hint),
    unsorted = here("it is not sorted by time and unit"),
    outside = list(is = sprintf("it has spikes from %s to %s s, and its interval is [%s, %s] s",
                                exact(time[[1L]]), exact(time[[n]]), exact(bounds[[1L]]),
                                exact(bounds[[2L]])), hint = remake_hint),
    twice = list(twice = TRUE)
  )
}
