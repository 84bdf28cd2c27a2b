# What about single series forbids a sentence about causes, for many series at once.
#
# The same obstacles as those of a verdict on two series (ccm_evidence.R), as far as they are of
# one series alone, in one dimension, and with fewer forecasts: a map has thousands of series.

#' Which series of a recording forbid a sentence about causes, and why
#'
#' The skill of the forecast of a series from its own past is that of a verdict. Surrogates are
#' compared with the series at some 250 rows that are spread evenly, and no more are made when
#' one of them is predicted as well as the series.
#'
#' @param x Matrix \[steps, series\] of numbers, NA where missing; names of series are its
#'   column names.
#' @param E Dimensions, one for all series or one for each; NA for a series that has none.
#' @param tau,exclusion As of the map.
#' @param key What decides the surrogates, see random_key().
#' @return A data frame with a row for each series: `series`, its name; `reason`, one of the words
#'   `"constant"`, `"short"`, `"counts"`, `"drift"`, `"cycle"`, `"noise"` and `"linear"`, `NA`
#'   where nothing forbids a sentence; `said`, which follows a "because", or `NA`; and
#'   `as_cause`, whether it also forbids a sentence in which the series is the cause: noise
#'   and linear series can be causes, but hold no states in which a cause could be read.
#' @noRd
series_obstacles <- function(x, E, threads, tau = -1L, exclusion = 0, alpha = 0.05,
                             key = random_key()) {
  names <- colnames(x) %||% sprintf("V%d", seq_len(ncol(x)))
  E <- rep_len(as.integer(E), ncol(x))
  first <- rep(1L, nrow(x))
  found <- vector("list", ncol(x))
  # Lots that fit the cache.
  for (lot in split(seq_along(E), (seq_along(E) - 1L) %/% 64L)) {
    round <- find_seasons(x[, lot, drop = FALSE], first)
    found[lot] <- lapply(seq_along(lot), \(k) {
      series <- list(value = x[, lot[[k]]], name = names[[lot[[k]]]], E = E[[lot[[k]]]],
                     number = lot[[k]])
      series$traits <- series_traits(series$value, first, round[k, ])
      series_obstacle(series, tau, exclusion, alpha, threads, key)
    })
  }
  word <- \(part) vapply(found, \(one) one[[part]] %||% NA_character_, "")
  reason <- word("reason")
  data.frame(series = names, reason = reason, said = word("text"),
             as_cause = !is.na(reason) & !reason %in% c("noise", "linear"))
}

#' What forbids a sentence about one series, or NULL; see refusal()
#' @noRd
series_obstacle <- function(series, tau, exclusion, alpha, threads, key) {
  against <- trait_obstacle(series$traits, series$name)
  if (!is.null(against)) return(against)
  if (is.na(series$E)) return(row_obstacle(0))
  forecast <- own_forecasts(series, tau, exclusion, threads)
  rows <- forecast$rows
  against <- row_obstacle(length(rows))
  if (!is.null(against)) return(against)
  rest <- series$traits$rest
  rho <- forecast$skill(rest, rows)
  if (rho < verdict_rules$own) return(noise_obstacle(rho, series$name))
  some <- rows[seq(1L, length(rows), by = ceiling(length(rows) / 250))]
  reached <- forecast$skill(rest, some)
  # A p value of alpha takes so many.
  n <- ceiling(1 / alpha) - 1
  make <- surrogate_maker(filled(rest), "phase")
  for (k in seq_len(n)) {
    other <- make(key, k + n * (series$number - 1))
    other[is.na(rest)] <- NA
    one <- forecast$skill(other, some)
    if (one >= reached) return(linear_obstacle(reached, one, k, series$name))
  }
}

#' Forecasts of a series from its own past, one step ahead, beyond its season
#'
#' @return A list: `rows`, those that can be library and forecast; `skill(rest, some)`, the
#'   correlation of what is left of a series without its season with its forecasts from `some`
#'   of these rows, 0 where there is none.
#' @noRd
own_forecasts <- function(series, tau, exclusion, threads) {
  rest <- series$traits$rest
  n <- length(rest)
  ends <- list(first = rep(1L, n), last = rep(n, n))
  lags <- as.double(tau) * (seq_len(series$E) - 1)
  points <- \(rest) .Call(r_edm_points, list(rest + series$traits$season), lags, ends$first,
                          ends$last)
  rows <- which(points(rest)$reach == series$E & !is.na(shifted(rest, 1L, ends)))
  where <- list(gpus = gpus_of(on_cpu()), threads = threads)
  skill <- function(rest, some) {
    target <- shifted(rest, 1L, ends)
    forecast <- simplex_at(points(rest)$points, rows, some, target, series$E + 1L, exclusion,
                           where)$predictions
    known <- is.finite(forecast)
    if (sum(known) < 3L || is_constant(forecast[known])) return(0)
    stats::cor(forecast[known], target[some][known])
  }
  list(rows = rows, skill = skill)
}

linear_obstacle <- function(rho, other, tried, name) {
  refusal("linear", paste(
    "%s is predicted from its own past (rho %s) no better than surrogates that keep its",
    "season and all that is linear (%s reaches %s), so that its history is no attractor in",
    "which a cause could be read"), name, two(rho),
    if (tried == 1) "the first" else sprintf("one of %d", as.integer(tried)), two(other))
}
