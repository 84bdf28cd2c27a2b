# Activations of assemblies as a recording of their own, and as series of rates.

#' Activations of assemblies as a recording
#'
#' The activations of each assembly as the spikes of a unit: with the interval, the trials and
#' the clock of the recording in which they were found. So whatever takes a recording takes
#' activations: [psth()] shows them around events or in the course of trials, by condition,
#' [cross_correlogram()] which assembly comes after which.
#'
#' The time of an activation is the middle of its first member's window. Where this is just
#' before the beginning or after the end of the recording, it is put there, a tick from the next
#' one.
#'
#' @param x What [find_assemblies()] gave.
#' @param ... Not used; must be empty.
#' @return [spike_trains()] with the units `"Assembly 1"`, `"Assembly 2"` and so on, in the order
#'   of the rows of `x`.
#' @seealso [activation_rate()] for series of rates.
#' @examples
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' as_spike_trains(found)
#' psth(found, events = seq(5, 55, by = 5), from = -1, to = 1, bin_size = 0.5)
#' @export
as_spike_trains.assemblies <- function(x, ...) {
  begin_method(x)
  recording <- attr(x, "recording", exact = TRUE)
  bounds <- interval_ticks(recording)
  ticks <- lapply(x$times, \(times) {
    ticks_between(round_to_ticks(times, attr(recording, "resolution", exact = TRUE)), bounds)
  })
  number <- rep(seq_len(nrow(x)), lengths(x$times))
  spikes_like(recording, as.double(unlist(ticks)),
              factor(number, seq_len(nrow(x)), assembly_names(x)), unit_table = NULL)
}

#' Increasing ticks moved to within bounds, of which those beyond stay apart by a tick each
#' @noRd
ticks_between <- function(ticks, bounds) {
  place <- seq_along(ticks) - 1
  pmin(pmax(ticks, bounds[[1L]] + place), bounds[[2L]] - rev(place))
}

#' Rates of activations of assemblies
#'
#' How often each assembly is active, in successive bins: a matrix, time x assemblies, as
#' [causal_map()], [ccm()] and the other functions for series take it.
#'
#' # Which assembly drives which
#' `causal_map(activation_rate(x, 0.05), E = 1, Tp = -12:0, n_surrogates = 99)` asks whether what
#' an assembly does now tells what another one did up to 12 bins, 0.6 s, before: then that other
#' one drives it. `Tp` has to reach as far back as an effect may come after its cause, and delay
#' vectors must be shorter than that: with an `E` whose bins reach from the effect back to the
#' cause, the cause's own past foretells the effect, and links go both ways. Which links there are
#' is said by the p values: activations are rare, and rho is low, however sure the link is.
#'
#' Do not smooth these series. A smoothed rate knows what comes next, as the bell around each
#' activation begins before it, so that cause and effect can no longer be told apart; and
#' neighbouring bins become alike, which looks like prediction between series that have nothing to
#' do with each other.
#'
#' Members that follow the members of another assembly within `max_lag`, at lags that are the
#' same each time, make one assembly with them, and not two. To ask which drives which, find
#' assemblies with a `max_lag` that is shorter than the time from one to another.
#'
#' A common input drives assemblies as it drives neurons; see `vignette("causes")`. About
#' `expected` of the activations are chance.
#'
#' @param x What [find_assemblies()] gave.
#' @param bin_size Length of a bin, in seconds; a whole number of ticks.
#' @param gap Number of rows of `NA` between trials.
#' @param max_memory Bytes that the work may take: 12 for each bin of each assembly.
#' @return A matrix of class `activation_rate` and `binned_spikes`, rows in order of time, with a
#'   column for each assembly (`"Assembly 1"` and so on), in activations per second. Bins, trials
#'   and the attributes `time`, `trial`, `bin_size`, `gap` and `left_out` (activations in no bin)
#'   are those of [bin_spikes()], and so is what `as.data.frame()` and `as.matrix()` give.
#' @section Errors:
#' For a table without assemblies and for a `bin_size` that is no whole number of ticks, or
#' longer than the recording or all of its trials (`synfire_error_argument`); for a matrix beyond
#' `max_memory` (`synfire_error_budget`). [causal_map()] stops where `gap` is too small for its
#' `tau` and `Tp`, so that no delay vector reaches from one trial into the next.
#' @seealso [as_spike_trains.assemblies()] for activations around events.
#' @examples
#' set.seed(1)
#' x <- simulate_assemblies(duration = 60, units = 15, assemblies = c("synchrony", "sequence"),
#'                          size = 4, count = 60)
#' found <- find_assemblies(x, max_lag = 0.1, n_surrogates = 19, threads = 2)
#' rate <- activation_rate(found, 0.1)
#' rate
#' # Planted independently: no link.
#' causal_map(rate, E = 1, Tp = -5:0, n_surrogates = 19, threads = 2)
#' @export
activation_rate <- function(x, bin_size, gap = 1, max_memory = 4e9) {
  check_given(x = "what `find_assemblies()` gives", bin_size = "the length of a bin, in seconds")
  check_assemblies_table(x)
  refuse_if(nrow(x) == 0L, "x", "a table with an assembly", "one without",
            "There is no activation to count. `summary()` says what was looked for.")
  trains <- as_spike_trains(x)
  bin <- check_bin_size(bin_size, attr(trains, "resolution", exact = TRUE))
  gap <- check_count(gap, min = 0, max = 1e6)
  max_memory <- check_memory(max_memory)
  # Counts, and rates beside them.
  bytes <- bins_of(trains, bin, gap)$rows * nrow(x) * 12
  check_budget(bytes, max_memory, "this matrix", "Take longer bins, or fewer assemblies.")
  counts <- bin_spikes(trains, bin_size, gap = gap, max_memory = max_memory)
  rate <- counts / attr(counts, "bin_size", exact = TRUE)
  class(rate) <- c("activation_rate", class(counts))
  rate
}
