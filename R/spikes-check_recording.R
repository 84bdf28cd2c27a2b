# A report on the quality of a recording: what is implausible, why, and what to do.

#' Look for what is wrong with a recording
#'
#' Looks at a recording as an experienced colleague would before any analysis, and says in
#' plain sentences what seems wrong, what usually causes it, and what to do. It does not
#' change the recording. The page that `plot()` draws is meant to be printed and kept with
#' the data.
#'
#' # What is looked for
#' | check | found when |
#' |---|---|
#' | columns | there are at least half as many units as spikes: time and unit may be swapped |
#' | time unit | intervals are far longer or shorter than neurons fire, as when milliseconds are taken for seconds |
#' | time step | all times lie on a grid of 1 ms or coarser: binned data, or imaging |
#' | silent units | units have no spike, or fewer than ten |
#' | rates | a unit fires at more than 200 Hz on average, or alone has most of the spikes |
#' | refractory | more than 1 % of a unit's intervals are below `refractory` |
#' | shared spikes | two units fire within 0.1 ms of each other far more often than within 2 ms: the same neuron sorted twice, or cross-talk |
#' | synchrony | many units have a spike on the same tick, far more than the spikes within 25 ms make likely: an artefact |
#' | presence | a unit is missing from the beginning or the end of the recording |
#' | drift | rates rise or fall steadily, threefold for a unit or twofold for all together |
#' | gaps | no unit fires for a long time in the recording, or at its ends |
#' | trials | spikes lie outside of all trials |
#'
#' Where there are trials, all checks except the first and the last look only at spikes
#' within trials and leave out the time between them. A check is left out where the
#' recording is too short or too coarse for it. Drift needs at least one minute, and 100
#' spikes of a unit. With a time step above 1 ms, refractory violations and synchrony
#' cannot be seen, and shared spikes are found only in units whose spikes are nearly all
#' the same.
#'
#' The thresholds are set so that sound recordings give few findings. No finding proves
#' that something is wrong. Bursting neurons have short intervals, neurons with gap
#' junctions fire together, the rates of an animal that falls asleep change, and simulated
#' Poisson units have no refractory period.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes.
#' @param refractory In seconds. Shorter intervals between two spikes of a unit count as
#'   violations of the refractory period.
#' @param threads Number of threads; `NULL` for all that the process may use.
#' @param max_memory Bytes that the work may take: 84 for each pair of units and some 100
#'   for each spike. Where that is too little, the check for shared spikes is left out.
#' @return An object of class `recording_check`, a list of
#'   * `findings`: a data frame with a row for each finding, the gravest first, and the
#'     columns `check`, `severity` (`"problem"`, `"warning"` or `"note"`), `n` (how many
#'     units, pairs, ticks or gaps), `units` (a list of their names), `message` and
#'     `remedy`;
#'   * `units`: a data frame with a row for each unit: `unit`, `spikes`, `rate` (Hz),
#'     `first` and `last` (s), `median_isi` (s), `violation_share`, and `shares_with` and
#'     `shared`, the unit with which it shares most spikes, and how many these are, as a
#'     share of the spikes of the one of the two that has fewer;
#'   * `rates`: a matrix of rates in Hz, 50 equal pieces of the recorded time x units;
#'   * `intervals`: a data frame of the histogram of all intervals, `from` and `to` (s),
#'     `count`;
#'   * `refractory` (s), `duration` (s recorded, in trials where there are some),
#'     `looked_for` (names of the checks that could be made) and `recording`, its line of
#'     [format()].
#'
#'   `print()` writes the findings as sentences; `as.data.frame()` gives `findings`.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @references
#' Hill DN, Mehta SB, Kleinfeld D (2011). Quality metrics to accompany spike sorting of
#' extracellular signals. *Journal of Neuroscience*, 31, 8699-8705.
#' \doi{10.1523/JNEUROSCI.0971-11.2011}
#' @seealso [isi_statistics()], [cross_correlogram()] to look closer.
#' @examples
#' check_recording(mouse)
#'
#' # One unit once more, as a sorter may find it twice
#' once <- as.data.frame(mouse)[c("time", "unit")]
#' twice <- transform(once[once$unit == "206", ], unit = "207")
#' check_recording(as_spike_trains(rbind(once, twice)))
#' @export
check_recording <- function(x, refractory = 0.002, threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  refractory <- check_number(refractory, min = 0, max = 1)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  seen <- look_at(x, refractory, threads, max_memory)
  findings <- rbind(
    finding("", "note", 1, character(), "", "")[0L, ], finding_columns(seen),
    finding_time_unit(seen), finding_time_step(seen), finding_silent(seen), finding_rates(seen),
    finding_refractory(seen), finding_shared(seen), finding_synchrony(seen),
    finding_presence(seen), finding_drift(seen), finding_gaps(seen), finding_trials(seen)
  )
  o <- order(match(findings$severity, c("problem", "warning", "note")))
  findings <- findings[o, , drop = FALSE]
  rownames(findings) <- NULL
  kept <- c("units", "rates", "intervals", "refractory", "duration", "looked_for")
  structure(c(list(findings = findings), seen[kept], list(recording = format(x))),
            class = c("recording_check", "synfire_result"))
}

# ---- What there is to see ------------------------------------------------------------

#' Everything that findings are made from
#' @noRd
look_at <- function(x, refractory, threads, max_memory) {
  resolution <- attr(x, "resolution", exact = TRUE)
  ticks <- train_ticks(x)
  trials <- trial_ticks(x)
  trial <- trial_of(x, ticks, trials)
  inside <- !is.na(trial)
  code <- as.integer(x$unit)[inside]
  at <- recorded_ticks(x, ticks[inside], trial[inside], trials)
  step <- ticks_to_seconds(time_step(ticks[inside], trial[inside]), resolution)
  isi <- intervals_of(x)
  duration <- sum(lengths_of_trials(x))
  units <- unit_report(x, isi, refractory, duration, code, ticks[inside])
  rates <- piece_rates(at, code, nrow(units), duration / resolution, resolution)
  fine <- is.na(step) || step <= 0.001
  isi <- ticks_to_seconds(isi$interval, resolution)
  intervals <- interval_histogram(isi, rep(1L, length(isi)), 1L)
  intervals$count <- as.vector(intervals$count)
  pairs <- shared_spikes(x, step, threads, max_memory)
  looked_for <- c("columns", "time unit", "time step", "silent units", "rates",
                  if (fine) "refractory", if (!is.null(pairs)) "shared spikes",
                  if (fine) "synchrony", "presence",
                  if (duration >= 60 && any(units$spikes >= 100)) "drift", "gaps",
                  if (!is.null(trials)) "trials")
  list(spikes = length(code), outside = sum(!inside), units = with_partners(units, pairs),
       step = step, fine = fine, duration = duration, trials = !is.null(trials),
       refractory = refractory, isi = isi, intervals = as.data.frame(intervals), rates = rates,
       gaps = recorded_gaps(at, duration, resolution),
       ends = unit_ends(at, code, nrow(units), duration, resolution), pairs = pairs,
       synchrony = if (fine) synchronous_ticks(ticks[inside], units, step, resolution),
       looked_for = looked_for)
}

#' Ticks since the start, of recorded time only: trials end to end
#' @noRd
recorded_ticks <- function(x, ticks, trial, trials) {
  if (is.null(trials)) return(ticks - interval_ticks(x)[[1L]])
  before <- cumsum(c(0, trials$end - trials$start))[trial]
  ticks - trials$start[trial] + before
}

#' The grid on which times lie, in ticks: the shortest time between spikes on different
#' ticks, where other short times are multiples of it, else NA
#' @noRd
time_step <- function(ticks, trial) {
  apart <- diff(ticks)[diff(trial) == 0L]
  apart <- apart[apart > 0]
  if (length(apart) == 0L) return(NA_real_)
  step <- min(apart)
  # Times that were rounded to ticks drift away from multiples that are far.
  steps <- apart[apart < 10 * step] / step
  if (length(steps) >= 20L && all(abs(steps - round(steps)) < 0.05)) step else NA_real_
}

unit_report <- function(x, isi, refractory, duration, code, ticks) {
  resolution <- attr(x, "resolution", exact = TRUE)
  stats <- isi_table(x, isi, refractory)
  n <- nrow(stats)
  ends <- first_and_last(ticks, code, n)
  data.frame(unit = stats$unit, spikes = stats$spikes,
             rate = if (duration > 0) stats$spikes / duration else rep(NA_real_, n),
             first = ticks_to_seconds(ends$first, resolution),
             last = ticks_to_seconds(ends$last, resolution), median_isi = stats$median,
             intervals = stats$intervals, violations = stats$violations,
             violation_share = stats$violation_share)
}

piece_rates <- function(at, code, n_units, length, resolution) {
  if (length <= 0) return(matrix(NA_real_, check_pieces, n_units))
  piece <- pmin(at %/% (length / check_pieces), check_pieces - 1)
  counts <- tabulate(piece + (code - 1) * check_pieces + 1, check_pieces * n_units)
  matrix(counts / (length * resolution / check_pieces), check_pieces, n_units)
}

#' Times without a spike of any unit, in seconds: `start` and `length`, and at the two
#' ends
#' @noRd
recorded_gaps <- function(at, duration, resolution) {
  at <- ticks_to_seconds(at, resolution)
  n <- length(at)
  if (n < 2L) return(NULL)
  list(start = at[-n], length = diff(at), head = at[[1L]], tail = duration - at[[n]])
}

#' How long each unit is silent at the beginning, at the end, and at most in between (s)
#' @noRd
unit_ends <- function(at, code, n_units, duration, resolution) {
  o <- order(code, method = "radix")
  unit <- code[o]
  at <- ticks_to_seconds(at[o], resolution)
  n <- length(at)
  ends <- first_and_last(at, unit, n_units)
  longest <- rep(NA_real_, n_units)
  same <- which(unit[-1L] == unit[-n])
  apart <- at[same + 1L] - at[same]
  by_length <- order(apart)
  longest[unit[same][by_length]] <- apart[by_length]
  list(head = ends$first, tail = duration - ends$last, longest = longest)
}

#' Ticks on which far more units fire than the spikes around make likely
#' @return `tick` (s) and `n`, how many units.
#' @noRd
synchronous_ticks <- function(ticks, units, step, resolution) {
  runs <- rle(ticks)
  active <- sum(units$spikes > 0)
  many <- which(runs$lengths >= max(5, 0.1 * active))
  tick <- runs$values[many]
  n <- runs$lengths[many]
  near <- raw_ticks(0.025, resolution)
  around <- findInterval(tick + near, ticks) -
    findInterval(tick - near, ticks, left.open = TRUE)
  width <- if (is.na(step)) resolution else step
  expected <- (around - n) * width / 0.05
  rare <- stats::ppois(n - 1, expected, lower.tail = FALSE) < 1e-10
  list(tick = ticks_to_seconds(tick[rare], resolution), n = n[rare])
}

#' Pairs of units that share spikes, or NULL where that cannot be told
#'
#' @param off The lag, in seconds, by which a sorter may place spikes of a cell differently.
#' @return Matrix units x units: which share of the spikes of the unit that has fewer is
#'   within 0.1 ms (or on the same step) of one of the other, at the lag up to `off` at which
#'   that are most, beyond what is usual at lags just above; 0 where that may be chance.
#' @noRd
shared_spikes <- function(x, step, threads, max_memory, off = 0) {
  units <- nlevels(x$unit)
  lags <- 10L
  if (units < 2L || 84 * units^2 + 30 * nrow(x) > max_memory) return(NULL)
  resolution <- attr(x, "resolution", exact = TRUE)
  ticks <- max(1, round_to_ticks(if (is.na(step)) resolution else step, resolution))
  # As many steps in each bin.
  odd <- 2 * floor(raw_ticks(1e-4, resolution) / ticks) + 1
  bin <- min(odd * ticks, 2^30 - 1)
  counts <- cross_correlogram(x, ticks_to_seconds(bin, resolution),
                              ticks_to_seconds(lags * bin, resolution), threads = threads,
                              max_memory = max_memory)
  spikes <- rowSums(attr(counts, "spikes"))
  counts <- plain_array(counts)
  lag <- abs(seq.int(-lags, lags))
  off <- min(3, floor(raw_ticks(off, resolution) / bin))
  at_once <- Reduce(pmax, lapply(which(lag <= off), \(i) matrix(counts[i, , ], units)))
  usual <- colMeans(counts[lag >= off + 3, , , drop = FALSE])
  fewer <- outer(spikes, spikes, pmin)
  excess <- at_once - usual
  share <- ifelse(at_once >= 20 & excess > 5 * sqrt(usual + 1), excess / fewer, 0)
  share <- pmin(share, 1)
  diag(share) <- 0
  matrix(share, units)
}

with_partners <- function(units, share) {
  units$shares_with <- factor(rep(NA, nrow(units)), levels(units$unit))
  units$shared <- rep(if (is.null(share)) NA_real_ else 0, nrow(units))
  if (is.null(share) || nrow(units) == 0L) return(units)
  partner <- max.col(share, "first")
  most <- share[cbind(seq_along(partner), partner)]
  units$shared <- most
  units$shares_with[most > 0] <- units$unit[partner[most > 0]]
  units
}
