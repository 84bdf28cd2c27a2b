# The largest counts of patterns in surrogates, with which spade() compares patterns.

#' The largest numbers of occurrences of the patterns of surrogates
#'
#' Depends on the surrogates alone, not on how many are mined together, nor on threads.
#'
#' @param search What `pattern_search()` gives; its `filters` have `closed_within` unless that is
#'   `"all"`.
#' @param made What `surrogate_options()` gives.
#' @param n How many surrogates; 0 for none.
#' @param by_duration Whether maxima of each duration are told apart.
#' @param place `NULL` for the CPU, or numbers of GPUs, from 0.
#' @param first Number of the first surrogate, from 0.
#' @return A list of `maxima`, an integer array: a row is a surrogate, column k is about its
#'   patterns of `min_spikes + k - 1` spikes or more, with `by_duration` slice d about those
#'   of duration (largest lag) d - 1 bins; the largest number of occurrences, 0 without any.
#'   There are as many columns as any surrogate has use for, so there may be none. And of
#'   `report`: `elapsed` (s), `peak_memory` (bytes), `left` (surrogates that took more room
#'   than the GPUs have for one, mined on the CPU).
#' @noRd
surrogate_maxima <- function(search, made, n, by_duration = FALSE, place = NULL, threads = 1,
                             max_memory = 4e9, first = 0) {
  filters <- search$filters
  filters$closed_within <- filters$closed_within %||% "all"
  found <- .Call(r_spectrum, search$trains, made,
                 pattern_options(search$window, filters, "closure", threads, max_memory),
                 list(bin = search$bin, by_duration = by_duration, first = first, n = n,
                      gpus = place))
  finish_status(found, "mining these surrogates",
                "Raise `min_count`, or use a shorter `window` or longer bins.",
                limit_of = "units times bins of a window")
}

spectra <- c("#", "3d#")
