# The clock of a recording: seconds to ticks and back.

#' Ticks in a second when that is a whole number, else NA
#' @noRd
tick_rate <- function(resolution) {
  rate <- round(1 / resolution)
  # Doubles tell no more whole numbers apart beyond 2^53.
  if (rate >= 1 && rate < 2^53 && abs(rate * resolution - 1) <= 1e-9) rate else NA_real_
}

#' A clock as the compiled code takes it: ticks in a second, or `NA`, and seconds in a tick
#' @noRd
clock_of <- function(resolution) c(tick_rate(resolution), as.double(resolution))

ticks_to_seconds <- function(ticks, resolution) {
  rate <- tick_rate(resolution)
  # Dividing by a whole rate gives the double nearest to the decimal time (1.38056);
  # multiplying by 1e-6, which no double holds exactly, does not.
  if (is.na(rate)) ticks * resolution else ticks / rate
}

#' How times become ticks: multiplied by the first number, then divided by the second
#'
#' Whole factors are exact, so 1380.56 ms is 1380560 ticks and nothing near it.
#' @param per_second How many units of time make a second.
#' @noRd
tick_scale <- function(resolution, per_second = 1) {
  rate <- tick_rate(resolution)
  if (is.na(rate) || per_second >= 2^53) return(c(1, as.double(resolution) * per_second))
  if (rate %% per_second == 0) return(c(rate / per_second, 1))
  if (per_second %% rate == 0) return(c(1, per_second / rate))
  c(rate, per_second)
}

#' Ticks as real numbers, not yet rounded
#' @noRd
raw_ticks <- function(value, resolution, per_second = 1) {
  scale <- tick_scale(resolution, per_second)
  as.double(value) * scale[[1L]] / scale[[2L]]
}

#' Nearest tick of each time; ties go to the even tick
#' @noRd
round_to_ticks <- function(time, resolution, per_second = 1) {
  .Call(r_ticks, as.double(time), tick_scale(resolution, per_second))
}

#' Ticks of bounds that must lie on the clock
#'
#' @param value Seconds; finite.
#' @return Whole doubles. Error unless each is a whole number of ticks to within 1e-9
#'   relative, and below 2^53 in size.
#' @noRd
seconds_to_ticks <- function(value, resolution, arg = rlang::caller_arg(value)) {
  refuse_if(!is.numeric(value) || is.object(value) || !all(is.finite(value)), arg,
            "finite and in seconds", describe(value))
  raw <- raw_ticks(value, resolution)
  ticks <- round(raw)
  size <- abs(ticks)
  refuse_if(any(size >= 2^53), arg, "within 2^53 ticks of zero",
            sprintf("%s s, with ticks of %s s", exact(value[size >= 2^53][[1L]]),
                    exact(resolution)), "Give seconds, or use a coarser `resolution`.")
  # A relative bound alone would let half a tick pass beyond 5e8 ticks. What rounding
  # of the double itself can do is always forgiven.
  slack <- pmin(1e-9 * pmax(1, size), 1e-3)
  off <- which(abs(raw - ticks) > pmax(slack, 4 * .Machine$double.eps * size))
  refuse_if(length(off), arg, sprintf("a whole number of ticks of %s s", exact(resolution)),
            sprintf("%s s, which is %s ticks", exact(value[[off[[1L]]]]), exact(raw[[off[[1L]]]])),
            "Round it, or make the spike trains with a finer `resolution`.")
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

#' First and last second of the observation interval, and the same in ticks
#' @noRd
interval_seconds <- function(x) c(attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE))

interval_ticks <- function(x) {
  round_to_ticks(interval_seconds(x), attr(x, "resolution", exact = TRUE))
}

#' Length of each trial, or of the recording, in seconds
#' @noRd
lengths_of_trials <- function(x) {
  trials <- attr(x, "trials", exact = TRUE)
  if (is.null(trials)) return(attr(x, "end", exact = TRUE) - attr(x, "start", exact = TRUE))
  trials$end - trials$start
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

#' First and last ticks of the trials, or of a recording without trials
#' @noRd
stretches <- function(x) {
  of <- trial_ticks(x) %||% as.list(rlang::set_names(interval_ticks(x), c("start", "end")))
  list(start = of$start, stop = of$end)
}

#' For each spike the row of its trial, NA outside all; all 1 without trials
#'
#' @param ticks,trials What `train_ticks()` and `trial_ticks()` give, where it is there.
#' @noRd
trial_of <- function(x, ticks = train_ticks(x), trials = trial_ticks(x)) {
  if (is.null(trials)) return(rep(1L, nrow(x)))
  at <- findInterval(ticks, trials$start)
  at[at == 0L] <- NA_integer_
  at[!is.na(at) & ticks > trials$end[at]] <- NA_integer_
  at
}

#' How many spikes each unit has in trials
#' @noRd
spikes_in_trials <- function(x) {
  tabulate(as.integer(.subset2(x, "unit"))[!is.na(trial_of(x))], nlevels(.subset2(x, "unit")))
}

#' The spikes as the C entries take them
#'
#' @param unit The unit of each spike: a factor, which is not copied, serves as well.
#' @return A list: the tick, the unit's code and the trial of each spike (`NA` outside all
#'   trials; `NULL` without any), how many units there are, and the first and the last tick
#'   of each trial, or of the recording.
#' @noRd
trains_of <- function(x, unit = as.integer(x$unit)) {
  ticks <- train_ticks(x)
  trials <- trial_ticks(x)
  of <- stretches(x)
  # A tick that two trials share is the later one's.
  shared <- which(of$stop[-length(of$stop)] == of$start[-1L])
  of$stop[shared] <- of$stop[shared] - 1
  # Names of units decide nothing: recordings that differ in these alone are the same.
  list(tick = ticks, unit = unit, trial = if (!is.null(trials)) trial_of(x, ticks, trials),
       units = nlevels(x$unit), start = of$start, stop = of$stop)
}

#' Spikes of each unit in trials, or all of them without trials
#' @noRd
tabulate_units <- function(trains) {
  unit <- if (is.null(trains$trial)) trains$unit else trains$unit[!is.na(trains$trial)]
  tabulate(unit, trains$units)
}

#' How many of these spikes are in trials, or all of them without trials
#' @noRd
count_in_trials <- function(trains) {
  if (is.null(trains$trial)) length(trains$tick) else sum(!is.na(trains$trial))
}

#' Ticks of a bin
#' @noRd
check_bin_size <- function(bin_size, resolution) {
  bin_size <- check_number(bin_size, "bin_size", above = 0)
  ticks <- seconds_to_ticks(bin_size, resolution, "bin_size")
  refuse_if(ticks < 1, "bin_size", sprintf("at least a tick of %s s", exact(resolution)),
            paste(exact(bin_size), "s"))
  ticks
}

#' Seconds over which analyses look at spikes: all trials, or the observation interval
#' @noRd
observed_seconds <- function(x) {
  ticks_to_seconds(recorded_length(x), attr(x, "resolution", exact = TRUE))
}

#' The same in ticks
#' @noRd
recorded_length <- function(x) {
  of <- stretches(x)
  sum(of$stop - of$start)
}

#' How long trials are: half of the recorded time is in trials at least as long, in seconds
#' @noRd
common_length <- function(x) {
  length <- sort(lengths_of_trials(x), decreasing = TRUE)
  length[[which(cumsum(length) >= sum(length) / 2)[[1L]]]]
}

#' Ticks from one frame to the next, of times that are those of frames of a camera; else 0
#'
#' Frames need not be whole ticks apart, so a twentieth of a frame is let pass. A camera that sees
#' planes one after the other has a frame of each unit in each volume: these are longer than the
#' times from one plane to the next.
#' @noRd
frame_ticks <- function(x) {
  ticks <- train_ticks(x)
  by_unit <- order(x$unit, ticks)
  own <- diff(ticks[by_unit])[diff(as.integer(x$unit)[by_unit]) == 0L]
  round(max(frame_length(diff(ticks)), frame_length(own)))
}

#' The same of times from one event to the next, as a real number
#' @noRd
frame_length <- function(apart) {
  apart <- apart[apart > 0]
  if (length(apart) < 100L) return(0)
  frame <- min(apart)
  frames <- apart / frame
  short <- frames < 10
  if (mean(short) < 0.1 || mean(abs(frames - round(frames))[short] < 0.05) < 0.99) return(0)
  stats::median((apart / round(frames))[short])
}
