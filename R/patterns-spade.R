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
#'    occurrences and single spikes. With a threshold this comes before the reduction, and
#'    patterns that are less stable are dropped.
#'
#' # Choosing
#' * `surrogate` is the null hypothesis: what the recording may have without a pattern in
#'   it. Dithering is the published one. It keeps the rate except for changes faster than
#'   `dither`, which should be several bins. Of regular trains, and of the frames of a film, it
#'   moves spikes into bins that hold one already; the surrogates then have fewer items than
#'   the recording, and too much seems significant (Stella et al. 2022). By default `spade()`
#'   finds out whether that is so, and shifts trains or trials instead. Shifts of trains by
#'   less than a window leave many patterns in it, with other lags. [surrogate_trains()]
#'   compares the methods.
#' * `min_count` decides how much work there is: a pattern that occurs twice says little, and
#'   there are many. [suggest_pattern_count()] suggests the count that chance hardly reaches.
#'   Where patterns take more than 100 MB, mining with larger counts first shows how fast they
#'   become more: a message says how long all of them take, or an error that they do not fit
#'   `max_memory`, and which `min_count` finds how many. Where the surrogates take more
#'   than a minute, a message says how long, going by the first of them.
#' * `n_surrogates` limits how small a p value can be. `summary()` says when they are too few
#'   for so many tests.
#' * `spectrum = "3d#"` asks for each duration on its own. That makes long patterns and
#'   short ones comparable, and the tests many.
#'
#' # Different from Elephant
#' `window_bins` is `winlen` there, `min_units` is `min_neu` and 1 by default, `n_surrogates` is
#' `n_surr` and 0 by default, `surrogate` is `surr_method`, `correction` is `stat_corr`, `h`,
#' `k` and `l` of `reduction` are `psr_param`, and `stability` is `approx_stab_pars`.
#' [surrogate_trains()] and [test_signatures()] list the names of surrogates and corrections. A
#' call with Elephant's names is an error that says ours.
#'
#' What is counted in other ways is said with each stage. Most of all,
#' * a p value is `(k + 1) / (n + 1)` unless you choose `"k/n"`, and no signature is
#'   significant without a test;
#' * `min_spikes` is 2 in Elephant by default, and here 3;
#' * `shifted_subsets` is `"keep"` by default. Elephant does what `"drop"` does. There are
#'   then fewer patterns, and maybe fewer signatures to test;
#' * with `max_spikes`, Elephant takes as patterns what `closed_within = "max_spikes"` does,
#'   and loses a few of them; surrogates are mined in the same way as the recording;
#' * Elephant drops patterns below its `stability_thresh` before it tests, so that fewer tests
#'   are corrected for, which were chosen by a look at the patterns. Here a threshold
#'   drops the same patterns, of any signature, but the tests are those of all patterns that
#'   were mined: with a threshold there is nothing significant that would not be without.
#'
#' With `min_spikes = 2`, `min_units = 1` and `mining = list(shifted_subsets = "drop",
#' closed_within = "max_spikes")` the patterns are those that Elephant mines, and with
#' `max_spikes` those that it loses.
#'
#' @inheritParams pvalue_spectrum
#' @param alpha Probability of an error that is taken, above 0 and below 1.
#' @param correction How p values are adjusted for each other: `"none"`, `"bonferroni"`,
#'   `"sidak"`, `"holm"`, `"holm-sidak"`, `"hochberg"`, `"hommel"`, `"BH"`, `"BY"`, `"TSBH"`
#'   or `"TSBKY"`; see [test_signatures()].
#' @param p_estimator The p value when `k` of `n` surrogates reach a signature, see
#'   [pvalue_spectrum()].
#' @param n_surrogates Number of surrogates; 0 to stop after the first stages, without p
#'   values and without reduction.
#' @param reduction Which patterns are dropped for others' sake: a `method` of
#'   [reduce_patterns()], such as `"combined"`, or `"none"`; or a list of a method and any of
#'   its corrections `h`, `k` and `l`, such as `list("combined", h = 1)`.
#' @param stability `NULL`, or a list of arguments of [pattern_stability()], which may be
#'   empty. It may also have a `threshold`, such as `c(intensional = 0.3)` or
#'   `c(intensional = 0.3, extensional = 0.5)`: patterns stay that are above one of the
#'   numbers given.
#' @param mining List of further arguments of [mine_patterns()]: `closed_within` and
#'   `shifted_subsets` say what is a pattern, `engine` who searches. Surrogates are always
#'   searched by the same engine, which gives the same maxima.
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
#'     \item{unstable}{how many of these (without surrogates, of all) were not stable enough;
#'       `NULL` without a threshold}
#'     \item{explained}{how many of the others the reduction dropped}
#'     \item{parameters}{list of the arguments that decide the result, those of the surrogates
#'       among them; the window of window shuffling is `shuffle_window`, in seconds}
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
#' found <- spade(x, bin_size = 0.005, window_bins = 8, min_count = 4, n_surrogates = 100,
#'                threads = 2)
#' found
#' summary(found)
#' @export
spade <- function(x, bin_size, window_bins, min_spikes = 3, min_count = 2,
                  max_spikes = Inf, max_count = Inf, min_units = min_spikes,
                  n_surrogates = 1000, surrogate = NULL, dither = NULL, ...,
                  alpha = 0.05, correction = "BH", spectrum = c("#", "3d#"),
                  p_estimator = c("(k+1)/(n+1)", "k/n"), reduction = "combined",
                  stability = NULL, mining = list(), folder = NULL,
                  device = c("cpu", "gpu", "auto"), gpus = NULL, threads = NULL,
                  max_memory = 4e9) {
  begun <- check_given(x = "a recording", bin_size = "the length of a bin in seconds",
                       window_bins = "the length of the windows in bins")
  search <- pattern_search(x, bin_size, window_bins, min_spikes, min_count, max_spikes, max_count,
                           min_units, warn = FALSE)
  mining <- check_mining(mining)
  reduction <- check_reduction(reduction)
  choices <- c(list(
    n_surrogates = check_count(n_surrogates, min = 0, max = .Machine$integer.max),
    alpha = check_alpha(alpha), correction = check_correction(correction),
    spectrum = check_choice(spectrum), p_estimator = check_choice(p_estimator)
  ), reduction, list(device = check_choice(device)))
  check_stability(stability)
  more <- list(...)
  check_pattern_surrogate(surrogate, dither, more)
  check_place(choices$device, gpus)
  here <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  seed <- current_seed()
  n <- choices$n_surrogates
  # Without a spike there is nothing to make them of, and no pattern that would need them.
  made <- if (n > 0 && nrow(search$x) > 0L) pattern_surrogates(search, surrogate, dither, more)
  stages <- stage_clock()
  mined <- stages$time("mining", mine_or_foresee(search, made, here, max_memory,
                                                 closed_within = mining$closed_within,
                                                 shifted_subsets = mining$shifted_subsets,
                                                 engine = mining$engine))
  pvalues <- if (n > 0 && length(mined) > 0L) {
    if (choices$device == "cpu" && is.null(folder)) {
      foresee_surrogates(n, attr(mined, "elapsed"), here, search$filters$min_count, \() {
        surrogate_maxima(search, made, 1, choices$spectrum == "3d#", max_memory = max_memory)
      })
    }
    stages$time("surrogates", maxima_of_surrogates(
      search, mining$closed_within, made, n, choices$spectrum, choices$p_estimator, choices$device,
      gpus, threads, max_memory, seed, folder
    ))
  }
  tests <- if (!is.null(pvalues)) {
    stages$time("tests", judge_signatures(mined, pvalues, choices$alpha, choices$correction,
                                          attr(pvalues, "fingerprint", exact = TRUE)))
  }
  found <- settle_patterns(mined, tests, n > 0, choices, stability, here, max_memory, stages)
  new_spade(found$patterns, tests, found$stability,
            list(mined = mined, spectrum = pattern_spectrum(mined, choices$spectrum),
                 pvalues = pvalues, tests = tests, significant = found$significant,
                 unstable = found$unstable, explained = found$explained,
                 parameters = c(search["bin_size"], list(window_bins = search$window),
                                search$filters, mining, choices,
                                surrogate_parameters(surrogate, dither, more, made),
                                list(stability = stability)),
                 seed = attr(pvalues, "seed", exact = TRUE) %||% seed, elapsed = stages$elapsed(),
                 device = attr(pvalues, "device", exact = TRUE) %||% "cpu", threads = here,
                 call = begun$call))
}

#' Further arguments of `mine_patterns()`, each with a value
#' @noRd
check_mining <- function(mining) {
  known <- c("closed_within", "shifted_subsets", "engine")
  named <- is.list(mining) && !is.object(mining) && length(mining) == sum(names(mining) %in% known)
  refuse_if(!named || anyDuplicated(names(mining)), "mining",
            sprintf("a list of any of %s", toString(known)), describe(mining),
            "For example `list(shifted_subsets = \"drop\")`.")
  rlang::set_names(lapply(known, \(name) {
    choices <- eval(formals(mine_patterns)[[name]])
    check_choice(mining[[name]] %||% choices[[1L]], choices, paste0("mining$", name))
  }), known)
}

#' The method of a reduction with its corrections h, k and l
#' @noRd
check_reduction <- function(reduction) {
  given <- check_with_options(reduction, "reduction", "method", c("h", "k", "l"),
                              "a method, or a list of a method and any of h, k, l",
                              "For example `list(\"combined\", h = 1)`.")
  methods <- c(eval(formals(reduce_patterns)$method), "none")
  correction <- \(name) check_count(given[[name]] %||% 0, paste0("reduction$", name), min = 0,
                                    max = .Machine$integer.max)
  list(reduction = check_choice(given$method, methods, "reduction"),
       h = correction("h"), k = correction("k"), l = correction("l"))
}

#' The patterns that are left: significant, stable where that is asked for, and not
#' explained by others
#'
#' @param tested Whether surrogates were asked for; else all patterns are left.
#' @return A list: `patterns`; their `stability`, or NULL; `significant`, how many were, NA
#'   where that was not asked; `unstable`, how many of those were not stable enough, NULL
#'   where that did not matter; `explained`, how many of the others went for others' sake.
#' @noRd
settle_patterns <- function(mined, tests, tested, choices, stability, threads, max_memory,
                            stages) {
  kept <- if (tested) significant_of(mined, tests) else mined
  significant <- length(kept)
  threshold <- stability$threshold
  find_stability <- function(kept) {
    arguments <- stability[names(stability) != "threshold"]
    stages$time("stability", {
      do.call(pattern_stability, c(list(kept, threads = threads, max_memory = max_memory),
                                   arguments), quote = TRUE)
    })
  }
  stable <- NULL
  if (!is.null(threshold)) {
    stable <- find_stability(kept)
    left <- which(is_stable(stable, threshold))
    kept <- take_sets(kept, left)
    stable <- take_rows(stable, left)
  }
  unstable <- if (!is.null(threshold)) significant - length(kept)
  stable_ones <- length(kept)
  if (tested && length(kept) > 0L && choices$reduction != "none") {
    left <- stages$time("reduction", with(choices, {
      unexplained(kept, tests, reduction, h, k, l, max_memory)
    }))
    kept <- take_sets(kept, left)
    if (!is.null(stable)) stable <- take_rows(stable, left)
  }
  if (!is.null(stability) && is.null(threshold)) stable <- find_stability(kept)
  list(patterns = kept, stability = stable,
       significant = if (tested) significant else NA_integer_, unstable = unstable,
       explained = stable_ones - length(kept))
}

#' Which patterns are above the threshold of a kind of stability
#' @noRd
is_stable <- function(stability, threshold) {
  Reduce(`|`, lapply(names(threshold), \(kind) stability[[kind]] > threshold[[kind]]))
}

#' How surrogates were to be made, by the names of the arguments of spade()
#'
#' @param made What surrogate_options() gives; NULL where none were made.
#' @noRd
surrogate_parameters <- function(surrogate, dither, more, made) {
  surrogate <- made$method %||% surrogate %||% "dither"
  own <- made$parameters %||% more
  dither <- own$dither %||% dither
  # That of the shuffling is that of the patterns; a window there is one of these, and comes
  # from `dither`.
  own[c("dither", "bin_size")] <- NULL
  names(own)[names(own) == "window"] <- "shuffle_window"
  c(list(surrogate = surrogate),
    if ("dither" %in% method_arguments[[surrogate]] && !is.null(dither)) list(dither = dither), own)
}

#' Arguments of pattern_stability() in a list, and a threshold, known to be right before
#' any work
#' @noRd
check_stability <- function(stability) {
  if (is.null(stability)) return(invisible())
  known <- c("n_subsets", "delta", "epsilon", "type", "threshold")
  must <- sprintf("NULL or a list of arguments of `pattern_stability()` and a threshold: %s",
                  toString(known))
  refuse_if(!is.list(stability) || is.object(stability), "stability", must, describe(stability))
  given <- names(stability) %||% rep("", length(stability))
  wrong <- c(setdiff(given, known), given[duplicated(given)])
  refuse_if(length(wrong) > 0L, "stability", must,
            sprintf("one with \"%s\"%s", wrong[[1L]],
                    if (wrong[[1L]] %in% known) " twice" else ""))
  of <- \(name) if (name %in% given) stability[[name]] else formals(pattern_stability)[[name]]
  check_subsets(of("n_subsets"), of("delta"), of("epsilon"))
  if ("type" %in% given) check_kinds(stability$type, "stability$type")
  check_threshold(stability$threshold, eval(of("type")))
}

#' @param type The kinds of stability that are found.
#' @noRd
check_threshold <- function(threshold, type) {
  if (is.null(threshold)) return(invisible())
  ok <- is_plain_numeric(threshold) && length(threshold) > 0L && !anyNA(threshold) &&
    all(threshold >= 0 & threshold <= 1) && !is.null(names(threshold)) &&
    all(names(threshold) %in% type) && !anyDuplicated(names(threshold))
  refuse_if(!ok, "stability$threshold", sprintf("numbers from 0 to 1, with %s as names",
                                                paste0("\"", type, "\"", collapse = " or ")),
            if (is_plain_numeric(threshold) && is.null(names(threshold))) "without names" else
              describe(threshold), "For example `c(intensional = 0.3)`.")
}

#' Seconds that the parts of a job take
#'
#' @return A list: `time(stage, value)` gives `value`, which is worked out there, and
#'   `elapsed()` the seconds of all stages, named.
#' @noRd
stage_clock <- function() {
  seconds <- double()
  list(time = function(stage, value) {
         began <- proc.time()[["elapsed"]]
         force(value)
         seconds[[stage]] <<- proc.time()[["elapsed"]] - began
         value
       }, elapsed = function() seconds)
}

#' @param patterns Those that are left.
#' @param stable What pattern_stability() gives, or NULL.
#' @param rest The other elements.
#' @noRd
new_spade <- function(patterns, tests, stable, rest) {
  row <- if (is.null(tests)) rep(NA_integer_, length(patterns)) else signature_rows(patterns, tests)
  p <- \(column) as.double(if (is.null(tests)) rep(NA, length(patterns)) else tests[[column]][row])
  structure(c(list(patterns = patterns, p = p("p"), p_adjusted = p("p_adjusted"),
                   stability = stable), rest), class = c("spade", "synfire_result"))
}
