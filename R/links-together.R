# Series that go together within a step. What two series do that their pasts do not tell may
# still agree: one acts on the other sooner than a step, or something that was not recorded acts
# on both. Which of the two comes first cannot be told from that.

# Steps of its past that tell what a series does next.
together_past <- 4L

# A direct link is doubted where the two go together by this t, and this share of the t of the
# link, and where others at the time of the effect leave less than this share of its t.
hidden_rules <- list(t = 2.5, share = 0.6, left = 0.75)

# Others that are looked at then, at most.
hidden_others <- 3L

#' How clearly causes and effects go together at the same step
#'
#' The linear test of what an effect does beyond its forecast, by what its causes do at this step
#' beyond their own past, each given all others.
#'
#' @param state,clock See search_links().
#' @param value Matrix of steps x series.
#' @param missed By how much each step of each effect is above its forecast.
#' @return A data frame of `together`, a t without its sign, and `p_together`, of each link.
#' @noRd
together_tests <- function(state, clock, value, missed, threads) {
  cause <- sort(unique(state$from))
  none <- list(from = integer(), group = integer())
  made <- linear_forecasts(none, cause, clock[cause], value, c(1L, together_past), threads, TRUE)
  links <- list(from = match(state$from, cause), group = state$group)
  effect <- seq_along(state$effect)
  made <- linear_forecasts(links, length(cause) + effect, vector("list", length(effect)),
                           cbind(ahead(made$missed, 1L), missed), c(1L, 1L), threads)
  data.frame(together = sqrt(made$f), p_together =
               stats::pf(made$f, 1, made$free[state$group], lower.tail = FALSE))
}

#' Direct links that something that was not recorded may explain
#'
#' Two series that a third drives go together, as these do, and others that it drives tell of it at
#' the time of the effect. These others are the causes that go with the effect most clearly.
#'
#' @param links Places of direct links.
#' @param test As search_links() gives it, with the columns of together_tests().
#' @return Places of those that may be explained.
#' @noRd
hidden_links <- function(state, test, links, value, forecast) {
  least <- pmax(hidden_rules$t, hidden_rules$share * test$t[links])
  links <- links[which(test$together[links] > least)]
  shown <- other_causes(state, links, order(state$group, -test$together), hidden_others)
  if (length(shown$job) == 0L) return(integer())
  others <- unique(shown$series)
  column <- ncol(value) + match(shown$series, others)
  beside <- list(job = rep(shown$job, 2L), series = c(column, length(others) + column),
                 lag = rep(0L, 2L * length(column)))
  at_effect <- value[, others, drop = FALSE]
  value <- cbind(value, ahead(at_effect, 1L), ahead(at_effect, 2L))
  left <- left_beside(state, test, links, beside, value, forecast)
  alone <- left_beside(state, test, links, no_candidates, value, forecast)
  links[which(left < hidden_rules$left * alone)]
}
