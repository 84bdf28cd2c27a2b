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
#'   [find_assemblies()], [mine_patterns()],
#'   [spade()], [test_signatures()], [ccm()], [causal_map()], [embed_dimension()] or
#'   [simplex()] and [smap()] gave.
#' @param ... For maps and patterns, arguments of `as.data.frame()`, such as `max_links`;
#'   else not used, must be empty.
#' @return A tibble where the package tibble is installed, else a data frame.
#' * `tidy()` of episodes: `estimate` is the count. Of tested episodes: `estimate` is the
#'   excess over the mean of surrogates, `statistic` its z. Of assemblies: the number of
#'   activations, and `p.value`. Of patterns and of [spade()]:
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

# ---- One row for each ----------------------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.episodes <- function(x, ...) {
  check_no_dots()
  check_episodes(x)
  tidy_frame(term = as.character(x$episode), size = x$size, estimate = x$count,
             support = x$support)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.episode_significance <- function(x, ...) {
  check_no_dots()
  check_table(x, significance_columns, "episode_significance")
  tidy_frame(term = as.character(x$episode), size = x$size, count = x$count,
             estimate = x$excess, statistic = .subset2(x, "z"), p.value = x$p,
             adj.p.value = x$p_adjusted)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.assemblies <- function(x, ...) {
  check_no_dots()
  check_assemblies_table(x)
  tidy_frame(term = format(x), size = x$size, width = x$width, estimate = x$count,
             expected = x$expected, p.value = x$p)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.patterns <- function(x, ...) {
  check_no_dots()
  check_whole_sets(x, "x")
  tidy_frame(term = format(x), size = x$size, estimate = x$count, duration = x$duration)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.spade <- function(x, ...) {
  check_no_dots()
  check_spade(x)
  found <- x$patterns
  tidy_frame(term = format(found), size = found$size, estimate = found$count,
             duration = found$duration, p.value = x$p, adj.p.value = x$p_adjusted)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.signature_tests <- function(x, ...) {
  check_no_dots()
  check_tests(x, "x")
  term <- paste0("size ", x$size, if (!is.null(x$duration)) {
    sprintf(", duration %s ms", format_each(signif(1000 * x$duration, 9)))
  }, ", count ", x$count)
  tidy_frame(term = term, estimate = x$patterns, p.value = x$p, adj.p.value = x$p_adjusted)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.ccm <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "LibSize", "convergence")
  about <- attr(x, "convergence")
  tidy_frame(term = about$direction, cause = about$cause, effect = about$effect,
             estimate = about$rho_largest, statistic = about$tau, p.value = about$tau_p,
             surrogate.p.value = about$p)
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.causal_map <- function(x, ...) tidy_links(as.data.frame(x, ...))

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.causal_links <- function(x, ...) {
  check_whole_map(x)
  tidy_links(as.data.frame(x, ...))
}

tidy_links <- function(links) {
  do.call(tidy_frame, c(
    list(term = paste(links$cause, links$effect, sep = " > "), cause = links$cause,
         effect = links$effect, estimate = links$rho, p.value = links$p_value),
    as.list(links)[setdiff(names(links), c("cause", "effect", "rho", "p_value"))]
  ))
}

#' @rdname tidiers
#' @exportS3Method generics::tidy
tidy.edm_skill <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, "rho")
  more <- own_columns(x)[-1L]
  tidy_frame(term = paste(names(x)[[1L]], format_each(x[[1L]])), value = x[[1L]],
             estimate = x$rho, tau = if ("tau" %in% more) x$tau, Tp = if ("Tp" %in% more) x$Tp)
}

# ---- One row about all ---------------------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.episodes <- function(x, ...) {
  check_no_dots()
  check_episodes(x)
  tidy_frame(episodes = nrow(x), max_size = max(x$size, 0L),
             min_count = attr(x, "min_count", exact = TRUE) %||% NA_real_,
             elapsed = attr(x, "elapsed", exact = TRUE) %||% NA_real_)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.episode_significance <- function(x, ...) {
  check_no_dots()
  check_table(x, significance_columns, "episode_significance")
  tidy_frame(episodes = nrow(x), tested = sum(is_tested(x)), significant = sum(x$significant),
             alpha = attr(x, "alpha", exact = TRUE),
             n_surrogates = attr(x, "n_surrogates", exact = TRUE))
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.assemblies <- function(x, ...) {
  check_no_dots()
  check_assemblies_table(x)
  tidy_frame(assemblies = nrow(x), max_size = max(x$size, 0L),
             members = length(unique(unlist(x$units))), activations = sum(x$count),
             max_lag = attr(x, "max_lag", exact = TRUE), alpha = attr(x, "alpha", exact = TRUE),
             n_surrogates = attr(x, "n_surrogates", exact = TRUE))
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.patterns <- function(x, ...) {
  check_no_dots()
  check_whole_sets(x, "x")
  tidy_frame(patterns = length(x), max_size = max(.subset2(x, "runs")$size, 0L),
             bin_size = attr(x, "bin_size", exact = TRUE),
             window = attr(x, "window", exact = TRUE))
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.spade <- function(x, ...) {
  check_no_dots()
  check_spade(x)
  tidy_frame(patterns = length(x), mined = length(x$mined), alpha = x$parameters$alpha,
             n_surrogates = x$parameters$n_surrogates)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.edm_prediction <- function(x, ...) {
  check_no_dots()
  about <- summary(x)
  tidy_frame(nobs = about$predicted, rho = about$rho, MAE = about$MAE, RMSE = about$RMSE)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.smap <- function(x, ...) {
  check_whole_result(x, smap_parts)
  glance.edm_prediction(x$predictions, ...)
}

#' @rdname tidiers
#' @exportS3Method generics::glance
glance.edm_skill <- function(x, ...) {
  check_no_dots()
  best <- summary(x)
  more <- own_columns(x)[-1L]
  tidy_frame(parameter = names(x)[[1L]], best = best[[1L]], rho = best$rho,
             tau = if ("tau" %in% more) best$tau, Tp = if ("Tp" %in% more) best$Tp)
}

# ---- The data with what was predicted ------------------------------------------------

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.edm_prediction <- function(x, ...) {
  check_no_dots()
  check_whole_result(x, c("Observations", "Predictions"))
  columns <- as.list(plain_table(x))[setdiff(names(x), "Predictions")]
  do.call(tidy_frame, c(columns, list(.fitted = x$Predictions,
                                      .resid = x$Observations - x$Predictions)))
}

#' @rdname tidiers
#' @exportS3Method generics::augment
augment.smap <- function(x, ...) {
  check_whole_result(x, smap_parts)
  augment.edm_prediction(x$predictions, ...)
}
