# Traits of single series, such as their period, and series without them.

# The share of the variance above which a period counts as a season.
least_season <- 0.1

#' Traits of a series, and the series less its season
#'
#' @param x Numbers, `NA` where missing.
#' @param first First row of the segment of each row.
#' @return A list: `constant`; and unless it is, what traits_of_each() has, with the season
#'   and the rest: `season`, the mean of each row's place in the period, or of all rows
#'   without one, and `rest`, the series less that.
#' @noRd
series_traits <- function(x, first) {
  traits <- as.list(traits_of_each(cbind(x), first))
  if (traits$constant) return(list(constant = TRUE))
  traits$season <- as.vector(season_means(cbind(x), first, max(traits$period, 1L)))
  traits$rest <- x - traits$season
  traits
}

#' Mean of each row's place in the period of its series, or of all rows with a period of 1
#' @noRd
season_means <- function(x, first, period, threads = 1L) {
  storage.mode(x) <- "double"
  out <- .Call(r_season_means, x, as.integer(first), period, threads)
  finish_status(out, "the seasons of series")
}

#' Each series less its mean, over its standard deviation; constants are 0
#' @noRd
in_standard_units <- function(x, threads = 1L) {
  out <- .Call(r_standard_units, x, threads)
  finish_status(out, "series in standard units")
}

#' A series whose gaps are bridged by straight lines
#' @noRd
filled <- function(x) {
  known <- which(!is.na(x))
  if (length(known) == length(x)) return(x)
  if (length(known) < 2L) return(rep(sum(x[known]), length(x)))
  stats::approx(known, x[known], seq_along(x), rule = 2)$y
}

#' Traits of each of many series
#'
#' @param x Double matrix \[rows, series\].
#' @return A data frame with a row for each series: `known`, how many values are not missing;
#'   `constant`, and of others `period`, that of the season (0 for none); `explained`, the
#'   share of the variance that the best period predicts, which may be too little for a season;
#'   `drift`, the KPSS statistic (Kwiatkowski et al. 1992); `repeated`, the share of the most
#'   common value.
#' @noRd
traits_of_each <- function(x, first, threads = 1L) {
  storage.mode(x) <- "double"
  out <- .Call(r_series_traits, x, as.integer(first), threads)
  out <- rlang::exec(plain_frame, !!!finish_status(out, "the traits of series"))
  out$period[!out$constant & out$explained <= least_season] <- 0L
  out
}
