# Inter-spike intervals: statistics of each unit, and bursts.

#' Intervals between the spikes of each unit, within trials
#'
#' @return A list, intervals unit after unit in order of time: `interval` (ticks), `unit`
#'   (code), `follows` (whether it begins where the interval before it ends), and `from`,
#'   the tick at which it begins.
#' @noRd
intervals_of <- function(x) {
  ticks <- train_ticks(x)
  code <- as.integer(.subset2(x, "unit"))
  trial <- trial_of(x, ticks)
  inside <- which(!is.na(trial))
  o <- inside[order(code[inside], method = "radix")]  # stable: time order within a unit
  n <- length(o)
  if (n < 2L) {
    return(list(interval = numeric(), unit = integer(), follows = logical(), from = numeric()))
  }
  here <- o[-n]
  after <- o[-1L]
  together <- code[here] == code[after] & trial[here] == trial[after]
  at <- which(together)
  list(interval = ticks[after[at]] - ticks[here[at]], unit = code[here[at]],
       follows = c(FALSE, diff(at) == 1L)[seq_along(at)], from = ticks[here[at]])
}

#' A bound on whole ticks, given in seconds: within rounding of a tick, that tick
#' @noRd
bound_ticks <- function(seconds, resolution) {
  raw <- raw_ticks(seconds, resolution)
  whole <- round(raw)
  if (abs(raw - whole) <= 1e-9 * max(1, whole)) whole else raw
}

#' The first and the last of values in order of time, for each unit; NA for a silent one
#' @noRd
first_and_last <- function(value, unit, n_units) {
  first <- last <- rep(NA_real_, n_units)
  first[rev(unit)] <- rev(value)
  last[unit] <- value
  list(first = first, last = last)
}

#' Sums of values by the code of their unit
#' @noRd
sum_by_unit <- function(value, unit, n_units) {
  out <- numeric(n_units)
  sums <- rowsum(as.double(value), unit)
  out[as.integer(rownames(sums))] <- sums
  out
}

#' Statistics of inter-spike intervals
#'
#' How regularly each unit fires, and how many of its intervals are too short for a single
#' neuron. Only intervals between two spikes in the same trial count.
#'
#' `cv` is the standard deviation of the intervals divided by their mean: about 1 for a
#' Poisson process, less for a regular unit, more for bursts and for rates that change.
#' `cv2` (Holt et al. 1996) and `lv` (Shinomoto et al. 2003) compare each interval with
#' the next one, so that a slow drift of the rate hardly changes them. For two
#' neighbouring intervals a and b, `cv2` is the mean of 2 |a - b| / (a + b), and `lv` that
#' of 3 ((a - b) / (a + b))^2. Both are about 1 for a Poisson process.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param refractory Intervals shorter than this, in seconds, are counted as violations of
#'   the refractory period: two spikes of one neuron are rarely so close, so that many
#'   such intervals suggest that the unit mixes several neurons, or noise.
#' @return A data frame of class `isi_statistics` with a row for each unit, silent ones too,
#'   and the columns
#'   * `unit`: factor with the levels of `x`;
#'   * `spikes`: number of spikes in trials, or of all without trials;
#'   * `intervals`: number of intervals;
#'   * `mean`, `median`: of the intervals, in seconds; NA without intervals;
#'   * `cv`: NA below two intervals;
#'   * `cv2`, `lv`: NA without two intervals that follow one another;
#'   * `violations`: number of intervals shorter than `refractory`;
#'   * `violation_share`: the same as a share of all intervals; NA without intervals.
#'
#'   Attributes: `histogram`, a list of `from` and `to` (s) of bins of intervals and `count`, a
#'   matrix of bins x units; `refractory`; and `seconds`, the recorded time.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @references
#' Holt GR, Softky WR, Koch C, Douglas RJ (1996). Comparison of discharge variability in
#' vitro and in vivo in cat visual cortex neurons. *Journal of Neurophysiology*, 75,
#' 1806-1814.
#' \doi{10.1152/jn.1996.75.5.1806}
#'
#' Shinomoto S, Shima K, Tanji J (2003). Differences in spiking patterns among cortical
#' neurons. *Neural Computation*, 15, 2823-2842. \doi{10.1162/089976603322518759}
#' @seealso [autoplot.isi_statistics()] for pictures; [bursts()]; [check_recording()], which says
#'   what is implausible.
#' @examples
#' isi_statistics(mouse)
#' @export
isi_statistics <- function(x, refractory = 0.002) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  refractory <- check_number(refractory, min = 0)
  isi <- intervals_of(x)
  seconds <- ticks_to_seconds(isi$interval, attr(x, "resolution", exact = TRUE))
  new_table(isi_table(x, isi, refractory), "isi_statistics", about = list(
    histogram = interval_histogram(seconds, isi$unit, nlevels(x$unit)), refractory = refractory,
    seconds = observed_seconds(x)
  ))
}

#' Histograms of intervals in seconds, eight bins a factor of ten
#'
#' @return A list: `from` and `to` of each bin, in seconds, and `count`, bins x units.
#' @noRd
interval_histogram <- function(seconds, unit, n_units) {
  # Rounding must not put a decade into the bin before.
  cell <- floor(8 * log10(seconds) + 1e-9)
  cells <- if (length(cell)) seq.int(min(cell), max(cell)) else numeric()
  at <- cell - cells[1L] + 1 + (unit - 1) * length(cells)
  list(from = 10^(cells / 8), to = 10^((cells + 1) / 8),
       count = matrix(tabulate(at, length(cells) * n_units), length(cells), n_units))
}

isi_table <- function(x, isi, refractory) {
  resolution <- attr(x, "resolution", exact = TRUE)
  units <- levels(.subset2(x, "unit"))
  n <- length(units)
  of_unit <- \(v, unit = isi$unit) sum_by_unit(v, unit, n)
  intervals <- tabulate(isi$unit, n)
  mean <- of_unit(isi$interval) / intervals
  sd <- sqrt(of_unit((isi$interval - mean[isi$unit])^2) / (intervals - 1))
  sd[intervals < 2L] <- NA
  second <- which(isi$follows)
  pairs <- tabulate(isi$unit[second], n)
  a <- isi$interval[second - 1L]
  b <- isi$interval[second]
  ratio <- abs(a - b) / (a + b)
  short <- of_unit(isi$interval < bound_ticks(refractory, resolution))
  empty <- \(v, n) replace(as.double(v), n == 0, NA)
  data.frame(unit = factor(units, levels = units),
             spikes = spikes_in_trials(x), intervals = intervals,
             mean = empty(ticks_to_seconds(mean, resolution), intervals),
             median = ticks_to_seconds(median_by_unit(isi, intervals), resolution),
             cv = sd / mean, cv2 = empty(2 * of_unit(ratio, isi$unit[second]) / pairs, pairs),
             lv = empty(3 * of_unit(ratio^2, isi$unit[second]) / pairs, pairs),
             violations = as.integer(short),
             violation_share = empty(short / intervals, intervals))
}

median_by_unit <- function(isi, intervals) {
  sorted <- isi$interval[order(isi$unit, isi$interval, method = "radix")]
  last <- cumsum(intervals)
  low <- last - intervals + (intervals + 1L) %/% 2L
  high <- last - intervals + intervals %/% 2L + 1L
  out <- rep(NA_real_, length(intervals))
  some <- intervals > 0L
  out[some] <- (sorted[low[some]] + sorted[high[some]]) / 2
  out
}

#' Bursts of each unit
#'
#' Finds stretches in which a unit fires much faster than at other times, by the maximum
#' interval method. The default thresholds are those of NeuroExplorer. Cotterill et al.
#' (2016) compared eight methods on cultures of neurons, and this one was among the best.
#' Its thresholds do not adapt to each unit, so that a part of a recording has the same
#' bursts as the whole.
#'
#' A burst begins with an interval of at most `max_start`, and goes on as long as
#' intervals are at most `max_within`. Then bursts less than `min_between` apart are
#' joined. Finally, bursts that are shorter than `min_duration` or have fewer than
#' `min_spikes` spikes are dropped. No burst goes on from one trial into the next. The
#' thresholds suit units that fire slowly between their bursts: a unit that steadily fires
#' at more than 1 / `max_within` Hz may have one burst as long as the recording.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param max_start Longest interval at which a burst begins, in seconds.
#' @param max_within Longest interval within a burst, in seconds; at least `max_start`.
#' @param min_between Shortest time from the end of a burst to the start of the next one,
#'   in seconds.
#' @param min_duration Shortest burst, in seconds.
#' @param min_spikes Fewest spikes of a burst.
#' @return A data frame of class `bursts` with a row for each burst, by unit and time, and the
#'   columns
#'   * `unit`: factor with the levels of `x`;
#'   * `start`, `end`: times of its first and last spike, in seconds;
#'   * `duration`: from the one to the other, in seconds;
#'   * `spikes`: their number;
#'   * `rate`: intervals in the burst divided by its duration, in Hz.
#'
#'   The attribute `interval` is the start and the end of the recording, in seconds.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @references
#' Cotterill E, Charlesworth P, Thomas CW, Paulsen O, Eglen SJ (2016). A comparison of
#' computational methods for detecting bursts in neuronal spike trains and their
#' application to human stem cell-derived neuronal networks. *Journal of Neurophysiology*,
#' 116, 306-321.
#' \doi{10.1152/jn.00093.2016}
#' @seealso [autoplot.bursts()] for a picture; [isi_statistics()].
#' @examples
#' # A burst of five spikes among single ones
#' x <- spike_trains(c(1, 2, 2.05, 2.1, 2.15, 2.2, 3, 4), "A")
#' bursts(x)
#' @export
bursts <- function(x, max_start = 0.17, max_within = 0.3, min_between = 0.2,
                   min_duration = 0.01, min_spikes = 3) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  max_start <- check_number(max_start, min = 0)
  max_within <- check_number(max_within, min = 0)
  refuse_if(max_within < max_start, "max_within",
            sprintf("at least `max_start`, %s s", exact(max_start)),
            paste(exact(max_within), "s"))
  min_between <- check_number(min_between, min = 0)
  min_duration <- check_number(min_duration, min = 0)
  min_spikes <- check_count(min_spikes, min = 2)
  resolution <- attr(x, "resolution", exact = TRUE)
  isi <- intervals_of(x)
  runs <- long_runs(isi, bound_ticks(max_start, resolution), bound_ticks(max_within, resolution))
  runs <- join_runs(isi, runs, bound_ticks(min_between, resolution))
  found <- list(unit = isi$unit[runs$first], start = isi$from[runs$first],
                end = isi$from[runs$last] + isi$interval[runs$last],
                spikes = runs$last - runs$first + 2L)
  duration <- found$end - found$start
  keep <- duration >= bound_ticks(min_duration, resolution) & found$spikes >= min_spikes
  seconds <- \(ticks) ticks_to_seconds(ticks[keep], resolution)
  units <- levels(x$unit)
  out <- list(unit = as_factor(found$unit[keep], units),
              start = seconds(found$start), end = seconds(found$end), duration = seconds(duration),
              spikes = found$spikes[keep], rate = (found$spikes[keep] - 1L) / seconds(duration))
  new_table(out, "bursts", about = list(interval = interval_seconds(x)))
}

#' Runs of intervals of at most `most`, from the first one of at most `opening` on
#'
#' @return `first` and `last`, intervals of each run, in their order.
#' @noRd
long_runs <- function(isi, opening, most) {
  n <- length(isi$interval)
  inside <- isi$interval <= most
  begins <- inside & !(isi$follows & c(FALSE, inside)[seq_len(n)])
  ends <- inside & c((!inside | begins)[-1L], TRUE)[seq_len(n)]
  run <- cumsum(begins)
  first <- which(inside & isi$interval <= opening)
  first <- first[!duplicated(run[first])]
  list(first = first, last = which(ends)[run[first]])
}

#' Runs of a unit less than `least` ticks apart become one, with what lies between them
#' @noRd
join_runs <- function(isi, runs, least) {
  n <- length(runs$first)
  if (n < 2L) return(runs)
  # Intervals that follow one another are of one unit in one trial.
  chain <- cumsum(!isi$follows)
  end <- isi$from[runs$last] + isi$interval[runs$last]
  joins <- chain[runs$first[-1L]] == chain[runs$last[-n]] &
    isi$from[runs$first[-1L]] - end[-n] < least
  list(first = runs$first[c(TRUE, !joins)], last = runs$last[c(!joins, TRUE)])
}
