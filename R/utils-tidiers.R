# tidy(), glance() and augment() of the generics package, in the words of broom.

#' Results in the words of broom
#'
#' `tidy()` gives a row for each thing that was found or tested, `glance()` one row about
#' the whole, `augment()` the data with what was predicted. The generics are those of the
#' package generics, which broom, tidymodels and others share: `library(generics)` or
#' `library(broom)` makes them available.
#'
#' Columns are named as broom names them: `term`, what the row is about; `estimate`, its
#' size; `statistic`, `p.value`, `adj.p.value`; of predictions `.fitted` and `.resid`.
#'
#' @param x A result: what [mine_episodes()], [episode_significance()],
#'   [find_assemblies()], [find_synapses()], [mine_patterns()],
#'   [spade()], [test_signatures()], [ccm()], [causal_map()], [embed_dimension()] or
#'   [simplex()] and [smap()] gave.
#' @param ... For maps and patterns, arguments of `as.data.frame()`, such as `max_links`;
#'   else not used, must be empty.
#' @return A tibble where the package tibble is installed, else a data frame.
#' * `tidy()` of episodes: `estimate` is the count. Of tested episodes: `estimate` is the
#'   excess over the mean of surrogates, `statistic` its z. Of assemblies: the number of
#'   activations, and `p.value`. Of connections: a pair a row, `estimate` is the strength, with
#'   its interval from `conf.low` to `conf.high`. Of patterns and of [spade()]:
#'   the number of occurrences. Of signatures: the number of patterns. Of [ccm()]:
#'   a direction a row, `estimate` is rho of the largest library, `statistic` Kendall's tau
#'   of rho and library size with its `p.value`, and `surrogate.p.value`. Of maps: a link a
#'   row, `estimate` is rho. Of skill: a value of the parameter a row, `estimate` is rho;
#'   with `tau` and `Tp` where [embed_dimension()] searched these, too.
#' * `glance()`: how many there are, and with what they were found.
#' * `augment()`: a row for each row of the prediction, with `.fitted` and `.resid`.
#' @examplesIf rlang::is_installed("generics")
#' wave <- data.frame(time = 1:100, x = sin(1:100 / 3), y = cos(1:100 / 3))
#' generics::tidy(ccm(wave, "x", "y", E = 2, samples = 5, threads = 2))
#' generics::glance(simplex(wave, "x", E = 2, threads = 2))
#' head(generics::augment(simplex(wave, "x", E = 2, threads = 2)))
#' @name tidiers
NULL

#' @noRd
tidy_frame <- function(...) {
  columns <- list(...)
  columns <- columns[!vapply(columns, is.null, NA)]
  out <- new_frame(columns, length(columns[[1L]]))
  if (rlang::is_installed("tibble")) tibble::as_tibble(out) else out
}
