# Spikes that name their trial: which clock their times count on, and when the trials are.

#' Ticks on the recording's clock, and its trials, of spikes that name their trial
#'
#' @param ticks The times as given, in ticks, in any order.
#' @param trial The trial of each, `NA` outside of all.
#' @param trials `NULL`, or the user's table: with `start` and `end` in seconds, or, for
#'   times that count from the start of each trial, without both.
#' @param start,end What the user gave: of each trial, where times count from the start of each.
#' @return `ticks`, `trials`, `start` and `end`, as `build_spike_trains()` takes them.
#' @noRd
place_trials <- function(ticks, trial, trials = NULL, trial_clock = NULL, trial_window = NULL,
                         start = NULL, end = NULL, resolution = 1e-6) {
  if (!is.null(trial_clock)) check_choice(trial_clock, c("recording", "trial"))
  label <- trial_labels(trial, length(ticks))
  bounds_known <- is.data.frame(trials) && all(c("start", "end") %in% names(trials))
  if (bounds_known) {
    refuse_if(!is.null(trial_window), "trial_window",
              "left out where `trials` says when each trial starts and ends", "given")
    placed <- place_in_table(ticks, label, trials, trial_clock, resolution)
  } else {
    table <- labels_table(label, trials)
    code <- table$row[label$code]
    clock <- trial_clock %||% clock_of_labels(ticks, code, nrow(table$trials))
    say <- is.null(trial_clock)
    if (clock == "trial" && is.null(trial_window) && !(is.null(start) && is.null(end))) {
      window <- bounds_of_each(ticks, start, end, resolution)
      return(lay_out(ticks, code, table$trials, window, resolution, say,
                     if (is.null(start)) "end" else "start"))
    }
    place <- if (clock == "recording") trials_from_spikes else lay_out
    placed <- place(ticks, code, table$trials, trial_window, resolution, say)
  }
  c(placed, list(start = start, end = end))
}

#' Start and end of each trial, in seconds, of which at least one is given
#' @noRd
bounds_of_each <- function(ticks, start, end, resolution) {
  window <- if (is.null(start) || is.null(end)) {
    ticks_to_seconds(trial_window_ticks(ticks, NULL, resolution), resolution)
  }
  c(if (is.null(start)) window[[1L]] else check_number(start),
    if (is.null(end)) window[[2L]] else check_number(end))
}

#' Error where arguments on trials come without the trial of each spike
#' @noRd
check_no_trial <- function(trial_clock, trial_window) {
  arg <- if (!is.null(trial_clock)) "trial_clock" else if (!is.null(trial_window)) "trial_window"
  refuse_if(!is.null(arg), arg, "left out unless `trial` gives the trial of each spike", "given",
            "Give `trial`, a vector as long as `time`.")
}

#' The distinct labels in their order, and the place of each spike's among them
#' @noRd
trial_labels <- function(trial, n) {
  plain <- is.character(trial) || is.factor(trial) || is.logical(trial) ||
    is_plain_numeric(trial)
  refuse_if(!plain || length(trial) != n, "trial",
            sprintf("a vector as long as `time` (%s) with the trial of each spike", commas(n)),
            if (plain) sprintf("of length %s", commas(length(trial))) else describe(trial))
  if (is.factor(trial)) {
    values <- levels(trial)
    return(list(values = values, text = values, code = as.integer(trial)))
  }
  refuse_if(is.numeric(trial) && any(is.infinite(trial)), "trial",
            "the number or name of a trial, or NA", "infinite for some spikes")
  trial <- as.vector(trial)
  values <- unique(trial[!is.na(trial)])
  values <- values[if (is.character(values)) natural_order(values) else order(values)]
  list(values = values, text = label_text(values), code = match(trial, values))
}

#' Rows of the user's table, in seconds, for labels without times
#'
#' @return `trials` without bounds, and for each label its `row`.
#' @noRd
labels_table <- function(label, trials) {
  if (is.null(trials)) {
    return(list(trials = data.frame(trial = label$values), row = seq_along(label$values)))
  }
  refuse_if(!is.data.frame(trials) || !"trial" %in% names(trials) ||
              any(c("start", "end") %in% names(trials)), "trials",
            paste("a data frame with the columns `start` and `end` (seconds), or,",
                  "beside `trial`, at least with the column `trial`"), some_columns(trials))
  trials <- as.data.frame(trials)
  list(trials = trials, row = rows_of_labels(label, trials$trial))
}

#' Row of the table of trials for each label
#' @noRd
rows_of_labels <- function(label, of_table) {
  row <- match(label$text, label_text(of_table))
  unknown <- label$text[is.na(row) & seq_along(row) %in% label$code]
  refuse_if(length(unknown), "trial", "among the labels of the table `trials`",
            sprintf("not, for %s: %s", counted(length(unknown), "label"), some(unknown)),
            sprintf("The labels of `trials` are %s.", some(label_text(of_table))))
  row
}

# ---- Trials whose bounds are known -------------------------------------------------------

place_in_table <- function(ticks, label, trials, trial_clock, resolution) {
  trials <- check_trials(trials, resolution)
  row <- rows_of_labels(label, trials$trial)[label$code]
  as_given <- wrong_places(ticks, row, trials)
  shifted <- ticks + trials$start[row]
  from_start <- if (anyNA(row)) length(row) else wrong_places(shifted, row, trials)
  clock <- trial_clock %||%
    clock_in_table(as_given, from_start, identical(shifted, ticks), length(ticks))
  wrong <- if (clock == "trial") from_start else as_given
  if (wrong > 0) abort_places(clock, wrong, row)
  if (clock == "trial" && is.null(trial_clock)) {
    tell_trials("Times count from the start of each trial: on the clock of the recording %s",
                sprintf("%s of %s would lie outside of the trial they name.",
                        commas(as_given), counted(length(ticks), "spike")))
  }
  trials$start <- ticks_to_seconds(trials$start, resolution)
  trials$end <- ticks_to_seconds(trials$end, resolution)
  list(ticks = if (clock == "trial") shifted else ticks, trials = trials)
}

#' How many spikes are not in the trial that they name, or are in one and name none
#' @noRd
wrong_places <- function(ticks, row, trials) {
  named <- !is.na(row)
  outside <- ticks < trials$start[row] | ticks > trials$end[row]
  at <- if (all(named)) integer() else findInterval(ticks[!named], trials$start)
  sum(outside[named]) + sum(at > 0L & ticks[!named] <= c(NA, trials$end)[at + 1L], na.rm = TRUE)
}

#' The clock on which all spikes lie in their trials, or an error
#' @noRd
clock_in_table <- function(as_given, from_start, same, n) {
  if (as_given == 0 && (from_start > 0 || same)) return("recording")
  if (from_start == 0 && as_given > 0) return("trial")
  if (as_given == 0) abort_clock("each spike lies in the trial that it names on both clocks")
  abort_clock(sprintf(paste(
    "the times fit neither clock: of %s, %s would not lie in the trial that they name on the",
    "recording's clock, and %s if times counted from the start of each trial"
  ), counted(n, "spike"), commas(as_given), commas(from_start)))
}

abort_places <- function(clock, wrong, row) {
  refuse_if(clock == "trial" && anyNA(row), "trial",
            "given for each spike, as times count from the start of its trial",
            sprintf("missing for %s", counted(sum(is.na(row)), "spike")),
            "Drop these spikes first.")
  abort_arg(
    "trial", "the trial in which each spike lies, as `trials` says when it starts and ends",
    sprintf("another for %s of %s", commas(wrong), counted(length(row), "spike")),
    if (clock == "trial") {
      paste("Times are taken from the start of each trial. Widen the trials, drop these",
            "spikes, or say `trial_clock = \"recording\"`.")
    } else {
      paste("Times are taken on the recording's clock. Widen the trials, leave `trial` out,",
            "or say `trial_clock = \"trial\"` where times count from the start of each trial.")
    }
  )
}

# ---- Trials whose bounds are not known ---------------------------------------------------

#' The only clock that the times of these trials can count on, or an error
#'
#' Trials of one recording do not overlap, so times that do count from the start of each.
#' Times of a clock that restarts may miss each other by chance; how likely that is follows
#' from the number of orders in which the spikes of all trials could come.
#' @noRd
clock_of_labels <- function(ticks, code, n) {
  spikes <- tabulate(code, n)
  held <- which(spikes > 0L)
  if (length(held) < 2L) return("recording")
  span <- trial_spans(ticks, code, n)
  low <- span$low[held]
  high <- span$high[held]
  o <- order(low, high)
  apart <- low[o][-1L] > high[o][-length(o)]
  if (!all(apart)) return("trial")
  chance <- lgamma(length(held) + 1) + sum(lgamma(spikes[held] + 1)) - lgamma(sum(spikes) + 1)
  if (chance > log(1e-6)) {
    abort_clock(sprintf("that %s of %s do not overlap in time may be chance",
                        counted(length(held), "trial"), counted(sum(spikes), "spike")))
  }
  "recording"
}

abort_clock <- function(is) {
  abort_arg("trial_clock", "given, as the times do not show on which clock they count",
            paste("NULL, and", is),
            paste("Say `trial_clock = \"recording\"` for times on one clock for all trials, or",
                  "`trial_clock = \"trial\"` for times from the start of each trial."))
}

#' First and last tick of each trial; NA without spikes
#' @noRd
trial_spans <- function(ticks, code, n) {
  o <- order(code, ticks, method = "radix", na.last = NA)
  last <- cumsum(tabulate(code, n))
  first <- c(0L, last[-n]) + 1L
  empty <- first > last
  list(low = replace(ticks[o][pmin(first, length(o))], empty, NA),
       high = replace(ticks[o][pmax(last, 1L)], empty, NA))
}

#' Trials from their first to their last spike, on the recording's clock
#' @noRd
trials_from_spikes <- function(ticks, code, trials, trial_window, resolution, say) {
  refuse_if(!is.null(trial_window), "trial_window", "left out for times on the recording's clock",
            "given", paste("Say when each trial starts and ends with `trials`, or say",
                           "`trial_clock = \"trial\"` for times from the start of each trial."))
  span <- trial_spans(ticks, code, nrow(trials))
  refuse_if(anyNA(span$low), "trials", "a table that says when each trial starts and ends",
            sprintf("one without, and %s without spikes: %s",
                    counted(sum(is.na(span$low)), "trial"),
                    some(label_text(trials$trial)[is.na(span$low)])),
            "Add the columns `start` and `end`, in seconds.")
  if (say) {
    tell_trials("Times count on the clock of the recording, as no two trials overlap. %s",
                paste("Each trial is taken from its first to its last spike;",
                      "`trials` can say when it starts and ends."))
  }
  o <- order(span$low, span$high)
  refuse_if(any(span$low[o][-1L] < span$high[o][-length(o)]), "trial_clock",
            "\"trial\", as trials overlap on one clock", "\"recording\"",
            "Trials of one recording come one after the other.")
  trials$start <- ticks_to_seconds(span$low, resolution)
  trials$end <- ticks_to_seconds(span$high, resolution)
  list(ticks = ticks, trials = trials)
}

#' Trials one after the other on one clock, each as long as the window
#'
#' A gap of at least a second follows each, so that nothing reaches across.
#' @noRd
lay_out <- function(ticks, code, trials, trial_window, resolution, say, arg = "trial_window") {
  if (anyNA(code)) abort_places("trial", sum(is.na(code)), code)
  window <- trial_window_ticks(ticks, trial_window, resolution, arg)
  period <- window[[2L]] - window[[1L]] + max(1, ceiling(raw_ticks(1, resolution)))
  shift <- (seq_len(nrow(trials)) - 1) * period
  if (say) {
    seconds <- exact(ticks_to_seconds(c(window, period), resolution))
    tell_trials("Times count from the start of each trial, as trials overlap on one clock. %s",
                sprintf("They are laid one after the other, a trial of %s to %s s every %s s.",
                        seconds[[1L]], seconds[[2L]], seconds[[3L]]))
  }
  trials$start <- ticks_to_seconds(window[[1L]] + shift, resolution)
  trials$end <- ticks_to_seconds(window[[2L]] + shift, resolution)
  list(ticks = ticks + shift[code], trials = trials, shift = shift)
}

#' First and last tick of a trial on its own clock
#' @noRd
trial_window_ticks <- function(ticks, trial_window, resolution, arg = "trial_window") {
  if (is.null(trial_window)) {
    refuse_if(length(ticks) == 0L, "trial_window", "given, in seconds, when there are no spikes",
              "NULL")
    # Outwards to whole seconds, and then onto the clock, also outwards.
    times <- ticks_to_seconds(range(ticks), resolution)
    window <- raw_ticks(c(floor(min(0, times)), ceiling(times[[2L]])), resolution)
    slack <- 1e-9 * pmax(1, abs(window))
    return(c(floor(window[[1L]] + slack[[1L]]), ceiling(window[[2L]] - slack[[2L]])))
  }
  refuse_if(!is_plain_numeric(trial_window) || length(trial_window) != 2L, "trial_window",
            "two numbers, the start and end of a trial in seconds", describe(trial_window))
  window <- seconds_to_ticks(trial_window, resolution, arg)
  refuse_if(window[[1L]] > window[[2L]], arg, "a start at or before the end",
            sprintf("c(%s, %s)", exact(trial_window[[1L]]), exact(trial_window[[2L]])))
  outside <- sum(ticks < window[[1L]] | ticks > window[[2L]])
  refuse_if(outside > 0L, arg, "wide enough for all spikes",
            sprintf("too narrow for %s of %s", commas(outside), commas(length(ticks))),
            if (arg != "trial_window") {
              "Times count from the start of each trial, and so do `start` and `end`."
            })
  window
}

# ---- Messages --------------------------------------------------------------------------

#' A message about trials; the second part goes where `%s` stands in the first
#' @noRd
tell_trials <- function(text, more) info("trials", escape_braces(sprintf(text, more)))

#' Says once, when a recording is made, how many spikes lie outside of its trials
#' @noRd
tell_outside <- function(x) {
  if (is.null(attr(x, "trials", exact = TRUE))) return(invisible())
  outside <- sum(is.na(trial_of(x)))
  if (outside > 0L) {
    tell_trials(paste("%s lie outside of all trials. They stay in the table,",
                      "and no analysis uses them."),
                sprintf("%s of %s", commas(outside), counted(nrow(x), "spike")))
  }
}
