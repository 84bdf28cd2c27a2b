# Where a linear forecast of an effect is the better one, its links have the linear test: that
# of Granger, of all delays at once, given all other causes. It finds causes whose effect is
# spread over several steps, of which a single delay shows little.

#' Linear forecasts of effects from their past and that of all causes of their links
#'
#' @param links A list of `from` and `group`, the place of the effect; by effect.
#' @param effect,clock Of each effect, as in the state of a search.
#' @param value Matrix of steps x series.
#' @param orders The least and the most steps of each series.
#' @param keep Whether `missed` is wanted.
#' @param enough Of each effect, an error: where its own is no less, nothing is asked about it.
#' @return A list: of each effect `error`, the mean squared error, each row left out of its own
#'   fit, `order` and `free`, the degrees of freedom of the F of its causes; of each cause `f` and
#'   `delay`, the step with the clearest coefficient; and `missed`, a matrix of steps x effects: by
#'   how much a step is above its forecast. `NA` where there is none.
#' @noRd
linear_forecasts <- function(links, effect, clock, value, orders, threads, keep = FALSE,
                             enough = rep(Inf, length(effect))) {
  starts <- \(n) c(0, cumsum(n))
  causes <- tabulate(links$group, length(effect))
  jobs <- list(effect = effect, cause = links$from, cause_start = starts(causes),
               clock = as.integer(unlist(clock)), clock_start = starts(lengths(clock)),
               enough = enough)
  made <- .Call(r_linear, value, jobs,
                list(least = orders[[1L]], most = orders[[2L]], keep = keep, threads = threads))
  finish_status(made, "linear forecasts")
}

#' Linear tests of the links of effects
#'
#' @param max_delay The least order; twice that is the most.
#' @param enough See linear_forecasts().
#' @return A list: `error`, see linear_forecasts(); and `test`, a data frame of `delay`, `gain`,
#'   `t` and `p_value` of each link. `t` is the normal deviate that has this p value.
#' @noRd
linear_tests <- function(links, effect, clock, value, max_delay, threads,
                         enough = rep(Inf, length(effect))) {
  made <- linear_forecasts(links, effect, clock, value, c(1L, 2L) * max_delay, threads,
                           enough = enough)
  order <- made$order[links$group]
  free <- made$free[links$group]
  log_p <- stats::pf(made$f, order, free, lower.tail = FALSE, log.p = TRUE)
  list(error = made$error, test = data.frame(
    delay = as.integer(made$delay), gain = made$f * order / (free + made$f * order),
    t = stats::qnorm(log_p, lower.tail = FALSE, log.p = TRUE), p_value = exp(log_p)
  ))
}

# The linear test is that of effects of which the linear error is below this many times the local
# one, whose theta and parties are chosen.
linear_share <- 1.01

#' Give links the linear test where that forecasts their effects better, or as well
#'
#' @param error Of each effect, with all its parties.
#' @noRd
with_linear_tests <- function(test, state, value, error, rules) {
  enough <- linear_share * error
  linear <- linear_tests(state, state$effect, state$clock, value, rules$max_delay, rules$threads,
                         enough)
  better <- which(linear$error < enough)
  test$linear <- state$group %in% better & !is.na(linear$test$p_value)
  test[test$linear, names(linear$test)] <- linear$test[test$linear, ]
  test
}
