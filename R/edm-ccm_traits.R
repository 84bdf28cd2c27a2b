# The bounds of verdicts on causes, and the traits of a series that forbid a verdict.

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

#' Bounds of the verdicts, see vignette("causes")
#' @noRd
verdict_rules <- list(
  rows = 100,        # fewer rows that can be used: no verdict
  repeated = 0.2,    # one value in more than this share of rows: counts, no states
  drift = 0.739,     # KPSS above: a drift
  cycle = 0.97,      # share of the variance above which nothing but the season is there
  in_step = 0.9,     # correlation, and skill at lag 0 in both directions, of synchrony
  copy = 0.97,       # correlation at another lag above which one is a copy of the other
  own = 0.6,         # least skill of predicting a series from its own past
  ties = 0.03,       # own skill within which dimensions tie
  E_max = 8,         # largest dimension that is tried
  lags = 8,          # lags to both sides
  skill = 0.3,       # least skill of a cause
  dims = 5,          # dimensions, of those that tie, in which the cause is predicted
  surrogates = c(own = 39, cause = 99),
  ahead = 2,         # standard errors by which the past has to be ahead of lag 0 and the future
  gain = 0.2,        # least gain of a doubling, over the skill, of a cause
  helped = 0.4,      # least share that a cause takes of what forecasts of the effect lack
  single = 0.85,     # least share of what two values of a cause do that one of them does
  mutual = c(ahead = 1, rise = 0.15),  # both of two series that drive each other
  # What comes from the other direction: less gain than this, or the past as much behind.
  no_rise = 0.15,
  behind = -1,
  # No link: own skill of both, p and what else is above; skill and gain are below.
  nothing = c(own = 0.8, p = 0.1, skill = 0.4, gain = 0.07)
)
