# Activations of assemblies as a recording of their own, and as series of rates.

#' Activations of assemblies as a recording
#'
#' The activations of each assembly as the spikes of a unit: with the interval, the trials and
#' the clock of the recording in which they were found. So whatever takes a recording takes
#' activations: [psth()] shows them around events or in the course of trials, by condition,
#' [cross_correlogram()] which assembly comes after which.
#'
#' The time of an activation is the middle of its first member's window. Where this is just
#' before the beginning or after the end of the recording, it is put there.
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
  check_no_dots()
  check_assemblies_table(x)
  recording <- attr(x, "recording", exact = TRUE)
  resolution <- attr(recording, "resolution", exact = TRUE)
  bounds <- interval_ticks(recording)
  ticks <- round_to_ticks(as.double(unlist(x$times)), resolution)
  build_spike_trains(
    pmin(pmax(ticks, bounds[[1L]]), bounds[[2L]]),
    factor(rep(seq_len(nrow(x)), lengths(x$times)), seq_len(nrow(x)), assembly_names(x)),
    start = attr(recording, "start", exact = TRUE), end = attr(recording, "end", exact = TRUE),
    resolution = resolution, trials = attr(recording, "trials", exact = TRUE), quiet = TRUE
  )
}

#' Rates of activations of assemblies
#'
#' How often each assembly is active, in successive bins: a matrix, time x assemblies, as
#' [causal_map()], [ccm()] and the other functions for series take it. So they say which assembly
#' drives which.
#'
#' # Which assembly drives which
#' Activations are short and far apart, and most bins have none. Series that are 0 nearly all the
#' time have no states to learn from: smooth them (`sigma`), by about as much as the times between
#' a cause and its effect differ.
#'
#' An assembly whose members come after those of another within `max_lag` is one assembly with it,
#' and not two. To ask which drives which, find assemblies with a `max_lag` that is shorter than
#' what you take for the time from one assembly to another.
#'
#' A common input drives assemblies as it drives neurons; see `vignette("causes")`. Of the
#' activations about `expected` are chance.
#'
#' @param x What [find_assemblies()] gave.
#' @inheritParams bin_spikes
#' @return A matrix of class `activation_rate` and `binned_spikes`, rows in order of time, with a
#'   column for each assembly (`"Assembly 1"` and so on), in activations per second. Bins, trials
#'   and the attributes `time`, `trial`, `bin_size`, `sigma`, `gap` and `left_out` (activations in
#'   no bin) are those of [bin_spikes()], and so is what `as.data.frame()` and `as.matrix()` give.
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
#' rate <- activation_rate(found, 0.05, sigma = 0.1)
#' rate
#' causal_map(rate, E = 3, Tp = -5:0, threads = 2)
#' @export
activation_rate <- function(x, bin_size, sigma = NULL, gap = 1, max_memory = 4e9) {
  check_given(x = "what `find_assemblies()` gives", bin_size = "the length of a bin, in seconds")
  check_assemblies_table(x)
  if (nrow(x) == 0L) {
    abort_arg("x", "a table with an assembly", "one without",
              "There is no activation to count. `summary()` says what was looked for.")
  }
  counts <- bin_spikes(as_spike_trains(x), bin_size, sigma, gap = gap, max_memory = max_memory)
  rate <- counts / attr(counts, "bin_size", exact = TRUE)
  class(rate) <- c("activation_rate", class(counts))
  rate
}
