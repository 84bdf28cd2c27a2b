# Finding the parties of each effect, and the test of each link given them. All numbers
# come from conditional_forecasts(); here is what is asked, in which order.
#
# The state of a search: of each effect its number, `own` past and `clock`, and the place of
# its best theta in `search_thetas`; of each link `from` and `group`, the place of its effect;
# and of each party its `group`, `series` and `lag`, in the order in which they entered. All
# effects of a block take a step together, so that there is one call for all of them.

search_thetas <- c(0, 1, 2, 4, 8, 16, 32)

#' Test all links given what else drives their effects
#'
#' @param links A list of the links to test: `from`, `to`, numbers of series, and `gaps`,
#'   the pattern of missing values of the cause, see standard_series(); by effect.
#' @param own,clock Of each series: coordinates of its own past, and the numbers of those
#'   that tell the time, see series_clocks().
#' @param max_delay,alpha,max_parties As direct_links() has them.
#' @param forecast Function of jobs, see forecast_jobs(); returns what
#'   conditional_forecasts() does.
#' @return A list: `test`, a data frame with a row for each link: `delay`, `gain`, `t`,
#'   `p_value`, and `alone` and `first`, the p value and t without parties; and `state`.
#' @noRd
search_links <- function(links, own, clock, max_delay, alpha, max_parties, forecast) {
  effect <- unique(links$to)
  state <- list(effect = effect, own = own[effect], clock = clock[effect],
                from = links$from, group = match(links$to, effect), gaps = links$gaps,
                party = list(group = integer(), series = integer(), lag = integer()),
                theta = rep(NA_integer_, length(effect)), lags = seq_len(max_delay) - 1L)
  state$theta <- best_theta(state, seq_along(effect), seq_along(search_thetas), forecast)
  test <- test_links(state, seq_along(links$from), forecast)
  before <- data.frame(alone = test$p_value, first = test$t)
  active <- seq_along(effect)
  repeat {
    entering <- next_parties(state, test, active, alpha)
    if (length(entering) == 0L) break
    active <- state$group[entering]
    state$party <- Map(c, state$party, list(active, state$from[entering],
                                            test$delay[entering] - 1L))
    state$theta[active] <- best_theta(state, active, -1:1, forecast)
    # The last tests of an effect are those with all of its parties.
    open <- which(state$group %in% active & !is_party(state))
    if (length(open) > 0L) test[open, ] <- test_links(state, open, forecast)
    active <- active[n_parties(state)[active] < max_parties]
  }
  members <- which(is_party(state))
  if (length(members) > 0L) test[members, ] <- test_links(state, members, forecast, TRUE)
  list(test = cbind(test, before), state = state)
}

n_parties <- function(state) tabulate(state$party$group, length(state$effect))

#' Whether the cause of each link is a party of its effect
#' @noRd
is_party <- function(state) {
  pair_key(state$group, state$from) %in% pair_key(state$party$group, state$party$series)
}

#' One number for two
#' @noRd
pair_key <- function(a, b) a * 2^31 + b

#' The links whose causes become parties: of each active effect one, or none
#'
#' The one that improves the forecast most among those that are significant, whose
#' number of trials counts.
#' @noRd
next_parties <- function(state, test, active, alpha) {
  open <- which(state$group %in% active & !is_party(state))
  trials <- tabulate(state$group[open], length(state$effect))[state$group[open]]
  enters <- test$p_value[open] * trials <= alpha & test$gain[open] > 0
  open <- open[!is.na(enters) & enters]
  open <- open[order(state$group[open], -test$gain[open])]
  open[!duplicated(state$group[open])]
}

# ---- Jobs ----------------------------------------------------------------------------

#' What conditional_forecasts() takes
#'
#' @param effect Number of the series that is forecast, one a job.
#' @param theta One a job.
#' @param coordinates,candidates Lists of `job`, `series` and `lag`, of any length; those of
#'   a job are taken in their order.
#' @noRd
forecast_jobs <- function(effect, theta, coordinates, candidates) {
  starts <- \(of) c(0, cumsum(tabulate(of$job, length(effect))))
  together <- \(of) {
    by_job <- order(of$job)
    rbind(as.integer(of$series)[by_job], as.integer(of$lag)[by_job])
  }
  list(effect = as.integer(effect), theta = as.double(theta),
       coordinate_start = starts(coordinates), coordinate = together(coordinates),
       candidate_start = starts(candidates), candidate = together(candidates))
}

no_candidates <- list(job = integer(), series = integer(), lag = integer())

#' Coordinates of the states of effects: own past, clock, two lags of each party
#'
#' @param groups Places of the effects, one a job.
#' @param without A series that is no party there, one a job; 0 for none.
#' @noRd
state_coordinates <- function(state, groups, without = rep(0L, length(groups))) {
  job <- seq_along(groups)
  own <- state$own[groups]
  clock <- state$clock[groups]
  party <- parties_of(state, groups)
  kept <- party$series != without[party$job]
  party <- lapply(party, \(v) rep(v[kept], each = 2L))
  times <- unlist(clock, use.names = FALSE)
  list(job = c(rep(job, own), rep(job, lengths(clock)), party$job),
       series = c(rep(state$effect[groups], own), times, party$series),
       lag = c(sequence(own) - 1L, rep(0L, length(times)), party$lag + rep(0:1, sum(kept))))
}

#' The parties of effects, in the order in which they entered: `job`, `series` and `lag`
#' @noRd
parties_of <- function(state, groups) {
  party <- state$party
  n <- n_parties(state)
  before <- cumsum(n) - n
  some <- n[groups] > 0L
  at <- order(party$group)[sequence(n[groups][some], before[groups][some] + 1L)]
  list(job = rep(seq_along(groups), n[groups]), series = party$series[at], lag = party$lag[at])
}

#' The places of the thetas with the least error
#'
#' @param steps Places to try, or how far from the present place.
#' @noRd
best_theta <- function(state, groups, steps, forecast) {
  from <- state$theta[groups]
  places <- outer(ifelse(is.na(from), 0L, from), steps, `+`)
  places[] <- pmin(pmax(places, 1L), length(search_thetas))
  n <- length(groups)
  # Jobs that differ in theta alone follow each other: they share distances.
  jobs <- rep(groups, each = length(steps))
  made <- forecast(forecast_jobs(state$effect[jobs], search_thetas[t(places)],
                                 state_coordinates(state, jobs), no_candidates))
  places[cbind(seq_len(n), least_error(made$error, n))]
}

#' Which of the jobs of each of `n`, which follow each other, has the least error
#' @noRd
least_error <- function(error, n) {
  error <- matrix(error, n, byrow = TRUE)
  # Where there are too few rows for any error, any job will do.
  error[is.na(error)] <- Inf
  max.col(-error, "first")
}

#' Tests of some links: each effect has all of its parties, but not the party that is tested
#'
#' A job has the rows in which all of its candidates are known. So causes that miss other
#' steps are in jobs of their own: one with long gaps takes no rows from the others.
#' @param parties Whether the causes of these links are parties of their effects.
#' @noRd
test_links <- function(state, links, forecast, parties = FALSE) {
  key <- if (parties) links else pair_key(state$group[links], state$gaps[links])
  job <- match(key, unique(key))
  groups <- state$group[links][!duplicated(job)]
  without <- if (parties) state$from[links] else integer(length(groups))
  # Each cause at all lags, the lags of a link side by side.
  each <- length(state$lags)
  candidates <- list(job = rep(job, each = each), series = rep(state$from[links], each = each),
                     lag = rep(state$lags, length(links)))
  made <- forecast(forecast_jobs(state$effect[groups], search_thetas[state$theta[groups]],
                                 state_coordinates(state, groups, without), candidates))
  # The links come back job by job.
  best_delays(made, length(links), state$lags)[order(order(job)), ]
}

#' Of each link the delay at which the forecast improves most significantly
#' @noRd
best_delays <- function(made, links, lags) {
  t <- matrix(made$t, length(lags))
  tried <- t
  tried[is.na(t)] <- -Inf
  best <- cbind(max.col(t(tried), "first"), seq_len(links))
  delay <- replace(lags[best[, 1L]] + 1L, is.na(t[best]), NA)
  data.frame(delay = delay, gain = matrix(made$gain, length(lags))[best], t = t[best],
             p_value = pmin(1, length(lags) * stats::pnorm(-t[best])))
}

# ---- The forecasts --------------------------------------------------------------------

#' Forecast effects one step ahead, without and with one more series
#'
#' @param series Double matrix, steps x series, standardised, with `NA` where missing.
#' @param jobs A list of integers `effect` (columns of `series`), doubles `theta`, integer
#'   matrices `coordinate` and `candidate` with two rows, the column of `series` and the lag
#'   in steps (0 for the present value), and where those of each job begin, from 0 and with
#'   their number at the end: `coordinate_start` and `candidate_start`, one longer than
#'   `effect`. A job has 1 to 24 coordinates and any number of candidates.
#' @param exclusion Rows at most so many steps away are left out of a fit.
#' @param reach The largest lag of the call; all jobs have rows from step `reach + 1` on.
#' @param where A list of `gpus` (numbers from 0, or `NULL` for the CPU) and `threads`.
#' @return A list: `rows` and `error`, the mean squared error without a candidate, of each job;
#'   `gain`, the share by which the candidate would lower it if its coefficients were known, and
#'   `t`, the mean of this by its standard error, of each candidate; with `keep`, `missed`, a
#'   matrix of steps x jobs: by how much a step is above its forecast. `NA` where there is none.
#' @noRd
conditional_forecasts <- function(series, jobs, exclusion, reach, where, keep = FALSE) {
  # A copy of what is used takes a few times as long as to send as much to a device.
  used <- sort(unique(c(jobs$effect, jobs$coordinate[1L, ], jobs$candidate[1L, ])))
  if (length(used) < ncol(series) / 6) {
    series <- series[, used, drop = FALSE]
    jobs$effect <- match(jobs$effect, used)
    jobs$coordinate[1L, ] <- match(jobs$coordinate[1L, ], used)
    jobs$candidate[1L, ] <- match(jobs$candidate[1L, ], used)
  }
  out <- .Call(r_forecast, series, jobs,
               c(list(exclusion = exclusion, reach = reach, keep = keep), where))
  out <- finish_status(out, "these forecasts")
  out[c("rows", "error", "gain", "t", if (keep) "missed")]
}
