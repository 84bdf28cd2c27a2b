# Keeps, of patterns that overlap, the patterns that no other pattern explains.

#' Keep the patterns that others do not explain
#'
#' Where a group of spikes comes back more often than chance has it, so do its parts, and
#' so does the group with spikes that are there by chance: one real pattern makes many that
#' are significant. Pattern set reduction compares each pattern with all that overlap it,
#' given the other, and keeps those that stand on their own.
#'
#' # Which patterns are compared
#' Two patterns overlap at a shift of so many bins if, shifted against each other, they
#' share a spike (of a unit at a lag), and if at least `min_count` windows of the one open
#' just so far from a window of the other. Each two patterns are compared at each shift at
#' which they overlap. What is rejected anywhere is out; rejected patterns still count in
#' other comparisons, so that the order in which they are made does not matter.
#'
#' # What is rejected
#' Let pattern A have \eqn{z_A} spikes and \eqn{c_A} occurrences, and pattern B, all of it
#' inside the shifted A, \eqn{z_B} and \eqn{c_B}.
#'
#' * `"subset"` rejects B if it has too few occurrences of its own:
#'   \eqn{c_B - c_A + h} is below `min_count`, or the signature
#'   \eqn{(z_B, c_B - c_A + h)} is not significant.
#' * `"superset"` rejects A if it has too few spikes beyond B: \eqn{z_A - z_B + k} is below
#'   `min_spikes`, or \eqn{(z_A - z_B + k, c_A)} is not significant.
#' * `"covered_spikes"` rejects the one that covers fewer spikes: B if
#'   \eqn{(z_A - l) c_A \ge (z_B - l) c_B}, else A.
#' * `"combined"` asks the first two, and rejects what they do; where both A and B would
#'   go, the third decides. It also looks at patterns of which each has spikes that the
#'   other has not. With `s` shared spikes, a pattern of \eqn{z} spikes and \eqn{c}
#'   occurrences is rejected if \eqn{z - s + k} is below `min_spikes` or
#'   \eqn{(z - s + k, c)} is not significant; where that holds for both, the one that
#'   covers fewer spikes is.
#'
#' A signature is not significant if `non_significant` lists it; with a duration it is the
#' duration of the pattern that would be rejected. Where both of two patterns that do not
#' contain each other cover equally many spikes, the one that comes first stays: the
#' larger, then the more frequent, then the one whose first lag, first unit, second lag,
#' ... is smaller, units in the order of the recording. Of equal patterns, the first one in
#' `patterns` counts as A.
#'
#' # Compared with Elephant
#' `"combined"` is what Elephant's `pattern_set_reduction()` does (version 1.2), with its
#' `h_subset_filtering`, `k_superset_filtering` and `l_covered_spikes` as `h`, `k` and `l`,
#' except for two things. Where two patterns that do not contain each other cover equally
#' many spikes, Elephant keeps the one that is listed first. And a shift may take its
#' numbers of items from one unit over to the next, so that it finds spikes shared that are
#' not; here units are kept apart.
#'
#' @param patterns What [mine_patterns()] gives, or some of it: most often those that are
#'   significant. They need the recording in which they were mined, which `c()` of patterns
#'   of different ones loses.
#' @param non_significant Signatures that are not significant: what [test_signatures()]
#'   gives, or a data frame of `size`, `count` and, unless durations do not matter,
#'   `duration` in seconds, with a row for each. By default only `min_spikes` and `min_count`
#'   decide.
#' @param method Which filter; see below.
#' @param h,k,l Corrections of the three filters: whole numbers from 0. Higher `h` keeps
#'   more subsets, and higher `k` more supersets; higher `l` favours larger patterns.
#' @param ... Not used; must be empty. All arguments after it are given by name.
#' @param min_spikes,min_count Below these nothing is significant; by default what the
#'   patterns were mined with.
#' @param max_memory Bytes that may be held besides `patterns`: about 40 for each spike of
#'   the recording, 80 for each spike of the patterns, and 14 for each of their occurrences,
#'   of which those that the unit with most of them takes part in take 8 more for each spike
#'   of that unit.
#' @return Those of `patterns` that are kept, in their order.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`; 2^31 occurrences or
#' more give `synfire_error_too_large`, more than fits in `max_memory` gives
#' `synfire_error_budget`, and more than the machine has memory for
#' `synfire_error_memory`. Where `non_significant` is what [test_signatures()]
#' gives for patterns of another recording, there is a warning of class
#' `synfire_warning_recording`.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Quaglio P, Yegenoglu A, Torre E, Endres DM, Gruen S (2017). Detection and evaluation of
#' spatio-temporal spike patterns in massively parallel spike train data with SPADE.
#' *Frontiers in Computational Neuroscience*, 11, 41. \doi{10.3389/fncom.2017.00041}
#' @seealso [mine_patterns()], [pattern_stability()]
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 10, min_spikes = 3, min_count = 8,
#'                        threads = 2)
#' found
#' # The planted pattern, without its parts:
#' reduce_patterns(found)
#' @export
reduce_patterns <- function(patterns, non_significant = NULL,
                            method = c("combined", "subset", "superset", "covered_spikes"),
                            h = 0, k = 0, l = 0, ..., min_spikes = NULL, min_count = NULL,
                            max_memory = 4e9) {
  check_given(patterns = "what `mine_patterns()` gives")
  check_no_dots()
  check_mined(patterns)
  method <- check_choice(method)
  most <- .Machine$integer.max
  h <- check_count(h, min = 0, max = most)
  k <- check_count(k, min = 0, max = most)
  l <- check_count(l, min = 0, max = most)
  min_spikes <- check_count(min_spikes %||% mined_with(patterns, "min_spikes"), max = most)
  min_count <- check_count(min_count %||% mined_with(patterns, "min_count"), max = most)
  max_memory <- check_memory(max_memory)
  take_sets(patterns, unexplained(patterns, non_significant, method, h, k, l, max_memory,
                                  min_spikes, min_count))
}

#' Numbers of the patterns that others do not explain
#' @noRd
unexplained <- function(patterns, non_significant, method, h, k, l, max_memory,
                        min_spikes = mined_with(patterns, "min_spikes"),
                        min_count = mined_with(patterns, "min_count")) {
  listed <- check_signatures(non_significant, patterns)
  methods <- eval(formals(reduce_patterns)$method)
  options <- list(method = match(method, methods) - 1, h = h, k = k, l = l,
                  min_spikes = min_spikes, min_count = min_count, max_memory = max_memory)
  keep <- .Call(r_reduce_patterns, mined_events(patterns), patterns_to_find(patterns), listed,
                options)
  keep <- finish_status(keep, "reducing these patterns", fewer_patterns, limit_of = "occurrences")
  which(keep)
}

fewer_patterns <- "Choose fewer patterns, such as those that are significant."

#' A filter that patterns were mined with, of which those are none that are too large for C
#' @noRd
mined_with <- function(patterns, filter) {
  value <- attr(patterns, "parameters", exact = TRUE)[[filter]]
  if (is.numeric(value)) pmin(value, .Machine$integer.max)
}

#' Patterns with the recording in which they were mined
#' @noRd
check_mined <- function(patterns) {
  check_patterns(patterns)
  refuse_if(is.null(own_recording(patterns)), "patterns", "patterns of one recording",
            "without a recording", "Mine again, or reduce those of each recording.")
}

#' The spikes in which patterns were mined, as the miner took them
#' @noRd
mined_events <- function(patterns) {
  x <- attr(patterns, "recording", exact = TRUE)
  bin_size <- attr(patterns, "bin_size", exact = TRUE)
  pattern_events(x, seconds_to_ticks(bin_size, attr(x, "resolution"), "bin_size"))
}

#' Signatures as C takes them: sizes, occurrences, durations in bins or -1
#' @noRd
check_signatures <- function(x, patterns) {
  if (is.null(x)) return(integer())
  arg <- "non_significant"
  if (inherits(x, "signature_tests")) {
    check_tests(x, arg)
    check_same_search(patterns, x, arg)
    warn_other_recording(fingerprint_of(patterns), attr(x, "fingerprint", exact = TRUE), arg)
    x <- non_significant(x)
  }
  # These list all signatures, significant or not.
  refuse_if(inherits(x, c("pattern_spectrum", "pvalue_spectrum")), arg,
            "what `test_signatures()` gives, or a data frame of such signatures alone",
            sprintf("what `%s()` gives", class(x)[[1L]]))
  must <- "a data frame with columns `size` and `count`, whole numbers"
  refuse_if(!is.data.frame(x) || !all(c("size", "count") %in% names(x)), arg, must, describe(x))
  whole <- \(v) is_plain_numeric(v) && all(is.finite(v)) && all(v == round(v)) && all(v >= 0) &&
    all(v <= .Machine$integer.max)
  refuse_if(!whole(x$size) || !whole(x$count), arg, must, "a data frame with others")
  bins <- rep(-1, nrow(x))
  if (!is.null(x$duration)) {
    if (is_plain_numeric(x$duration)) bins <- x$duration / attr(patterns, "bin_size", exact = TRUE)
    if (!is_plain_numeric(x$duration) || !all(is.finite(bins)) ||
        any(abs(bins - round(bins)) > 1e-6)) {
      abort_arg(arg, "without durations, or with whole numbers of bins, in seconds",
                "a data frame with others")
    }
    inside <- bins >= 0 & bins < attr(patterns, "window_bins", exact = TRUE)
    x <- x[inside, ]
    bins <- bins[inside]
  }
  as.integer(round(c(x$size, x$count, bins)))
}
