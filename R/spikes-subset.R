# Parts of recordings: rows and columns, ranges of time, units, and trials.

#' @rdname spike_trains
#'
#' @param x A `spike_trains` object.
#' @param i,j Rows and columns, as for a data frame.
#' @param ... Not used; must be empty.
#' @param drop As for a data frame.
#' @export
`[.spike_trains` <- function(x, i, j, ..., time, unit, trial, drop) {
  check_no_dots()
  by_name <- sum(!missing(time), !missing(unit), !missing(trial))
  n_index <- nargs() - 1L - by_name - !missing(drop)
  if (by_name > 0L) {
    if (!missing(i) || !missing(j)) abort_about(
      "argument", "Rows and columns cannot be chosen together with {.arg time}, {.arg unit} or
                   {.arg trial}.",
      i = "Do one after the other: {.code x[time = c(0, 10)][1:5, ]}."
    )
    check_spike_trains(x, "x")
    if (!missing(trial)) x <- keep_trials(x, rlang::enquo(trial))
    if (!missing(time)) x <- keep_time(x, time)
    if (!missing(unit)) x <- keep_units(x, rlang::enquo(unit))
    return(x)
  }

  check_spike_trains(x, "x")
  # What the indices themselves raise is theirs.
  if (!missing(i)) force(i)
  if (!missing(j)) force(j)
  plain <- bare_columns(x)
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
                           "not, for some")
  )
  if (!is.data.frame(out) || !identical(sort(names(out)), c("time", "unit"))) return(out)
  refuse_if(anyNA(out$time), "i", sprintf("rows between 1 and %s", commas(nrow(x))),
            "beyond them for some")
  resolution <- attr(x, "resolution", exact = TRUE)
  kept <- spikes_like(x, round_to_ticks(out$time, resolution), out$unit)
  with_columns(kept, unclass(kept)[names(out)])
}

keep_time <- function(x, time, arg = "time") {
  resolution <- attr(x, "resolution", exact = TRUE)
  refuse_if(!is.numeric(time) || is.object(time) || length(time) != 2L || anyNA(time), arg,
            "two numbers, the first and last second to keep", describe(time))
  bounds <- interval_ticks(x)
  range <- as.double(time)
  said <- sprintf("c(%s, %s)", exact(time[[1L]]), exact(time[[2L]]))
  refuse_if(range[[1L]] > range[[2L]], arg,
            "a range whose first bound is at or before its second", said)
  range <- c(ticks_inside(range[[1L]], ceiling, resolution),
             ticks_inside(range[[2L]], floor, resolution))
  refuse_if(range[[1L]] > range[[2L]], arg,
            sprintf("a range with at least a tick of %s s in it", exact(resolution)), said)
  refuse_if(range[[1L]] > bounds[[2L]] || range[[2L]] < bounds[[1L]], arg,
            sprintf("a range that meets the recording, [%s] s",
                    toString(exact(ticks_to_seconds(bounds, resolution)))), said)
  range <- c(max(range[[1L]], bounds[[1L]]), min(range[[2L]], bounds[[2L]]))

  trials <- trial_ticks(x)
  if (!is.null(trials)) {
    trials <- trials[trials$end >= range[[1L]] & trials$start <= range[[2L]], , drop = FALSE]
    trials$start <- ticks_to_seconds(pmax(trials$start, range[[1L]]), resolution)
    trials$end <- ticks_to_seconds(pmin(trials$end, range[[2L]]), resolution)
    # A trial that only touched the range must not turn into a second start there.
    trials <- trials[!duplicated(trials$start, fromLast = TRUE), , drop = FALSE]
    rownames(trials) <- NULL
    refuse_if(nrow(trials) == 0L, arg, "a range that meets at least one trial",
              paste0(said, ", which lies between trials"))
  }
  ticks <- train_ticks(x)
  keep <- ticks >= range[[1L]] & ticks <= range[[2L]]
  spikes_like(x, ticks[keep], .subset2(x, "unit")[keep], sound = TRUE, trials = trials,
              start = ticks_to_seconds(range[[1L]], resolution),
              end = ticks_to_seconds(range[[2L]], resolution))
}

#' The tick at a bound, or the next one inside where it lies between two; infinite ones stay
#' @param inwards `ceiling()` or `floor()`.
#' @noRd
ticks_inside <- function(bound, inwards, resolution) {
  raw <- raw_ticks(bound, resolution)
  if (!is.finite(raw)) return(raw)
  near <- round(raw)
  # As near to a tick as bounds that have to be on one.
  slack <- max(min(1e-9 * max(1, abs(near)), 1e-3), 4 * .Machine$double.eps * abs(near))
  if (abs(raw - near) <= slack) near else inwards(raw)
}

keep_units <- function(x, chosen) {
  all_units <- levels(.subset2(x, "unit"))
  table <- attr(x, "unit_table", exact = TRUE)
  unit <- chosen_rows(chosen, table, "unit", "unit_table(x)")
  if (is.logical(unit)) unit <- all_units[unit]
  unit <- unique(label_text(unit))
  refuse_if(length(unit) == 0L || anyNA(unit), "unit",
            "the names of one or more units, or a condition on `unit_table(x)`", "none")
  unknown <- setdiff(unit, all_units)
  refuse_if(length(unknown), "unit",
            sprintf("among the %s units of the recording", commas(length(all_units))),
            sprintf("not, for %s", some(encodeString(unknown, quote = "\""))),
            sprintf("Units: %s.", some(all_units)))
  code <- match(all_units, unit)[as.integer(.subset2(x, "unit"))]
  keep <- !is.na(code)
  spikes_like(x, train_ticks(x)[keep], as_factor(code[keep], unit),
              unit_table = if (!is.null(table)) {
                in_order_of_units(table, as.character(table$unit), unit)
              })
}

#' The chosen trials, their spikes, and the interval from the first to the last of them
#' @noRd
keep_trials <- function(x, chosen) {
  trials <- attr(x, "trials", exact = TRUE)
  refuse_if(is.null(trials), "trial", "left out for a recording without trials", "given",
            "Make it with `trials`, a table of when each trial starts and ends.")
  trial <- chosen_rows(chosen, trials, "trial", "trial_table(x)")
  row <- if (is.logical(trial)) which(trial) else rows_of_trials(trial, trials)
  refuse_if(length(row) == 0L, "trial", "one or more trials, or a condition on `trial_table(x)`",
            "none")
  kept <- trials[sort(unique(row)), , drop = FALSE]
  row.names(kept) <- NULL
  keep <- trial_of(x) %in% row
  # Of a tick that two trials share, the earlier one has no spikes.
  spikes_like(x, train_ticks(x)[keep], .subset2(x, "unit")[keep], sound = TRUE, trials = kept,
              start = min(kept$start), end = max(kept$end))
}

#' Rows of trials by label, or, where no label is a number, by number
#' @noRd
rows_of_trials <- function(trial, trials) {
  plain <- is_plain_numeric(trial) || is.character(trial) || is.factor(trial)
  label <- label_text(trial)
  refuse_if(!plain || anyNA(label) || length(label) == 0L, "trial",
            "labels or numbers of trials, or a condition on `trial_table(x)`",
            if (plain) "missing for some, or empty" else describe(trial))
  known <- label_text(trials$trial)
  row <- match(label, known)
  if (is.numeric(trial) && all(is.na(suppressWarnings(as.double(known))))) {
    row <- match(trial, seq_along(known))
  }
  refuse_if(anyNA(row), "trial",
            sprintf("among the %s of the recording", counted(length(known), "trial")),
            sprintf("not, for %s", some(encodeString(label[is.na(row)], quote = "\""))),
            sprintf("Trials: %s.", some(known)))
  row
}

#' What was chosen: for a condition TRUE or FALSE for each row of the table, else the value
#'
#' An expression is a condition where it gives logical values in a table's own columns.
#' Everything else is evaluated where the caller stands, so that a vector of names may be
#' called `unit` as the column is.
#' @noRd
chosen_rows <- function(chosen, table, arg, of) {
  condition <- NULL
  if (is.data.frame(table) && !rlang::quo_is_symbolic(chosen)) table <- NULL
  if (is.data.frame(table)) {
    condition <- tryCatch(rlang::eval_tidy(chosen, table), error = \(e) NULL)
  }
  if (!is.logical(condition)) {
    value <- tryCatch(rlang::eval_tidy(chosen), error = \(e) {
      # What this package says of it is clear already.
      if (inherits(e, "synfire_error")) rlang::cnd_signal(e)
      abort_arg(arg, sprintf("names, or a condition on the columns of `%s`", of),
                sprintf("what cannot be evaluated: %s", conditionMessage(e)),
                if (is.data.frame(table)) sprintf("Its columns are %s.",
                                                  some(names(table), 12L)) else
                  sprintf("`%s` is NULL, so there is nothing to set conditions on.", of))
    })
    if (!is.logical(value)) return(value)
    condition <- value
  }
  n <- if (is.data.frame(table)) nrow(table)
  refuse_if(!identical(length(condition), n), arg,
            sprintf("names, or a condition with a value for each row of `%s`", of),
            paste("logical, of length", commas(length(condition))))
  condition & !is.na(condition)
}
