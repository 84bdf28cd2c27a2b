# Tests of signatures: which of them occur too rarely in surrogates to be chance.

#' Test the signatures of spike patterns
#'
#' Every signature that patterns have is a test, so there are many at once, and their p
#' values are adjusted for that. Patterns with a significant signature are significant.
#'
#' # What is tested
#' The signatures of `patterns`, except those that every surrogate reaches: their p value
#' is 1 and they are left out, as in Elephant, which says so in the column `tested`. How
#' many tests there are is part of the result, as it decides what is significant.
#'
#' # Corrections
#' Against a single false positive among all tests (family-wise error): `"bonferroni"`,
#' `"sidak"`, the step-down methods of these, `"holm"` and `"holm-sidak"`, and, where tests
#' are independent or positively dependent, the step-up methods `"hochberg"` (Hochberg 1988)
#' and `"hommel"`, which reject as much or more.
#' For a limited share of false ones among the significant (false discovery rate): `"BH"`
#' (Benjamini and Hochberg 1995), `"BY"` (Benjamini and Yekutieli 2001), which allows for
#' any dependence, and the two-stage methods `"TSBH"` and `"TSBKY"` (Benjamini, Krieger and
#' Yekutieli 2006), which first estimate how many nulls are true. `"none"` makes no
#' correction. The names `fdr_bh`, `fdr_by`, `fdr_tsbh`, `fdr_tsbky`, `simes-hochberg` and
#' `no` of Elephant are `"BH"`, `"BY"`, `"TSBH"`, `"TSBKY"`, `"hochberg"` and `"none"` here.
#'
#' # The front
#' The largest p value that is significant divides all signatures in two, also those that no
#' pattern has: from some number of occurrences on, patterns of a size (and duration) are
#' significant. That front is what [reduce_patterns()] goes by, and `autoplot()` draws.
#' Where nothing is significant, it is the p value with which a single test would have been,
#' and `summary()` of a [spade()] says how many surrogates that needs at least.
#'
#' # Different from Elephant
#' * A signature that no surrogate reaches is a test like the others, with a p value of 0
#'   or `1 / (n + 1)`. Elephant takes it as significant and does not count it.
#' * Of signatures of one size with adjacent numbers of occurrences, new versions of
#'   Elephant test the largest alone, and take the others as not significant. Here
#'   each is tested.
#' * Signatures that no pattern has are on the side of the front on which their p
#'   value puts them. Elephant takes them as not significant as soon as one surrogate
#'   reaches them.
#'
#' @param patterns What [mine_patterns()] found, all of it: of fewer patterns there would be
#'   fewer tests, and too much would be significant. Choose patterns afterwards.
#' @param pvalues What [pvalue_spectrum()] gives for the same recording, bins, windows and
#'   filters.
#' @param alpha Probability of an error that is taken, above 0 and below 1.
#' @param correction How p values are adjusted for each other, see Corrections.
#' @return A data frame of class `signature_tests`: the [pattern_spectrum()] of `patterns`
#'   with the further columns
#'   \describe{
#'     \item{reached}{number of surrogates that reach the signature}
#'     \item{p}{p value}
#'     \item{tested}{`FALSE` where every surrogate reaches it}
#'     \item{p_adjusted}{p value adjusted by `correction`, `NA` where not tested}
#'     \item{significant}{whether that is at most `alpha`}
#'   }
#'   The attributes `tests` (how many there were), `alpha`, `correction`, `level` (largest p
#'   value on the significant side of the front) and `pvalues` say how it was decided;
#'   `fingerprint` is that of the recording of `patterns`, as in [pvalue_spectrum()].
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; among them that
#' `patterns` and `pvalues` are of different bins, windows or filters, and that `patterns`
#' are not all that were found, or some of them twice. Where they are of different
#' recordings, there is a warning of class `synfire_warning_recording`: part of a recording
#' is another recording, of which fewer spikes are there by chance.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Hochberg Y (1988). A sharper Bonferroni procedure for multiple tests of significance.
#' *Biometrika*, 75, 800-802. \doi{10.1093/biomet/75.4.800}
#'
#' Benjamini Y, Krieger AM, Yekutieli D (2006). Adaptive linear step-up procedures that
#' control the false discovery rate. *Biometrika*, 93, 491-507. \doi{10.1093/biomet/93.3.491}
#' @seealso [significant_patterns()], [spade()].
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 6, min_spikes = 3, min_count = 3,
#'                        threads = 2)
#' pvalues <- pvalue_spectrum(x, 0.005, 6, min_spikes = 3, min_count = 3, n_surrogates = 200,
#'                            threads = 2)
#' tests <- test_signatures(found, pvalues)
#' tests
#' significant_patterns(found, tests)
#' @export
test_signatures <- function(patterns, pvalues, alpha = 0.05, correction = "BH") {
  check_given(patterns = "what `mine_patterns()` gives",
              pvalues = "what `pvalue_spectrum()` gives")
  check_patterns(patterns)
  check_pvalues(pvalues)
  check_same_search(patterns, pvalues, "pvalues")
  check_all_mined(patterns)
  correction <- check_correction(correction)
  alpha <- check_alpha(alpha)
  mine <- fingerprint_of(patterns)
  warn_other_recording(mine, attr(pvalues, "fingerprint", exact = TRUE), "pvalues")
  judge_signatures(patterns, pvalues, alpha, correction, mine)
}

#' @param fingerprint Of the recording of the patterns, or NULL.
#' @noRd
judge_signatures <- function(patterns, pvalues, alpha, correction, fingerprint) {
  n <- attr(pvalues, "n_surrogates", exact = TRUE)
  spectrum <- pattern_spectrum(patterns, attr(pvalues, "spectrum", exact = TRUE))
  out <- as.list(spectrum)[names(spectrum)]
  out$reached <- surrogates_reaching(pvalues, signatures_in_bins(spectrum))
  out$p <- surrogate_p(out$reached, n, attr(pvalues, "p_estimator", exact = TRUE))
  out$tested <- out$reached < n
  out$p_adjusted <- rep(NA_real_, nrow(spectrum))
  out$p_adjusted[out$tested] <- adjust_p(out$p[out$tested], correction, alpha)
  out$significant <- out$tested & reaches(out$p_adjusted, alpha)
  tests <- sum(out$tested)
  level <- max(sufficient_p(tests, correction, alpha), out$p[out$significant])
  about <- attributes(spectrum)[c("spectrum", "bin_size", "window_bins", "parameters")]
  new_table(out, "signature_tests",
            c(about, list(tests = tests, alpha = alpha, correction = correction, level = level,
                          pvalues = pvalues, fingerprint = fingerprint)))
}

#' Signatures of a spectrum with durations in bins, as patterns have them
#' @noRd
signatures_in_bins <- function(spectrum) {
  parts <- as.list(spectrum)[intersect(c("size", "duration", "count"), names(spectrum))]
  if (!is.null(parts$duration)) {
    parts$duration <- as.integer(round(parts$duration / attr(spectrum, "bin_size", exact = TRUE)))
  }
  parts
}

#' Patterns with a significant signature
#'
#' @param patterns What [mine_patterns()] found, or some of it.
#' @param tests What [test_signatures()] gives for it.
#' @return Those of `patterns` whose signature is significant.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. Where `tests` are of the
#' patterns of another recording, there is a warning of class `synfire_warning_recording`.
#' @seealso [reduce_patterns()] for those of them that others do not explain.
#' @inherit test_signatures examples
#' @export
significant_patterns <- function(patterns, tests) {
  check_given(patterns = "what `mine_patterns()` gives", tests = "what `test_signatures()` gives")
  check_patterns(patterns)
  check_tests(tests)
  check_same_search(patterns, tests, "tests")
  refuse_if(anyNA(signature_rows(patterns, tests)), "tests",
            "what `test_signatures()` gives for these patterns",
            "without the signature of some of them")
  warn_other_recording(fingerprint_of(patterns), attr(tests, "fingerprint", exact = TRUE),
                       "tests")
  significant_of(patterns, tests)
}

#' Patterns with a significant signature; none where nothing could be tested
#' @noRd
significant_of <- function(patterns, tests) {
  if (is.null(tests)) return(patterns[0L])
  take_sets(patterns, which(tests$significant[signature_rows(patterns, tests)]))
}

#' The row of each pattern's signature, NA where it has none
#' @noRd
signature_rows <- function(patterns, tests) {
  wanted <- pattern_signatures(patterns, attr(tests, "spectrum", exact = TRUE))
  listed <- signatures_in_bins(tests)
  window <- attr(tests, "window_bins", exact = TRUE)
  cell <- \(parts) if (is.null(parts$duration)) parts$size else {
    as.double(parts$size) * window + parts$duration
  }
  # Cells are few, so that they and a count of 31 bits are a whole number together.
  cells <- unique(cell(listed))
  key <- \(parts) match(cell(parts), cells) * 2^31 + parts$count
  match(key(wanted), key(listed), incomparables = NA)
}

#' Signatures that are not significant, of those that some surrogate reaches
#' @noRd
non_significant <- function(tests) {
  pvalues <- attr(tests, "pvalues", exact = TRUE)
  columns <- intersect(c("size", "duration", "count"), names(pvalues))
  below <- !reaches(pvalues$p, attr(tests, "level", exact = TRUE))
  as.data.frame(unclass(pvalues)[columns])[below, , drop = FALSE]
}

#' From how many occurrences on patterns are significant, for sizes and durations (bins)
#'
#' @return Numbers as many as `size`; Inf where no number is enough.
#' @noRd
significance_front <- function(tests, size, duration = NULL) {
  pvalues <- attr(tests, "pvalues", exact = TRUE)
  n <- attr(pvalues, "n_surrogates", exact = TRUE)
  least <- attr(pvalues, "parameters", exact = TRUE)$min_count
  p <- surrogate_p(0:n, n, attr(pvalues, "p_estimator", exact = TRUE))
  # So many surrogates may reach what is significant; -1 where not even none will do.
  allowed <- sum(reaches(p, attr(tests, "level", exact = TRUE))) - 1L
  if (allowed < 0L) return(rep(Inf, length(size)))
  if (allowed >= n) return(rep(as.double(least), length(size)))
  cells <- matrix(attr(pvalues, "maxima", exact = TRUE), nrow = n)
  vapply(maxima_cells(pvalues, size, duration), \(k) {
    if (is.na(k)) return(as.double(least))
    max(least, sort(cells[, k], decreasing = TRUE)[[allowed + 1L]] + 1)
  }, 0)
}

# ---- Checks --------------------------------------------------------------------------

check_pvalues <- function(pvalues, arg = "pvalues") {
  must <- "what `pvalue_spectrum()` gives"
  if (!inherits(pvalues, "pvalue_spectrum")) abort_arg(arg, must, describe(pvalues))
  if (!are_pvalues(pvalues)) abort_changed(arg, must)
}

#' @export
check_sound.pvalue_spectrum <- function(x, arg) check_pvalues(x, arg)

#' @noRd
check_tests <- function(tests, arg = "tests") {
  must <- "what `test_signatures()` gives"
  if (!inherits(tests, "signature_tests")) abort_arg(arg, must, describe(tests))
  if (!are_tests(tests)) abort_changed(arg, must)
}

#' @export
check_sound.signature_tests <- function(x, arg) check_tests(x, arg)

#' @export
check_sound.pattern_spectrum <- function(x, arg) {
  if (!is_spectrum(x, "patterns")) abort_changed(arg, "what `pattern_spectrum()` gives")
}

#' An object keeps its class when its parts are changed by hand
#' @noRd
abort_changed <- function(arg, must) {
  abort_arg(arg, must, "one that was changed, or is damaged",
            "Make it again; `as.data.frame()` gives a table to change.")
}

#' Whether p values have all that is read of them, and it fits together
#' @noRd
are_pvalues <- function(x) {
  about <- attributes(x)
  maxima <- about$maxima
  by_duration <- identical(about$spectrum, "3d#")
  whole <- \(v, least) is_number(v) && is.finite(v) && v >= least && v == round(v)
  is_spectrum(x, c("reached", "p")) && whole(about$n_surrogates, 1) &&
    is.integer(maxima) && !anyNA(maxima) && length(dim(maxima)) == 2L + by_duration &&
    nrow(maxima) == about$n_surrogates &&
    (!by_duration || dim(maxima)[[3L]] == about$window_bins) &&
    is.character(about$p_estimator) && isTRUE(about$p_estimator %in% p_estimators)
}

#' The same for tests
#' @noRd
are_tests <- function(x) {
  about <- attributes(x)
  flags <- \(v) is.logical(v) && !anyNA(v)
  is_spectrum(x, c("patterns", "reached", "p", "tested", "p_adjusted", "significant")) &&
    flags(x$tested) && flags(x$significant) && inherits(about$pvalues, "pvalue_spectrum") &&
    are_pvalues(about$pvalues) && is_number(about$tests) && is_number(about$alpha) &&
    is_number(about$level) && is.character(about$correction) &&
    isTRUE(about$correction %in% corrections)
}

#' Whether a table has the signatures and further columns, and says how they were mined
#' @noRd
is_spectrum <- function(x, columns) {
  about <- attributes(x)
  if (!isTRUE(about$spectrum %in% spectra)) return(FALSE)
  parts <- unclass(x)
  columns <- c("size", "count", if (about$spectrum == "3d#") "duration", columns)
  if (!is.list(parts) || !all(columns %in% names(parts))) return(FALSE)
  filters <- c("min_spikes", "min_count", "max_spikes", "max_count", "min_units")
  numbers <- vapply(parts[columns], \(v) (is.numeric(v) || is.logical(v)) && !is.object(v), NA)
  all(numbers) && length(unique(lengths(parts[columns]))) == 1L &&
    length(attr(x, "row.names")) == length(parts$size) && !anyNA(parts$size) &&
    !anyNA(parts$count) && is_number(about$bin_size) && about$bin_size > 0 &&
    is_number(about$window_bins) && is.list(about$parameters) &&
    all(vapply(about$parameters[filters], is_number, NA)) && is_fingerprint(about$fingerprint)
}

#' Fewer patterns have fewer signatures, and the correction would be for too few tests
#' @noRd
check_all_mined <- function(patterns) {
  must <- "all that `mine_patterns()` found, each once"
  hint <- paste("The correction is for as many tests as there are signatures. Test all, and",
                "choose from what `significant_patterns()` gives.")
  mined <- attr(patterns, "mined", exact = TRUE)
  n <- length(patterns)
  refuse_if(!is_plain_numeric(mined) || length(mined) != 1L, "patterns", must,
            "one that does not know how many were found",
            "Mine again; `c()` of different searches loses it.")
  refuse_if(n != mined, "patterns", must, sprintf("%s, of %s", commas(n), commas(mined)), hint)
  refuse_if(any(duplicated(patterns)), "patterns", must, "one with patterns that come twice",
            hint)
}

#' Patterns and their p values are of one search, by bins, windows and filters
#' @noRd
check_same_search <- function(patterns, other, arg) {
  what <- function(x) {
    filters <- c("min_spikes", "min_count", "max_spikes", "max_count", "min_units")
    given <- attr(x, "parameters", exact = TRUE)
    # Without `max_spikes` both are the same.
    closed <- if (isTRUE(is.finite(given$max_spikes))) given$closed_within
    c(list(bin_size = attr(x, "bin_size", exact = TRUE),
           window_bins = attr(x, "window_bins", exact = TRUE)),
      given[filters], list(closed_within = closed %||% "all"))
  }
  mine <- what(patterns)
  its <- what(other)
  differs <- names(mine)[!mapply(\(a, b) isTRUE(all.equal(a, b)), mine, its[names(mine)])]
  if (length(differs) == 0L) return(invisible())
  first <- differs[[1L]]
  abort_arg(arg, "of the same bins, windows and filters as `patterns`",
            sprintf("of `%s` = %s, and `patterns` are of %s", first, format(its[[first]]),
                    format(mine[[first]])))
}
