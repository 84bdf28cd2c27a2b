# Oracles for spectra and significance, written from the definitions: look at every pattern
# and every maximum. The maxima themselves are oracle_maxima(), in helper-spectrum.R.

# The patterns of a recording: data frame `size`, `duration` (bins), `count`.
oracle_signatures <- function(patterns) {
  data.frame(
    size = vapply(as.list(patterns), length, 1L),
    duration = vapply(as.list(patterns), \(lags) max(lags), 1L),
    count = patterns$count
  )
}

# How many recordings reach each of some signatures.
oracle_reached <- function(maxima, min_spikes, size, occurrences, duration = NULL) {
  vapply(seq_along(size), \(k) {
    z <- size[[k]] - min_spikes + 1
    if (z > dim(maxima)[[2L]]) return(0L)
    own <- if (is.null(duration)) maxima[, z] else maxima[, z, duration[[k]] + 1]
    sum(own >= occurrences[[k]])
  }, 0L)
}

# A p value spectrum as pvalue_spectrum() makes it of given maxima.
made_pvalues <- function(maxima, patterns, p_estimator = "k/n") {
  n <- nrow(maxima)
  by_duration <- length(dim(maxima)) == 3L
  filters <- attr(patterns, "parameters")
  columns <- synfire:::reached_signatures(maxima, filters, n)
  if (by_duration) columns$duration <- columns$duration * attr(patterns, "bin_size")
  columns$p <- synfire:::surrogate_p(columns$reached, n, p_estimator)
  synfire:::new_table(columns, "pvalue_spectrum", list(
    spectrum = if (by_duration) "3d#" else "#", n_surrogates = n, p_estimator = p_estimator,
    parameters = filters, bin_size = attr(patterns, "bin_size"),
    window_bins = attr(patterns, "window_bins"), maxima = maxima
  ))
}

# Units 1 to 5 fire in a fixed order 30 times, among five that do not.
planted_recording <- function(seed = 1, duration = 20, ...) {
  withr::with_seed(seed, simulate_patterns(
    duration = duration, units = 10, rate = 4,
    patterns = list(list(units = 1:5, lags = c(0, 0.005, 0.010, 0.020, 0.025),
                         count = 30)), ...
  ))
}

# Spikes at random alone.
plain_recording <- function(seed = 1, duration = 20, units = 8, rate = 4) {
  withr::with_seed(seed, simulate_patterns(duration = duration, units = units, rate = rate,
                                           patterns = list()))
}
