# How many patterns have which signature, and how often surrogates reach one.

#' Count spike patterns by signature
#'
#' The signature of a spike pattern is how many spikes it has and how often it occurs; with
#' `spectrum = "3d#"` also how long it lasts. The pattern spectrum says how many patterns
#' have each signature. It is what SPADE tests: not single patterns, of which there are too
#' many, but signatures.
#'
#' @param patterns What [mine_patterns()] gives, or some of it.
#' @param spectrum What a signature is: `"#"` for size and occurrences, `"3d#"` for size,
#'   duration and occurrences (Stella et al. 2019).
#' @return A data frame of class `pattern_spectrum`, a row for each signature that there
#'   is, sorted by its columns:
#'   \describe{
#'     \item{size}{number of spikes}
#'     \item{duration}{lag of the last spike, in seconds; for `"3d#"` alone}
#'     \item{count}{how often such a pattern occurs}
#'     \item{patterns}{how many patterns there are of this signature}
#'   }
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Stella A, Quaglio P, Torre E, Gruen S (2019). 3d-SPADE: significance evaluation of
#' spatio-temporal patterns of various temporal extents. *BioSystems*, 185, 104022.
#' \doi{10.1016/j.biosystems.2019.104022}
#' @seealso [pvalue_spectrum()] for what surrogates make of it; [spade()] for all at once.
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' found <- mine_patterns(x, bin_size = 0.005, window_bins = 6, min_spikes = 3, min_count = 3,
#'                        threads = 2)
#' pattern_spectrum(found)
#' @export
pattern_spectrum <- function(patterns, spectrum = c("#", "3d#")) {
  check_given(patterns = "what `mine_patterns()` gives")
  check_patterns(patterns)
  spectrum <- check_choice(spectrum)
  parts <- pattern_signatures(patterns, spectrum)
  # Sorted by radix, equal ones lie side by side.
  o <- do.call(order, c(unname(parts), method = "radix"))
  parts <- lapply(parts, `[`, o)
  n <- length(o)
  new <- Reduce(`|`, lapply(parts, \(v) v[-1L] != v[-n]))
  first <- if (n == 0L) integer() else which(c(TRUE, new))
  parts <- lapply(parts, `[`, first)
  parts$patterns <- diff(c(first, n + 1L))
  if (!is.null(parts$duration)) parts$duration <- lag_seconds(patterns, parts$duration)
  about <- attributes(patterns)[c("bin_size", "window_bins", "parameters")]
  new_table(parts, "pattern_spectrum", c(list(spectrum = spectrum), about))
}

#' The signatures of patterns, in bins: a list `size`, for `"3d#"` `duration`, `count`
#' @noRd
pattern_signatures <- function(patterns, spectrum) {
  size <- itemset_sizes(patterns)
  c(list(size = size), if (spectrum == "3d#") list(duration = last_lags(patterns)),
    list(count = .subset2(patterns, "count")))
}

# Rows alone do not know what was tested with them: a part is a plain data frame.
#' @export
rows_are_there.pattern_spectrum <- function(x, class = x) FALSE
#' @export
rows_are_there.pvalue_spectrum <- rows_are_there.pattern_spectrum
#' @export
rows_are_there.signature_tests <- rows_are_there.pattern_spectrum

# ---- p values ------------------------------------------------------------------------

#' p values of signatures
#'
#' How often patterns as large and as frequent as those found turn up in surrogates,
#' recordings like this one in which spikes are where they are by chance. A *surrogate* is
#' mined with the same filters as the recording; of each only the *maxima* are kept: for
#' each size the largest number of occurrences of a pattern of that size or larger, 0 where
#' there is none. With `spectrum = "3d#"` there is one for each size and duration. The p
#' value of a signature is the share of surrogates whose maximum reaches it.
#'
#' # Estimators
#' Where `k` of `n` surrogates reach a signature, `"k/n"` is the share itself, as published
#' and as in Elephant. It is 0 where none does, and then passes any correction for many
#' tests, with as few surrogates as you like. `"(k+1)/(n+1)"` counts the recording among its
#' surrogates (Phipson and Smyth 2010): it is never 0, and under the null hypothesis at most
#' `alpha` in a share of at most `alpha` of all recordings, whatever `n`. The price is that
#' many tests need many surrogates; [test_signatures()] says how many.
#'
#' # Same as Elephant, and different
#' Elephant counts maxima in 16 bits, and is wrong above 65,535 occurrences; there is no
#' such limit here. Its `pvalue_spectrum()` lists signatures as this one does, from
#' `min_count` to the largest maximum.
#'
#' @inheritParams mine_patterns
#' @param n_surrogates Number of surrogates, at least 1.
#' @param surrogate How surrogates are made, and so what counts as chance: a `surrogate` of
#'   [surrogate_trains()]. `NULL` is `"dither"`, the published method, where dithered spikes
#'   fill at least 98 % of the bins that the recording fills. Where units fire fast and
#'   regularly, or times are those of frames, they fill fewer, and too much would seem
#'   significant (Stella et al. 2022); so it would where units fire like a clock (a local
#'   variation of [isi_statistics()] below 0.1). Then it is `"trial_shift"`, or without trials
#'   `"train_shift"`, and a message says so. With
#'   `min_units = 1` it is `"dither"`, as shifts keep the patterns of single units.
#' @param dither How far spikes or trains move at most, in seconds. By default three bins, for
#'   `"train_shift"` a window, and 0.015 s where that is more; never more than the shortest
#'   trial. `"window_shuffle"` has windows of twice that, in whole bins; it and
#'   `"bin_shuffle"` shuffle bins of `bin_size`.
#' @param ... Further arguments of the method: `refractory`, `truncation_limit`, `n_bins` and
#'   `sigma`, see [surrogate_trains()].
#' @param spectrum What a signature is, see [pattern_spectrum()].
#' @param p_estimator `"(k+1)/(n+1)"` or `"k/n"`, see Estimators.
#' @param closed_within What is a pattern in surrogates, as in [mine_patterns()]; give what
#'   was given there.
#' @param device Where surrogates are mined: `"cpu"`, `"gpu"`, or `"auto"` to choose by how
#'   long the first of them takes, and say so. The result is the same.
#' @param gpus Numbers of the GPUs to use: rows of `synfire_sitrep()$devices`; `NULL` for
#'   the first one. Several share the surrogates.
#' @param threads Number of threads; `NULL` for all that the process may use.
#' @param max_memory Bytes that may be held, what is found included; with a `folder` by each
#'   worker.
#' @param folder Path of a folder for what surrogates come to, made if it is not there, or
#'   `NULL`. Surrogates are then mined in up to 128 chunks, by the workers of the user's
#'   `future::plan()` where there are some (see [mine_patterns()]). The same call
#'   again goes on from the finished chunks (see [long_jobs]), with the surrogates that the job
#'   began with, whatever the seed is now; the attribute `seed` is that of the first call.
#' @return A data frame of class `pvalue_spectrum`, sorted by its columns:
#'   \describe{
#'     \item{size}{number of spikes}
#'     \item{duration}{lag of the last spike, in seconds; for `"3d#"` alone}
#'     \item{count}{number of occurrences, from `min_count` to the largest maximum of a surrogate}
#'     \item{reached}{number of surrogates whose maximum is this large or larger}
#'     \item{p}{p value}
#'   }
#'   Signatures that are not listed are reached by no surrogate. The attribute `maxima`
#'   holds all maxima: an integer matrix with a row for each surrogate and a column for each
#'   size, or an array with durations (from 0 bins) last. Other attributes say what was done:
#'   `spectrum`, `n_surrogates`, `p_estimator`, `surrogate`, `parameters`, `bin_size`,
#'   `window_bins`, `fingerprint` (how many units and spikes the recording has, where it starts
#'   and ends, and a hash of its spikes; [test_signatures()] knows by it whether patterns are
#'   of the same recording), `device`, `threads`, `elapsed` (s), `seed` and `call`.
#'
#'   [set.seed()] decides all, with any number of `threads`, on any `device`. `seed` is
#'   `.Random.seed` as it was before, as [stats::simulate()] keeps it.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`, those about
#' memory `synfire_error_budget` and `synfire_error_memory`, and a GPU that there is not
#' `synfire_error_device`.
#' @references
#' Torre E, Picado-Muino D, Denker M, Borgelt C, Gruen S (2013). Statistical evaluation of
#' synchronous spike patterns extracted by frequent item set mining. *Frontiers in
#' Computational Neuroscience*, 7, 132. \doi{10.3389/fncom.2013.00132}
#'
#' Stella A, Quaglio P, Torre E, Gruen S (2019). 3d-SPADE: significance evaluation of
#' spatio-temporal patterns of various temporal extents. *BioSystems*, 185, 104022.
#' \doi{10.1016/j.biosystems.2019.104022}
#'
#' Stella A, Bouss P, Palm G, Gruen S (2022). Comparing surrogates to evaluate precisely
#' timed higher-order spike correlations. *eNeuro*, 9, ENEURO.0505-21.2022.
#' \doi{10.1523/ENEURO.0505-21.2022}
#'
#' Phipson B, Smyth GK (2010). Permutation p-values should never be zero: calculating exact
#' p-values when permutations are randomly drawn. *Statistical Applications in Genetics and
#' Molecular Biology*, 9, 39. \doi{10.2202/1544-6115.1585}
#' @seealso [test_signatures()] for which signatures are significant; [spade()] for all at
#'   once.
#' @examples
#' set.seed(1)
#' x <- simulate_patterns(duration = 20, units = 8)
#' pvalue_spectrum(x, bin_size = 0.005, window_bins = 6, min_count = 3, n_surrogates = 50,
#'                 threads = 2)
#' @export
pvalue_spectrum <- function(x, bin_size, window_bins, min_spikes = 3, min_count = 2,
                            max_spikes = Inf, max_count = Inf, min_units = min_spikes,
                            n_surrogates = 1000, surrogate = NULL, dither = NULL, ...,
                            spectrum = c("#", "3d#"), p_estimator = c("(k+1)/(n+1)", "k/n"),
                            closed_within = c("all", "max_spikes"),
                            folder = NULL, device = c("cpu", "gpu", "auto"), gpus = NULL,
                            threads = NULL, max_memory = 4e9) {
  begun <- check_given(x = "a recording", bin_size = "the length of a bin in seconds",
                       window_bins = "the length of the windows in bins")
  search <- pattern_search(x, bin_size, window_bins, min_spikes, min_count, max_spikes, max_count,
                           min_units)
  closed_within <- check_choice(closed_within)
  n <- check_count(n_surrogates, "n_surrogates", max = .Machine$integer.max)
  spectrum <- check_choice(spectrum)
  p_estimator <- check_choice(p_estimator)
  device <- check_choice(device)
  check_place(device, gpus)
  check_threads(threads)
  max_memory <- check_memory(max_memory)
  seed <- current_seed()
  made <- pattern_surrogates(search, surrogate, dither, list(...))
  out <- maxima_of_surrogates(search, closed_within, made, n, spectrum, p_estimator, device, gpus,
                              threads, max_memory, seed, folder)
  attr(out, "call") <- begun$call
  out
}

#' What pvalue_spectrum() gives, of arguments that have been checked
#'
#' @param search What pattern_search() gives.
#' @param made What surrogate_options() gives.
#' @param threads As the user gave them.
#' @noRd
maxima_of_surrogates <- function(search, closed_within, made, n, spectrum, p_estimator, device,
                                 gpus, threads, max_memory, seed, folder) {
  started <- proc.time()[["elapsed"]]
  # Without a largest size both are the same.
  if (is.finite(search$filters$max_spikes) && closed_within != "all") {
    search$filters$closed_within <- closed_within
  }
  by_duration <- spectrum == "3d#"
  here <- check_threads(threads)
  maxima_of <- \(n, place) {
    surrogate_maxima(search, made, n, by_duration, place, here, max_memory)$maxima
  }
  place <- surrogate_place(device, gpus, \() {
    # One surrogate is one thread's work.
    n / min(n, here) * system.time(maxima_of(1, NULL))[["elapsed"]]
  })
  job <- if (is.null(folder)) {
    list(maxima = maxima_of(n, place), made = made, seed = seed)
  } else {
    maxima_in_folder(folder, search, made, n, by_duration, place, threads, max_memory, seed)
  }
  resolution <- attr(search$x, "resolution", exact = TRUE)
  columns <- reached_signatures(job$maxima, search$filters, n, max_memory)
  columns$p <- surrogate_p(columns$reached, n, p_estimator)
  if (by_duration) {
    columns$duration <- ticks_to_seconds(columns$duration * search$bin, resolution)
  }
  new_table(columns, "pvalue_spectrum",
            list(spectrum = spectrum, n_surrogates = n, p_estimator = p_estimator,
                 surrogate = job$made, parameters = search$filters,
                 bin_size = ticks_to_seconds(search$bin, resolution),
                 window_bins = as.integer(search$window), maxima = job$maxima,
                 fingerprint = fingerprint(search$x),
                 device = if (is.null(place)) "cpu" else "gpu", threads = here,
                 elapsed = proc.time()[["elapsed"]] - started, seed = job$seed))
}

#' Signatures from `min_count` to the largest maximum, and how many surrogates reach them
#'
#' @param maxima Matrix or array as surrogate_maxima() gives.
#' @return A list: `size`, `duration` (in bins, where `maxima` has them), `count`,
#'   `reached`.
#' @noRd
reached_signatures <- function(maxima, filters, n, max_memory = Inf) {
  by_duration <- length(dim(maxima)) == 3L
  cells <- matrix(maxima, nrow = n)
  sizes <- dim(maxima)[[2L]]
  # Columns go size by size within a duration; rows are wanted the other way round.
  cell <- seq_len(ncol(cells)) - 1L
  size <- cell %% sizes
  duration <- cell %/% sizes
  o <- order(size, duration)
  most <- vapply(seq_len(ncol(cells)), \(k) max(cells[, k]), 0L)
  # The table has four columns, which are joined from their parts.
  needed <- 40 * sum(pmax(0, most - filters$min_count + 1))
  check_budget(needed, max_memory, "listing these signatures",
               "Raise `min_count`, or use shorter windows or longer bins.")
  counts <- lapply(o, \(k) {
    least <- filters$min_count
    if (most[[k]] < least) return(list(count = integer(), reached = integer()))
    count <- seq.int(least, most[[k]])
    list(count = as.integer(count), reached = count_reaching(cells[, k], count))
  })
  rows <- vapply(counts, \(count) length(count$reached), 0L)
  join <- \(name) as.integer(unlist(lapply(counts, `[[`, name)))
  c(list(size = rep(as.integer(size[o] + filters$min_spikes), rows)),
    if (by_duration) list(duration = rep(as.integer(duration[o]), rows)),
    list(count = join("count"), reached = join("reached")))
}

#' How many surrogates reach each of some signatures
#'
#' @param signatures List `size`, for `"3d#"` `duration` (bins), `count`.
#' @noRd
surrogates_reaching <- function(pvalues, signatures) {
  maxima <- attr(pvalues, "maxima", exact = TRUE)
  place <- maxima_cells(pvalues, signatures$size, signatures$duration)
  cells <- matrix(maxima, nrow = dim(maxima)[[1L]])
  reached <- integer(length(place))
  for (cell in unique(place[!is.na(place)])) {
    rows <- which(place == cell)
    reached[rows] <- count_reaching(cells[, cell], signatures$count[rows])
  }
  reached
}

#' Where the maxima of some sizes and durations (bins) are, numbered size by size
#'
#' @return NA for sizes that no surrogate reaches.
#' @noRd
maxima_cells <- function(pvalues, size, duration = NULL) {
  sizes <- dim(attr(pvalues, "maxima", exact = TRUE))[[2L]]
  cell <- size - attr(pvalues, "parameters", exact = TRUE)$min_spikes + 1
  cell[cell > sizes] <- NA
  if (is.null(duration)) cell else cell + duration * sizes
}
