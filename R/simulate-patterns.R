# Background activity with planted spatio-temporal patterns.

#' Simulate spike trains with planted spatio-temporal patterns
#'
#' Independent Poisson trains in which groups of units fire with fixed lags again and
#' again: what the spike pattern method (SPADE of Torre, Quaglio, Stella and colleagues)
#' looks for.
#'
#' A pattern occurs at times drawn uniformly over the recording, with at least its own
#' length plus `gap` between the beginnings of two of its occurrences, so that they never
#' overlap.
#' Lags that are whole multiples of a bin size fall on the same bin offsets in every
#' occurrence, wherever in a bin it begins, as long as `jitter` is 0.
#'
#' @param duration Length of the recording, in seconds.
#' @param units Number of units, named `u01`, `u02`, ...
#' @param rate Background rate, in Hz: one number, or one for each unit.
#' @param patterns List of patterns, each a list of `units` (numbers or names), `lags`
#'   (seconds after the first spike; as many as units, the first one 0, none decreasing) and
#'   `count` (how often it occurs).
#' @param jitter Each planted spike is moved by a time uniform between minus and plus
#'   this, in seconds.
#' @param gap Least time between two occurrences of a pattern, in seconds.
#' @param resolution Length of a tick, in seconds.
#'
#' @return [spike_trains()] with the attribute `truth`, a list: `patterns` (as planted,
#'   with the names of the units, and the `times` at which the occurrences begin, in
#'   seconds), `spikes` (data frame of the planted spikes: `pattern`, `occurrence`,
#'   `position`, `unit`, `time`) and the `key` of the random numbers. [set.seed()]
#'   decides all.
#'
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation
#' of synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Stella A, Quaglio P, Torre E, Gruen S (2019). 3d-SPADE: significance evaluation of
#' spatio-temporal patterns of various temporal extents. *Biosystems*, 185, 104022.
#' \doi{10.1016/j.biosystems.2019.104022}
#'
#' @seealso [simulate_sym26()], [simulate_culture()]
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(
#'   duration = 20, units = 10,
#'   patterns = list(list(units = c(2, 5, 7), lags = c(0, 0.005, 0.020), count = 15))
#' )
#' x
#' attr(x, "truth")$patterns[[1]]$times
#' @export
simulate_patterns <- function(duration = 60, units = 20, rate = 5,
                              patterns = list(list(
                                units = 1:5, lags = c(0, 0.005, 0.010, 0.020, 0.025),
                                count = 40
                              )),
                              jitter = 0, gap = 0.001, resolution = 1e-6) {
  duration <- check_number(duration, above = 0)
  units <- check_count(units, max = 1e5)
  rate <- check_rates(rate, units, "rate")
  jitter <- check_number(jitter, min = 0, max = 1e9)
  gap <- check_number(gap, min = 0)
  resolution <- check_resolution(resolution)
  levels <- numbered_units("u", units)
  last_tick <- check_duration(duration, resolution)
  gap_ticks <- seconds_to_ticks(gap, resolution, "gap")
  refuse_if(!is.list(patterns) || is.object(patterns), "patterns", "a list of patterns",
            describe(patterns))
  patterns <- lapply(seq_along(patterns), \(k) {
    check_pattern(patterns[[k]], sprintf("patterns[[%d]]", k), levels, resolution,
                  last_tick, gap_ticks)
  })
  planted <- vapply(patterns, \(p) p$count * length(p$units), numeric(1))
  check_expected(sum(rate * duration) + sum(planted), duration, "`rate` and the `count`")

  key <- random_key()
  base <- spread_arrivals(rate * duration, key, sim_stream(30))
  spikes <- lapply(seq_along(patterns), \(k) {
    p <- patterns[[k]]
    n <- p$count
    size <- length(p$units)
    start <- spaced_ticks(n, last_tick - p$span, p$span + gap_ticks + 1, key, sim_stream(31, k))
    shift <- if (jitter > 0) {
      round_to_ticks((2 * random_uniform(n * size, key, sim_stream(32, k)) - 1) * jitter,
                     resolution)
    } else {
      0
    }
    tick <- rep(start, each = size) + rep(p$lag_ticks, n) + shift
    data.frame(
      pattern = rep(k, n * size), occurrence = rep(seq_len(n), each = size),
      position = rep(seq_len(size), n), unit = factor(rep(p$units, n), levels),
      tick = pmin(pmax(tick, 0), last_tick), start = rep(start, each = size)
    )
  })
  patterns <- lapply(seq_along(patterns), \(k) {
    c(patterns[[k]][c("units", "lags", "count")],
      list(times = ticks_to_seconds(unique(spikes[[k]]$start), resolution)))
  })
  none <- data.frame(pattern = integer(), occurrence = integer(), position = integer(),
                     unit = factor(character(), levels), tick = numeric(), start = numeric())
  spikes <- do.call(rbind, c(list(none), spikes))
  spikes$time <- ticks_to_seconds(spikes$tick, resolution)
  truth <- list(patterns = patterns,
                spikes = spikes[c("pattern", "occurrence", "position", "unit", "time")], key = key)
  simulated(c(round_to_ticks(base$within * duration, resolution), spikes$tick),
            c(base$part, as.integer(spikes$unit)), levels, duration, resolution, truth)
}

#' One pattern with unit names, and its lags in ticks
#' @noRd
check_pattern <- function(pattern, arg, levels, resolution, last_tick, gap_ticks) {
  refuse_if(!is.list(pattern) || !all(c("units", "lags", "count") %in% names(pattern)), arg,
            "a list of `units`, `lags` and `count`", describe(pattern))
  units <- pattern$units
  if (is_plain_numeric(units)) units <- levels[match(units, seq_along(levels))]
  if (is.factor(units)) units <- as.character(units)
  refuse_if(!is.character(units) || length(units) < 1L || !all(units %in% levels),
            paste0(arg, "$units"),
            sprintf("numbers from 1 to %d or names of units", length(levels)),
            describe(pattern$units))
  lag_ticks <- check_member_lags(pattern$lags, length(units), paste0(arg, "$lags"), resolution)
  count <- check_count(pattern$count, paste0(arg, "$count"))
  span <- lag_ticks[[length(lag_ticks)]]
  most <- floor((last_tick + gap_ticks + 1) / (span + gap_ticks + 1))
  refuse_if(count > most, paste0(arg, "$count"),
            sprintf("at most %.0f, or they would overlap", most), format(count),
            "Give a longer `duration`.")
  list(units = units, lags = as.double(pattern$lags), count = count,
       lag_ticks = lag_ticks, span = span)
}
