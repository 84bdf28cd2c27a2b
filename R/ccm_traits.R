# What a single series is like, as far as verdicts on causes depend on it: does it drift, does
# it go round, does it repeat values. And surrogates that are chosen by the data.

#' Traits of a series
#'
#' @param x Numbers, `NA` where missing.
#' @param first First row of the segment of each row.
#' @return A list: `season`, the mean of each row's place in the period, or of all rows
#'   without a significant one; `period` (0 for none); `explained`, the share of the variance
#'   that the season predicts; `rest`, the series less its season; `drift`, the KPSS
#'   statistic; `repeated`, the share of the most common value.
#' @param round The season, see find_seasons().
#' @noRd
series_traits <- function(x, first, round = find_seasons(cbind(x), first)) {
  known <- x[!is.na(x)]
  if (length(known) < 8L || is_constant(known)) return(list(constant = TRUE))
  seasonal <- round$explained > verdict_rules$season
  season <- if (seasonal) place_means(x, first, round$period) else rep(mean(known), length(x))
  list(constant = FALSE, season = season, period = if (seasonal) round$period else 0,
       explained = max(round$explained, 0), rest = x - season,
       drift = kpss_statistic(known), repeated = max(tabulate(match(known, unique(known)))) /
         length(known))
}

#' The period of each series whose means in one half of the data predict the other half best
#'
#' By chance a period of p in n rows explains about 2 sqrt(p) / n at most; three times that
#' counts. A longer period has to explain two hundredths more, so that of 12, 24 and 36 rows
#' it is 12.
#'
#' @param x Matrix \[rows, series\]. Those whose values are missing in the same rows are done
#'   together.
#' @return A data frame with a row for each series: `period` (0 for none) and `explained`.
#' @noRd
find_seasons <- function(x, first) {
  missing <- is.na(x)
  gaps <- apply(missing, 2L, \(gap) paste(which(gap), collapse = " "))
  out <- data.frame(period = integer(ncol(x)), explained = numeric(ncol(x)))
  for (alike in split(seq_len(ncol(x)), gaps)) {
    rows <- which(!missing[, alike[[1L]]])
    place <- rows - first[rows]
    known <- x[rows, alike, drop = FALSE]
    known <- known - rep(colMeans(known), each = length(rows))
    for (period in seq_len(min(length(rows) %/% 4L, 100L))[-1L]) {
      share <- season_shares(known, place %% period + 1L)
      enough <- pmax(out$explained[alike] + 0.02, 6 * sqrt(period) / length(rows))
      better <- share > enough
      out$period[alike[better]] <- period
      out$explained[alike[better]] <- share[better]
    }
  }
  out
}

#' Share of the variance that means of places, from the other half of the rows, explain
#'
#' @param x Matrix \[rows, series\] without missing values, the mean of each series 0.
#' @param place Of each row, from 1.
#' @noRd
season_shares <- function(x, place) {
  n <- length(place)
  half <- seq_len(n) <= n %/% 2L
  period <- max(place)
  count <- cbind(tabulate(place[half], period), tabulate(place[!half], period))
  # A place that one half lacks is one of which nothing is known.
  if (any(count == 0L)) return(numeric(ncol(x)))
  sums <- rowsum(x, place + period * !half)
  first <- sums[seq_len(period), , drop = FALSE]
  second <- sums[period + seq_len(period), , drop = FALSE]
  means <- list(first / count[, 1L], second / count[, 2L])
  # The sum of (x - mean)^2, a place at a time, less the sum of x^2.
  change <- colSums(count[, 1L] * means[[2L]]^2 - 2 * first * means[[2L]] +
                      count[, 2L] * means[[1L]]^2 - 2 * second * means[[1L]])
  share <- -change / colSums(x^2)
  share[is.na(share)] <- 0  # constants
  share
}

place_means <- function(x, first, period) {
  stats::ave(x, (seq_along(x) - first) %% period, FUN = \(v) mean(v, na.rm = TRUE))
}

#' Does a series come back to where it was? (Kwiatkowski et al. 1992)
#'
#' The variance of its sums over its long-run variance, by Bartlett's weights; a series
#' without drift is above 0.463 once in twenty times, above 0.739 once in a hundred.
#' @noRd
kpss_statistic <- function(x) {
  n <- length(x)
  x <- x - mean(x)
  lags <- seq_len(min(floor(12 * (n / 100)^0.25), n - 1))
  shared <- vapply(lags, \(k) sum(x[seq_len(n - k)] * x[-seq_len(k)]), 0)
  # A regular series may have a long-run variance of almost nothing.
  long_run <- max(sum(x^2) + 2 * sum((1 - lags / (length(lags) + 1)) * shared),
                  sum(x^2) / 100)
  sum(cumsum(x)^2) / (n * long_run)
}

#' Surrogates that keep all that is linear in a series and its season
#'
#' Phases of what is left of the season are random, in each segment by itself; then the season is
#' added. What is missing is filled by straight lines for this, and is missing again after it.
#'
#' @param key What decides them, see random_key().
#' @return Matrix of rows x surrogates of `rest`, without the season.
#' @noRd
chosen_surrogates <- function(traits, first, n, key) {
  pieces <- lapply(unique(first), \(start) {
    rows <- which(first == start)
    rest <- filled(traits$rest[rows])
    if (length(rows) < 3L) return(matrix(rest, length(rows), n))
    make <- surrogate_maker(rest, "phase")
    matrix(vapply(seq_len(n), \(k) make(key, k + n * (start - 1)), rest), length(rows))
  })
  out <- do.call(rbind, pieces)
  out[is.na(traits$rest), ] <- NA
  out
}

#' A series whose gaps are bridged by straight lines
#' @noRd
filled <- function(x) {
  known <- which(!is.na(x))
  if (length(known) == length(x)) return(x)
  if (length(known) < 2L) return(rep(sum(x[known]), length(x)))
  stats::approx(known, x[known], seq_along(x), rule = 2)$y
}
