# Finding the parties of each effect, and the test of each link given them. All numbers
# come from conditional_forecasts(); here is what is asked, in which order.
#
# An effect has a state: `parties`, a matrix of two rows, series and lag, a column a
# party; and `theta`, the place of its best theta in `search_thetas`. All effects of a block
# take a step together, so that there is one call for all of them.

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
#'   `p_value` and `alone`, the p value without parties; `parties`, for each effect the
#'   numbers of its parties; and `group`, the place of each link's effect in these.
#' @noRd
search_links <- function(links, own, clock, max_delay, alpha, max_parties, forecast) {
  effect <- unique(links$to)
  links$group <- match(links$to, effect)
  state <- list(effect = effect, own = own[effect], clock = clock[effect],
                from = links$from, group = links$group, gaps = links$gaps,
                parties = rep(list(no_coordinates), length(effect)),
                theta = rep(NA_integer_, length(effect)), lags = seq_len(max_delay) - 1L)
  state$theta <- best_theta(state, seq_along(effect), seq_along(search_thetas), forecast)
  test <- test_given_parties(state, seq_along(links$from), forecast)
  alone <- test$p_value
  active <- seq_along(effect)
  repeat {
    entering <- next_parties(state, test, active, alpha)
    if (length(entering) == 0L) break
    active <- state$group[entering]
    state$parties[active] <- Map(
      \(parties, from, lag) cbind(parties, c(from, lag)), state$parties[active],
      state$from[entering], test$delay[entering] - 1L
    )
    state$theta[active] <- best_theta(state, active, -1:1, forecast)
    # The last tests of an effect are those with all of its parties.
    open <- which(state$group %in% active & !is_party(state))
    if (length(open) > 0L) test[open, ] <- test_given_parties(state, open, forecast)
    active <- active[n_parties(state)[active] < max_parties]
  }
  members <- which(is_party(state))
  if (length(members) > 0L) test[members, ] <- test_members(state, members, forecast)
  test$alone <- alone
  list(test = test, parties = lapply(state$parties, \(parties) parties[1L, ]),
       group = state$group)
}

no_coordinates <- matrix(0L, 2L, 0L)

n_parties <- function(state) vapply(state$parties, ncol, 0L)

#' Whether the cause of each link is a party of its effect
#' @noRd
is_party <- function(state) {
  of <- rep(seq_along(state$parties), n_parties(state))
  series <- unlist(lapply(state$parties, \(parties) parties[1L, ]))
  pair_key(state$group, state$from) %in% pair_key(of, series)
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
#' @param coordinates,candidates Lists of matrices of two rows, series and lag, one a job.
#' @noRd
forecast_jobs <- function(effect, theta, coordinates, candidates) {
  ends <- \(list) c(0, cumsum(vapply(list, ncol, 0L)))
  together <- \(list) matrix(as.integer(unlist(list, use.names = FALSE)), 2L)
  list(effect = as.integer(effect), theta = as.double(theta),
       coordinate_start = ends(coordinates), coordinate = together(coordinates),
       candidate_start = ends(candidates), candidate = together(candidates))
}

#' Coordinates of the states of some effects: own past, clock, two lags of each party
#' @noRd
state_coordinates <- function(state, groups, parties = state$parties[groups]) {
  Map(function(effect, own, clock, parties) {
    past <- rbind(rep(effect, own), seq_len(own) - 1L)
    cbind(past, rbind(clock, rep(0L, length(clock))), rbind(rep(parties[1L, ], each = 2L),
                      rep(parties[2L, ], each = 2L) + rep(0:1, ncol(parties))))
  }, state$effect[groups], state$own[groups], state$clock[groups], parties)
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
  coordinates <- state_coordinates(state, groups)
  each <- rep(seq_len(n), each = length(steps))
  # Jobs that differ in theta alone follow each other: they share distances.
  made <- forecast(forecast_jobs(
    state$effect[groups][each], search_thetas[t(places)], coordinates[each],
    rep(list(no_coordinates), length(each))
  ))
  error <- matrix(made$error, n, byrow = TRUE)
  # Where there are too few rows for any error, any theta will do.
  error[is.na(error)] <- Inf
  places[cbind(seq_len(n), max.col(-error, "first"))]
}

#' Tests of some links, each effect with all of its parties
#'
#' A job has the rows in which all of its candidates are known. So causes that miss other
#' steps are in jobs of their own: one with long gaps takes no rows from the others.
#' @noRd
test_given_parties <- function(state, some, forecast) {
  key <- pair_key(state$group[some], state$gaps[some])
  by <- split(some, match(key, unique(key)))
  groups <- state$group[vapply(by, `[[`, 0L, 1L)]
  candidates <- lapply(by, \(links) link_coordinates(state, links))
  made <- forecast(forecast_jobs(state$effect[groups], search_thetas[state$theta[groups]],
                                 state_coordinates(state, groups), candidates))
  found <- best_delays(made, length(some), state$lags)
  found[match(some, unlist(by, use.names = FALSE)), ]
}

#' Tests of parties, each effect with all others of its parties
#' @noRd
test_members <- function(state, members, forecast) {
  groups <- state$group[members]
  others <- Map(\(parties, from) parties[, parties[1L, ] != from, drop = FALSE],
                state$parties[groups], state$from[members])
  made <- forecast(forecast_jobs(
    state$effect[groups], search_thetas[state$theta[groups]],
    state_coordinates(state, groups, others), lapply(members, \(k) link_coordinates(state, k))
  ))
  best_delays(made, length(members), state$lags)
}

#' Each cause at all lags, the lags of a link side by side
#' @noRd
link_coordinates <- function(state, links) {
  rbind(rep(state$from[links], each = length(state$lags)), rep(state$lags, length(links)))
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
