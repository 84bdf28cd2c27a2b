# Significant spike patterns, all stages in one.

#' Find significant spike patterns (SPADE)
#'
#' Which spike patterns come back more often than spikes that know nothing of each other
#' would make them? `spade()` finds all patterns, compares them with surrogates of the
#' recording, keeps those that are significant, and of these the ones that others do not
#' explain. This is SPADE, the detection and evaluation of spike patterns by Torre et al.
#' (2013), Quaglio et al. (2017) and Stella et al. (2019); Zaki's SPADE for sequences
#' (2001) shares no more than its name.
#'
#' # Stages
#' Each is a function of its own, to be used alone or looked into.
#' 1. [mine_patterns()] finds the patterns of the recording.
#' 2. [pattern_spectrum()] counts them by signature: size, occurrences and, for `"3d#"`,
#'    duration.
#' 3. [pvalue_spectrum()] makes surrogates ([surrogate_trains()]) and counts how many have a
#'    pattern as large and as frequent.
#' 4. [test_signatures()] corrects for many tests, and [significant_patterns()] keeps what is
#'    significant.
#' 5. [reduce_patterns()] drops patterns that are there because others are: parts of them, or
#'    them with a spike too many.
#' 6. [pattern_stability()] says, if asked for, how much a pattern rests on single
#'    occurrences and single spikes.
#'
#' # Choosing
#' * `surrogate` is the null hypothesis: what the recording may have without a pattern in
#'   it. Dithering is the published one. It keeps the rate but for changes faster than
#'   `dither`, which should be several bins. Of regular trains it moves spikes into bins that
#'   hold one already; the surrogates then have fewer items than the recording, and too much
#'   seems significant (Stella et al. 2022). Shifts by less than a window leave many patterns
#'   in it, with other lags: give them a longer `dither`. [surrogate_trains()] compares the
#'   methods.
#' * `min_occ` decides how much work there is: a pattern that occurs twice says little, and
#'   there are many. Where the search would take more than `max_memory`, the error says
#'   which `min_occ` would not.
#' * `n_surrogates` limits how small a p value can be. `summary()` says when they are too few
#'   for so many tests.
#' * `spectrum = "3d#"` asks for each duration on its own. That makes long patterns and
#'   short ones comparable, and the tests many.
#'
#' # Different from Elephant
#' `min_units` is `min_neu` there, and 1 by default; `n_surrogates` is `n_surr`, `alpha` and
#' `correction` are `alpha` and `stat_corr`, and `h`, `k` and `l` are `psr_param`. What is
#' counted in other ways is said with each stage; most of all, a p value is
#' `(k + 1) / (n + 1)` here unless you choose `"k/n"`, and no signature is significant
#' without a test.
#'
#' @inheritParams pvalue_spectrum
#' @param alpha Probability of an error that is taken, above 0 and below 1.
#' @param correction How p values are adjusted for each other: `"none"`, `"bonferroni"`,
#'   `"sidak"`, `"holm"`, `"holm-sidak"`, `"hommel"`, `"BH"`, `"BY"`, `"TSBH"` or
#'   `"TSBKY"`; see [test_signatures()].
#' @param p_estimator The p value when `k` of `n` surrogates reach a signature, see
#'   [pvalue_spectrum()].
#' @param n_surrogates Number of surrogates; 0 to stop after the first stages, without p
#'   values and without reduction.
#' @param reduction Which patterns are dropped for others' sake, a `method` of
#'   [reduce_patterns()], or `"none"`.
#' @param h,k,l Whole numbers that correct the reduction, see [reduce_patterns()].
#' @param stability `NULL`, or a list of arguments of [pattern_stability()], which may be
#'   empty.
#'
#' @return An object of class `spade`, a list of
#'   \describe{
#'     \item{patterns}{the significant patterns that are left, as [mine_patterns()] gives
#'       them; all that were found where `n_surrogates` is 0}
#'     \item{p, p_adjusted}{p value of each one's signature, raw and adjusted; `NA` without
#'       surrogates}
#'     \item{stability}{what [pattern_stability()] gives, or `NULL`}
#'     \item{mined}{all patterns that were found}
#'     \item{spectrum}{their [pattern_spectrum()]}
#'     \item{pvalues}{the [pvalue_spectrum()], with all maxima, or `NULL` where no surrogate
#'       was made: none was asked for, or there was no pattern to test}
#'     \item{tests}{what [test_signatures()] gives, or `NULL`}
#'     \item{significant}{number of patterns with a significant signature}
#'     \item{parameters}{list of the arguments}
#'     \item{seed}{`.Random.seed` as it was before, as [stats::simulate()] keeps it: give it
#'       back to R to repeat the call}
#'     \item{elapsed}{seconds of each stage}
#'     \item{device, threads, call}{what ran}
#'   }
#'   See [spade_tables] for what can be done with it, and [autoplot.spade()]. With the same
#'   [set.seed()] the result is the same, with any number of threads and on any device.
#'
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`, those about memory
#' `synfire_error_budget` and `synfire_error_memory`, and a GPU that there is not
#' `synfire_error_device`. That nothing is found is no error.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Quaglio P, Yegenoglu A, Torre E, Endres DM, Gruen S (2017). Detection and evaluation of
#' spatio-temporal spike patterns in massively parallel spike train data with SPADE.
#' *Frontiers in Computational Neuroscience*, 11, 41. \doi{10.3389/fncom.2017.00041}
#'
#' Stella A, Quaglio P, Torre E, Gruen S (2019). 3d-SPADE: significance evaluation of
#' spatio-temporal patterns of various temporal extents. *BioSystems*, 185, 104022.
#' \doi{10.1016/j.biosystems.2019.104022}
#'
#' Stella A, Bouss P, Palm G, Gruen S (2022). Comparing surrogates to evaluate precisely
#' timed higher-order spike correlations. *eNeuro*, 9, ENEURO.0505-21.2022.
#' \doi{10.1523/ENEURO.0505-21.2022}
#' @seealso [simulate_patterns()] for recordings to try it on.
#' @examples
#' # Five units fire in a fixed order, 40 times.
#' set.seed(1)
#' x <- simulate_patterns(duration = 30, units = 10, rate = 4)
#' found <- spade(x, bin_size = 0.005, window = 8, min_occ = 4, n_surrogates = 100,
#'                threads = 2)
#' found
#' summary(found)
#' @export
spade <- function(x, bin_size, window, min_spikes = 3, min_occ = 2, max_spikes = Inf,
                  max_occ = Inf, min_units = min_spikes, n_surrogates = 1000,
                  surrogate = "dither", dither = 0.015, ..., alpha = 0.05,
                  correction = "BH", spectrum = c("#", "3d#"),
                  p_estimator = c("(k+1)/(n+1)", "k/n"),
                  reduction = c("combined", "subset", "superset", "covered_spikes", "none"),
                  h = 0, k = 0, l = 0, stability = NULL, device = c("cpu", "gpu", "auto"),
                  gpus = NULL, threads = NULL, max_memory = 4e9, folder = NULL) {
  call <- match.call()
  if (missing(x)) abort_arg("x", "a recording", "missing")
  x <- as_spike_trains(x)
  bin <- check_bin_size(bin_size, attr(x, "resolution"))
  window <- check_window(window, nlevels(x$unit))
  filters <- check_pattern_filters(min_spikes, min_occ, max_spikes, max_occ, min_units)
  most <- .Machine$integer.max
  choices <- list(
    n_surrogates = check_count(n_surrogates, min = 0, max = most), alpha = check_alpha(alpha),
    correction = check_choice(correction, corrections),
    spectrum = check_choice(spectrum),
    p_estimator = check_choice(p_estimator),
    reduction = check_choice(reduction),
    h = check_count(h, min = 0, max = most), k = check_count(k, min = 0, max = most),
    l = check_count(l, min = 0, max = most),
    device = check_choice(device)
  )
  check_stability(stability)
  check_place(choices$device, gpus)
  here <- check_threads(threads)
  max_memory <- check_number(max_memory, min = 1e6, max = 2^53)
  seed <- current_seed()
  n <- choices$n_surrogates
  # Without a spike there is nothing to make them of, and no pattern that would need them.
  made <- if (n > 0 && nrow(x) > 0L) {
    choose_surrogates(x, surrogate, dither, list(...), bin_size)
  }

  stages <- stage_clock()
  mined <- stages$time("mining", mine_patterns(
    x, bin_size, window, min_spikes, min_occ, max_spikes, max_occ, min_units,
    threads = here, max_memory = max_memory
  ))
  pvalues <- if (n > 0 && length(mined) > 0L) {
    stages$time("surrogates", maxima_of_surrogates(
      x, bin, window, filters, made, n, choices$spectrum, choices$p_estimator, choices$device,
      gpus, threads, max_memory, seed, folder
    ))
  }
  tests <- if (!is.null(pvalues)) {
    stages$time("tests", judge_signatures(mined, pvalues, choices$alpha, choices$correction))
  }
  kept <- if (n > 0) significant_of(mined, tests) else mined
  significant <- if (n > 0) length(kept) else NA_integer_
  if (n > 0 && length(kept) > 0L && choices$reduction != "none") {
    kept <- stages$time("reduction", reduce_patterns(kept, tests, choices$reduction, h, k, l))
  }
  stable <- if (!is.null(stability)) {
    stages$time("stability", do.call(pattern_stability, c(
      list(kept, threads = here), stability
    )))
  }
  new_spade(
    kept, tests, stable,
    list(mined = mined, spectrum = pattern_spectrum(mined, choices$spectrum),
         pvalues = pvalues, tests = tests, significant = significant,
         parameters = c(filters, choices, list(surrogate = surrogate)),
         seed = attr(pvalues, "seed", exact = TRUE) %||% seed,
         elapsed = stages$elapsed(), device = attr(pvalues, "device", exact = TRUE) %||% "cpu",
         threads = here, call = call)
  )
}

#' Arguments of pattern_stability() in a list, known to be right before any work
#' @noRd
check_stability <- function(stability, call = rlang::caller_env()) {
  if (is.null(stability)) return(invisible())
  known <- c("n_subsets", "delta", "epsilon", "type")
  must <- sprintf("NULL or a list of arguments of `pattern_stability()`: %s", toString(known))
  if (!is.list(stability)) abort_arg("stability", must, describe(stability), call = call)
  unknown <- setdiff(names(stability) %||% rep("", length(stability)), known)
  if (length(unknown) > 0L) {
    abort_arg("stability", must, sprintf("one with \"%s\"", unknown[[1L]]), call = call)
  }
  given <- utils::modifyList(formals(pattern_stability)[known], stability)
  check_subsets(given$n_subsets, given$delta, given$epsilon, call)
  if ("type" %in% names(stability)) check_kinds(stability$type, "stability$type", call)
}

#' Seconds that the parts of a job take
#'
#' @return A list: `time(stage, value)` gives `value`, which is worked out there, and
#'   `elapsed()` the seconds of all stages, named.
#' @noRd
stage_clock <- function() {
  seconds <- double()
  list(
    time = function(stage, value) {
      began <- proc.time()[["elapsed"]]
      force(value)
      seconds[[stage]] <<- proc.time()[["elapsed"]] - began
      value
    },
    elapsed = function() seconds
  )
}

#' @param patterns Those that are left.
#' @param stable What pattern_stability() gives, or NULL.
#' @param rest The other elements.
#' @noRd
new_spade <- function(patterns, tests, stable, rest) {
  row <- if (is.null(tests)) rep(NA_integer_, length(patterns)) else signature_rows(patterns, tests)
  p <- \(column) as.double(if (is.null(tests)) rep(NA, length(patterns)) else tests[[column]][row])
  structure(c(list(patterns = patterns, p = p("p"), p_adjusted = p("p_adjusted"),
                   stability = stable), rest), class = "spade")
}
