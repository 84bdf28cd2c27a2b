# Cross-correlograms of all pairs of units: exact lag histograms, counted in C.

#' Cross-correlograms of all pairs of units
#'
#' A cross-correlogram is a histogram of the lags between the spikes of two units: it
#' shows how often one of them fires at a given time before or after the other. Lags are
#' counted exactly, on the clock of the recording. A unit with itself gives its
#' auto-correlogram, in which no spike is paired with itself.
#'
#' # Which way round
#' `x[lag, reference, target]` is the number of pairs of a spike of the reference and one
#' of the target that comes `lag` seconds later; at negative lags the target fires first.
#' `x[lag, a, b]` equals `x[-lag, b, a]`.
#'
#' # Bins
#' Bins are centred: bin k holds the lags nearest to k * `bin_size`, and a lag half way
#' between two bins goes to the one farther from zero. So the bin around 0 holds lags of
#' less than half a bin either way, and lags up to `max_lag + bin_size / 2` are counted.
#' Programs that first bin the spikes and then compare bins give other counts, as they
#' spread each lag over two bins. Only spikes in the same trial make a pair. Several
#' spikes of a unit on the same tick count as one.
#'
#' # What chance gives
#' `as.data.frame()` and `summary()` give `expected`, the count to expect if the two units
#' fired independently and at constant rates. For a trial of length L with n and m spikes,
#' it is n m `bin_size` (L - |lag|) / L^2, with n (n - 1) instead of n m for a unit with
#' itself; trials are added up. The rates of real units change, and often together, so
#' that many pairs have more than the expected count at all lags. Look for a narrow peak
#' or dip instead. [surrogate_trains()] makes recordings in which only chance is left and
#' rates still change as they did.
#'
#' @param x A recording: [spike_trains()], or anything [as_spike_trains()] takes; for the
#'   methods a `cross_correlogram`.
#' @param bin_size Length of a bin, in seconds; a whole number of ticks.
#' @param max_lag Largest lag at the centre of a bin, in seconds; a whole number of bins.
#' @param threads Number of threads; `NULL` for all that the process may use. The counts
#'   do not depend on it.
#' @param max_memory Bytes that the work may take: 4 for each lag of each pair, and some
#'   30 for each spike.
#' @return An integer array of class `cross_correlogram`, lags x reference x target, with
#'   names of units as its dimnames. Attributes: `lag`, the centres of the bins, and
#'   `bin_size`, in seconds; `spikes`, a matrix of the spikes of each unit in each trial
#'   (one column without trials); `duration`, the length of each trial in seconds.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`. Counts beyond
#' `max_memory` give `synfire_error_budget` before anything is counted, and a count beyond
#' 2^31 - 1 `synfire_error_too_large`.
#' @references
#' Perkel DH, Gerstein GL, Moore GP (1967). Neuronal spike trains and stochastic point
#' processes. II. Simultaneous spike trains. *Biophysical Journal*, 7, 419-440.
#' \doi{10.1016/S0006-3495(67)86597-4}
#' @seealso [autoplot.cross_correlogram()], [episode_lags()] for lags within episodes.
#' @examples
#' set.seed(1)
#' a <- sort(runif(500, 0, 60))
#' x <- spike_trains(c(a, a + 0.004, runif(500, 0, 60)), rep(c("A", "B", "C"), each = 500))
#' counts <- cross_correlogram(x, bin_size = 0.002, max_lag = 0.02, threads = 2)
#' counts
#' # B fires 4 ms after A.
#' head(summary(counts), 1)
#' counts[, "A", "B"]
#' @export
cross_correlogram <- function(x, bin_size = 0.001, max_lag = 0.05, threads = NULL,
                              max_memory = 4e9) {
  check_given(x = "a recording")
  x <- check_spike_trains(as_spike_trains(x), "x", once = TRUE)
  resolution <- attr(x, "resolution")
  bin <- check_bin_size(bin_size, resolution)
  refuse_if(bin >= 2^30, "bin_size", "shorter than 2^30 ticks", paste(commas(bin), "ticks"))
  lags <- check_lag(max_lag, bin, resolution)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  trains <- trains_of(x)
  counts <- count_lags(trains, bin, lags, threads, max_memory)
  units <- levels(x$unit)
  trial <- trains$trial %||% rep(1L, nrow(x))
  inside <- !is.na(trial)
  cell <- trains$unit[inside] + (trial[inside] - 1) * length(units)
  spikes <- tabulate(cell, length(units) * length(trains$start))
  structure(counts, dimnames = list(lag = NULL, reference = units, target = units),
            class = c("cross_correlogram", "synfire_result"),
            lag = ticks_to_seconds(seq.int(-lags, lags) * bin, resolution),
            bin_size = ticks_to_seconds(bin, resolution),
            spikes = matrix(spikes, length(units), length(trains$start),
                            dimnames = list(units, NULL)), duration = lengths_of_trials(x))
}

#' Counts of lags, lags x reference x target
#'
#' @param trains What `trains_of()` gives.
#' @param bin In ticks.
#' @param lags Bins on each side of the one around 0.
#' @param gpus Numbers from 0 of the GPUs that count, or NULL.
#' @noRd
count_lags <- function(trains, bin, lags, threads, max_memory, gpus = NULL) {
  counts <- .Call(r_lag_histograms, trains, list(bin = bin, lags = lags, gpus = gpus,
                                                 threads = threads, max_memory = max_memory))
  counts <- finish_status(counts, "cross-correlograms of all pairs",
                          c("Take fewer units with `x[unit = ]`.",
                            "Or longer bins, or a smaller `max_lag`."),
                          limit_of = "pairs of spikes in a bin")
  dim(counts) <- c(2L * as.integer(lags) + 1L, trains$units, trains$units)
  counts
}

#' Bins on each side of the one around 0
#' @noRd
check_lag <- function(max_lag, bin, resolution) {
  max_lag <- check_number(max_lag, "max_lag", min = 0)
  ticks <- seconds_to_ticks(max_lag, resolution, "max_lag")
  refuse_if(ticks %% bin != 0 || ticks / bin > 2^24, "max_lag",
            sprintf("a whole number of bins of %s s, at most 2^24 of them",
                    exact(ticks_to_seconds(bin, resolution))), paste(exact(max_lag), "s"))
  ticks / bin
}

# ---- The class -----------------------------------------------------------------------

#' @export
`[.cross_correlogram` <- function(x, ...) plain_array(x)[...]

check_correlogram <- function(x, arg = rlang::caller_arg(x)) {
  lag <- attr(x, "lag", exact = TRUE)
  spikes <- attr(x, "spikes", exact = TRUE)
  units <- units_of_counts(x)
  duration <- attr(x, "duration", exact = TRUE)
  sound <- is.integer(x) && length(dim(x)) == 3L && is.double(lag) &&
    length(lag) == dim(x)[[1L]] && is.character(units) && !anyNA(lag) &&
    length(units) == dim(x)[[2L]] && identical(dimnames(x)[[2L]], dimnames(x)[[3L]]) &&
    dim(x)[[3L]] == dim(x)[[2L]] && is.numeric(spikes) && is.matrix(spikes) &&
    nrow(spikes) == length(units) && is.numeric(duration) &&
    length(duration) == ncol(spikes) && !anyNA(duration) && !anyNA(spikes) &&
    rlang::is_double(attr(x, "bin_size", exact = TRUE), n = 1L, finite = TRUE)
  refuse_if(!sound, arg, "what `cross_correlogram()` gives", "one that was changed",
            "Make it once more; `x[]` is an array to change.")
}

#' Names of the units, which R drops from an array without any
#' @noRd
units_of_counts <- function(x) dimnames(x)[[2L]] %||% character()

#' Counts that independent units with constant rates have, lags x pairs
#'
#' @param reference,target Numbers of units, a pair each.
#' @noRd
chance_counts <- function(x, reference, target) {
  lag <- abs(attr(x, "lag", exact = TRUE))
  duration <- attr(x, "duration", exact = TRUE)
  spikes <- attr(x, "spikes", exact = TRUE)
  long <- duration > 0
  overlap <- outer(lag, duration[long], \(lag, length) pmax(length - lag, 0) / length^2)
  # As doubles: products of numbers of spikes are beyond the largest integer.
  n <- 1 * spikes[reference, long, drop = FALSE]
  m <- spikes[target, long, drop = FALSE] - (reference == target)
  tcrossprod(overlap, n * m) * attr(x, "bin_size", exact = TRUE)
}

#' Numbers of units given by name, or all of them
#' @noRd
chosen_units <- function(chosen, units, arg = rlang::caller_arg(chosen)) {
  force(arg)
  if (is.null(chosen)) return(seq_along(units))
  if (is.factor(chosen)) chosen <- as.character(chosen)
  if (is_plain_numeric(chosen)) chosen <- number_labels(chosen)
  refuse_if(!is.character(chosen) || length(chosen) == 0L || anyNA(chosen), arg,
            "NULL, or names of units", describe(chosen))
  unknown <- setdiff(chosen, units)
  refuse_if(length(unknown), arg, sprintf("among the %s units", commas(length(units))),
            sprintf("not, for %s", some(encodeString(unknown, quote = "\""))),
            sprintf("Units: %s.", some(units)))
  match(unique(chosen), units)
}

#' @rdname cross_correlogram
#' @param row.names,optional,... As for any data frame.
#' @param reference,target Names of units whose pairs are wanted; `NULL` for all.
#' @return `as.data.frame()` gives a table with a row for each lag of each pair and the
#'   columns `reference`, `target` (factors), `lag` (s), `count`, `rate` and `expected`;
#'   `rate` is the rate of the target at that lag from a spike of the reference, in Hz:
#'   `count` divided by the spikes of the reference and by `bin_size`.
#' @export
as.data.frame.cross_correlogram <- function(x, row.names = NULL, optional = FALSE, ...,
                                            reference = NULL, target = NULL) {
  check_no_dots(but = frame_arguments)
  check_correlogram(x)
  units <- units_of_counts(x)
  reference <- chosen_units(reference, units)
  target <- chosen_units(target, units)
  lag <- attr(x, "lag", exact = TRUE)
  pairs <- expand.grid(target = target, reference = reference)
  rows <- length(lag) * nrow(pairs)
  refuse_if(rows > 1e8, "reference", "so few units that the table has at most 1e8 rows",
            sprintf("%s rows", commas(rows)), "`summary(x)` has a row for each pair.")
  spikes <- rowSums(attr(x, "spikes", exact = TRUE))
  count <- plain_array(x)[, reference, target, drop = FALSE]
  count <- as.vector(aperm(count, c(1L, 3L, 2L)))
  each <- length(lag)
  as_units <- \(code) as_factor(rep(code, each = each), units)
  rate <- count / rep(spikes[pairs$reference], each = each) /
    attr(x, "bin_size", exact = TRUE)
  rate[is.nan(rate)] <- NA
  new_frame(list(reference = as_units(pairs$reference), target = as_units(pairs$target),
                 lag = rep(lag, nrow(pairs)), count = count, rate = unname(rate),
                 expected = as.vector(chance_counts(x, pairs$reference, pairs$target))),
            length(count), row.names)
}

#' @rdname cross_correlogram
#' @return `format()` gives the line that is printed first.
#' @export
format.cross_correlogram <- function(x, ...) {
  check_correlogram(x)
  lag <- attr(x, "lag", exact = TRUE)
  spikes <- attr(x, "spikes", exact = TRUE)
  paste(c(counted(ncol(x), "unit"), counted(sum(spikes), "spike"),
          sprintf("lags of %s to %s ms in %s of %s ms", exact(min(lag) * 1e3),
                  exact(max(lag) * 1e3), counted(length(lag), "bin"),
                  exact(attr(x, "bin_size", exact = TRUE) * 1e3)),
          if (ncol(spikes) > 1L) counted(ncol(spikes), "trial")), collapse = ", ")
}

#' @rdname cross_correlogram
#' @export
print.cross_correlogram <- function(x, ...) {
  cat("<cross_correlogram> ", format(x), "\n", sep = "")
  cat("x[, reference, target] gives the counts of a pair, summary(x) a row for each pair,\n",
      "the most unlike chance first\n", sep = "")
  invisible(x)
}

#' @rdname cross_correlogram
#' @param object A `cross_correlogram`.
#' @return `summary()` gives a data frame with a row for each pair of different units, and
#'   in it the bin whose count is farthest from `expected`, measured by `z`: `reference`,
#'   `target` (the reference being the unit that comes first in `x`), `lag` (s), `count`,
#'   `expected`, and `z`, the difference divided by the square root of `expected`, NA
#'   where that is 0. Pairs with the largest `z`, whatever its sign, come first.
#' @export
summary.cross_correlogram <- function(object, ...) {
  check_no_dots()
  check_correlogram(object)
  units <- units_of_counts(object)
  found <- lapply(seq_along(units), \(a) extreme_bins(object, a, seq_along(units) > a))
  found <- do.call(rbind, c(list(extreme_bins(object, 0L, logical(length(units)))), found))
  found$reference <- as_factor(found$reference, units)
  found$target <- as_factor(found$target, units)
  found <- found[order(-abs(found$z), na.last = TRUE), , drop = FALSE]
  rownames(found) <- NULL
  found
}

#' Of each target, the bin that is least like chance
#' @param a Number of the reference.
#' @param targets TRUE or FALSE for each unit.
#' @noRd
extreme_bins <- function(x, a, targets) {
  b <- which(targets)
  count <- matrix(plain_array(x)[, rep(a, length(b) > 0L), b], nrow = nrow(x), ncol = length(b))
  expected <- chance_counts(x, rep(a, length(b)), b)
  z <- (count - expected) / sqrt(expected)
  z[!is.finite(z)] <- NA
  at <- max.col(t(replace(abs(z), is.na(z), -1)), "first")
  cell <- cbind(at, seq_along(b))
  data.frame(reference = rep(a, length(b)), target = b, lag = attr(x, "lag", exact = TRUE)[at],
             count = count[cell], expected = expected[cell], z = z[cell])
}
