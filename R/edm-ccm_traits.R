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

#' Bounds of the verdicts, see vignette("definitions-edm")
#' @noRd
verdict_rules <- list(
  rows = 100,        # fewer rows that can be used: no verdict
  steps = 40,        # fewer steps of a slow pair: no verdict
  repeated = 0.2,    # if more than this share of the rows has one value, the series is counts
  drift = 0.739,     # a series with a higher KPSS statistic drifts
  drift_rows = 120,  # of a slow series, so many rows tell it
  alike = 0.6,       # rows with a higher autocorrelation are one state of a slow series
  slow_alike = 0.25, # series that are alike so from row to row are slow, too
  cycle = 0.97,      # a season that explains more of the variance is all there is
  in_step = 0.9,     # series in step correlate so, and predict each other so at lag 0
  copy = 0.97,       # with a higher correlation at another lag, one is a copy of the other
  linear = 0.9,      # with a higher own skill, a series that may be linear has states
  own = 0.6,         # least skill of predicting a series from its own past
  ties = 0.03,       # dimensions whose own skills differ by less tie
  E_max = 8,         # largest dimension that is tried
  lags = 8,          # lags to both sides
  skill = 0.3,       # least skill of a cause
  dims = 5,          # at most so many tied dimensions are tried for the cause
  surrogates = c(own = 39, cause = 99),
  # Least signs of a cause: by how many standard errors the past leads lag 0 and the future, the
  # ratio of the gain per doubling to the skill, and the share of 1 - rho that the cause removes
  # from forecasts.
  fast = c(ahead = 2, rise = 0.2, helped = 0.4),
  slow = c(ahead = 1, rise = 0.15, helped = -0.1),
  single = 0.85,     # one value of a cause does at least this share of what two do
  mutual = c(rise = 0.15, helped = 0.15),  # least of both, where two series drive each other
  # Skill comes from the other direction if its gain is less and it leads by less, or if the past
  # lags so far behind.
  no_rise = 0.15,
  not_ahead = 1,
  behind = -1,
  # Without a link, the own skill of both series and p are above these, skill and gain below,
  # and the help of a slow series as well.
  nothing = c(own = 0.8, p = 0.1, skill = 0.4, gain = 0.07, helped = -0.4)
)
