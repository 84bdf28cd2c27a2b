# Where a linear forecast of an effect is the better one, its links have the linear test: that
# of Granger, of all delays at once, given all other causes. It finds causes whose effect is
# spread over several steps, of which a single delay shows little.

#' Linear tests of the links of effects
#'
#' @param links A list of `from` and `group`, the place of the effect; by effect.
#' @param effect,clock Of each effect, as in the state of a search.
#' @param value Matrix of steps x series.
#' @return A list: `error`, the mean squared error of each effect, each row left out of its own
#'   fit; and `test`, a data frame of `delay`, `gain`, `t` and `p_value` of each link. `t` is
#'   the normal deviate that has this p value.
#' @noRd
linear_tests <- function(links, effect, clock, value, max_delay, threads) {
  starts <- \(n) c(0, cumsum(n))
  causes <- tabulate(links$group, length(effect))
  jobs <- list(effect = effect, cause = links$from, cause_start = starts(causes),
               clock = as.integer(unlist(clock)), clock_start = starts(lengths(clock)))
  made <- .Call(r_linear, value, jobs,
                list(least = max_delay, most = 2L * max_delay, threads = threads))
  made <- finish_status(made, "linear forecasts")
  order <- made$order[links$group]
  free <- made$free[links$group]
  log_p <- stats::pf(made$f, order, free, lower.tail = FALSE, log.p = TRUE)
  list(error = made$error, test = data.frame(
    delay = as.integer(made$delay), gain = made$f * order / (free + made$f * order),
    t = stats::qnorm(log_p, lower.tail = FALSE, log.p = TRUE), p_value = exp(log_p)
  ))
}

#' Give links the linear test where that forecasts their effects better
#'
#' @param error Of each effect, with all its parties.
#' @noRd
with_linear_tests <- function(test, links, effect, clock, value, error, rules) {
  linear <- linear_tests(links, effect, clock, value, rules$max_delay, rules$threads)
  test$linear <- links$group %in% which(linear$error < error) & !is.na(linear$test$p_value)
  test[test$linear, names(linear$test)] <- linear$test[test$linear, ]
  test
}
