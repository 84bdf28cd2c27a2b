# Noisy series between a cause and its effect. A series that is seen with noise does not screen
# off what drives it: the cause then tells of its true value, which drives the effect. So each
# link that looks direct has its test once more, with a better picture of each other series in
# the state: its forecast from what is before and after, by itself, the cause and the effect.
# Where this takes most of the improvement away, a perfect picture might take all of it, and the
# link cannot be told from a mediated one.

# What a direct link keeps at least: this t, and this share of its t, beside pictures of other
# series, and beside the effect as it was forecast one step before.
noise_rules <- list(t = 3, share = 0.55, own = 0.3)

# Thetas of the forecasts that take noise away.
noise_thetas <- c(0, 1, 2, 4, 8, 16)

# Others that are looked at for a link, at most: those that improve the forecast most.
noise_others <- 3L

#' Series that may stand between cause and effect of links that look direct
#'
#' @param links Places of the links.
#' @param related Function that says of which pairs of series a link was looked at.
#' @return A list of `link` and `other`, a number of a series; the effect itself is one.
#' @noRd
possible_others <- function(state, test, alone, links, alpha, related) {
  helps <- which(alone <= alpha)
  strong <- helps[order(state$group[helps], !is_party(state)[helps], -test$first[helps])]
  of <- split(state$from[strong], factor(state$group[strong], seq_along(state$effect)))
  others <- lapply(links, \(l) {
    other <- setdiff(of[[state$group[[l]]]], state$from[[l]])
    cause <- rep(state$from[[l]], length(other))
    other <- other[related(cause, other) | related(other, cause)]
    c(state$effect[[state$group[[l]]]], utils::head(other, noise_others))
  })
  list(link = rep(links, lengths(others)), other = unlist(others))
}

#' Links that look direct, and may not be so, because another series is noisy
#'
#' @param test The tests of all links, and `first`, t without parties.
#' @param alone Their p values without parties.
#' @param links Places of links that look direct.
#' @param value Matrix of steps x series; `forecast` takes such a matrix and jobs.
#' @return A list of `link`, each once, and `other`, the noisy series.
#' @noRd
noisy_links <- function(state, test, alone, links, alpha, related, value, forecast) {
  asked <- possible_others(state, test, alone, links, alpha, related)
  own <- asked$other == state$effect[state$group[asked$link]]
  left <- rep(Inf, length(own))
  left[own] <- left_beside_own(state, test, asked$link[own], value, forecast)
  left[!own] <- left_beside_others(state, test, lapply(asked, `[`, !own), value, forecast)
  share <- ifelse(own, noise_rules$own, noise_rules$share)
  least <- pmax(noise_rules$t, share * test$t[asked$link])
  lost <- which(!is.na(left) & left < least)
  lost <- lost[order(asked$link[lost], left[lost])]
  lost <- lost[!duplicated(asked$link[lost])]
  lapply(asked, `[`, lost)
}

#' The t that links keep when the state has the effect as it was forecast one step before
#' @noRd
left_beside_own <- function(state, test, links, value, forecast) {
  groups <- unique(state$group[links])
  made <- forecast(value, forecast_jobs(state$effect[groups], search_thetas[state$theta[groups]],
                                        state_coordinates(state, groups), no_candidates), TRUE)
  expected <- value[, state$effect[groups], drop = FALSE] - made$missed
  pictures <- list(job = seq_along(links), lag = rep(0L, length(links)),
                   series = ncol(value) + match(state$group[links], groups))
  left_with(state, test, links, pictures, cbind(value, expected), forecast)
}

#' The t that links keep when the state has another series without its noise
#' @noRd
left_beside_others <- function(state, test, asked, value, forecast) {
  n <- length(asked$link)
  if (n == 0L) return(double())
  group <- state$group[asked$link]
  trio <- list(cause = state$from[asked$link], other = asked$other, effect = state$effect[group])
  first <- without_noise(trio, trio$other, value, forecast)
  second <- without_noise(trio, ncol(value) + seq_len(n), cbind(value, first), forecast)
  places <- ncol(value) + seq_len(n)
  party <- pair_key(group, trio$other) %in% pair_key(state$party$group, state$party$series)
  seen <- which(!party)
  pictures <- list(job = c(rep(seq_len(n), 3L), seen),
                   series = c(places, n + places, n + places, trio$other[seen]),
                   lag = rep(c(0L, 0L, 1L, 0L), c(n, n, n, length(seen))))
  left_with(state, test, asked$link, pictures, cbind(value, first, second), forecast)
}

#' Series as they are forecast from two steps before and after, the cause, and the effect
#'
#' @param from Columns of `value` whose steps before and after are taken.
#' @return A matrix of steps x trios.
#' @noRd
without_noise <- function(trio, from, value, forecast) {
  # Forecasts go one step ahead. So the target is late by 3 steps, and all else with it.
  steps <- nrow(value)
  late <- value[c(rep(NA, 3L), seq_len(max(0L, steps - 3L)))[seq_len(steps)], trio$other,
                drop = FALSE]
  n <- length(trio$other)
  jobs <- rep(seq_len(n), each = length(noise_thetas))
  lags <- list(around = c(0L, 1L, 3L, 4L), cause = 2:4, effect = 2:3)
  series <- rbind(matrix(from[jobs], 4L, length(jobs), byrow = TRUE),
                  matrix(trio$cause[jobs], 3L, length(jobs), byrow = TRUE),
                  matrix(trio$effect[jobs], 2L, length(jobs), byrow = TRUE))
  coordinates <- list(job = rep(seq_along(jobs), each = 9L), series = as.vector(series),
                      lag = rep(unlist(lags, use.names = FALSE), length(jobs)))
  made <- forecast(cbind(value, late),
                   forecast_jobs(ncol(value) + jobs, rep(noise_thetas, n), coordinates,
                                 no_candidates), TRUE)
  best <- best_of_thetas(made$error, n)
  picture <- late - made$missed[, best, drop = FALSE]
  picture[c(3L + seq_len(max(0L, steps - 3L)), rep(NA, 3L))[seq_len(steps)], , drop = FALSE]
}

#' Of jobs that follow each other, with all of `noise_thetas`: the one with the least error
#' @noRd
best_of_thetas <- function(error, n) {
  error <- matrix(error, n, byrow = TRUE)
  error[is.na(error)] <- Inf
  length(noise_thetas) * (seq_len(n) - 1L) + max.col(-error, "first")
}

#' The t of links with more coordinates in the state of their effects
#'
#' @param pictures The coordinates: `job`, a place in `links`, `series` and `lag`.
#' @noRd
left_with <- function(state, test, links, pictures, value, forecast) {
  n <- length(links)
  thetas <- length(noise_thetas)
  jobs <- rep(seq_len(n), each = thetas)
  group <- state$group[links][jobs]
  state_of <- state_coordinates(state, group, state$from[links][jobs])
  # The pictures of a link are those of each of its jobs.
  of <- order(pictures$job)
  number <- tabulate(pictures$job, n)[jobs]
  at <- of[sequence(number, (cumsum(tabulate(pictures$job, n)) -
                               tabulate(pictures$job, n) + 1L)[jobs])]
  coordinates <- Map(c, state_of, list(job = rep(seq_along(jobs), number),
                                       series = pictures$series[at], lag = pictures$lag[at]))
  candidates <- list(job = seq_along(jobs), series = state$from[links][jobs],
                     lag = test$delay[links][jobs] - 1L)
  made <- forecast(value, forecast_jobs(state$effect[group], rep(noise_thetas, n), coordinates,
                                        candidates))
  made$t[best_of_thetas(made$error, n)]
}
