# What a single series is like, as far as verdicts on causes depend on it: does it drift, does
# it go round, does it repeat values. And surrogates that are chosen by the data.

#' Traits of each of many series
#'
#' @param x Double matrix \[rows, series\].
#' @return A data frame with a row for each series: `known`, how many values are not missing;
#'   `constant`, and of others `period`, that of the season (0 for none); `explained`, the
#'   share of the variance that the best period predicts, which may be too little for a season;
#'   `drift`, the KPSS statistic (Kwiatkowski et al. 1992); `repeated`, the share of the most
#'   common value.
#' @noRd
traits_of_each <- function(x, first, threads = 1L, call = rlang::caller_env()) {
  storage.mode(x) <- "double"
  out <- .Call(r_series_traits, x, as.integer(first), threads)
  out <- rlang::exec(plain_frame, !!!finish_status(out, "the traits of series", call = call))
  out$period[!out$constant & out$explained <= verdict_rules$season] <- 0L
  out
}

#' The reason why a series allows no sentence, or NA
#'
#' @param traits As traits_of_each() gives them.
#' @noRd
trait_reasons <- function(traits) {
  rules <- verdict_rules
  out <- rep(NA_character_, length(traits$constant))
  # The first that is so counts.
  out[traits$explained > rules$cycle] <- "cycle"
  out[traits$drift > rules$drift] <- "drift"
  out[traits$repeated > rules$repeated] <- "counts"
  out[traits$constant] <- "constant"
  out
}
