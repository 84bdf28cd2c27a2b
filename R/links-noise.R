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
#' @param test As search_links() gives it.
#' @param links Places of the links, increasing.
#' @param related Function of two vectors of series: whether a link from the one to the other was
#'   looked at.
#' @return A list of `link` and `other`, a number of a series; the effect itself is one.
#' @noRd
possible_others <- function(state, test, links, alpha, related) {
  group <- state$group[links]
  helps <- which(test$alone <= alpha)
  helps <- helps[order(state$group[helps], !is_party(state)[helps], -test$first[helps])]
  number <- tabulate(state$group[helps], length(state$effect))
  first <- cumsum(number) - number + 1L
  link <- rep(links, number[group])
  other <- state$from[helps][sequence(number[group], first[group])]
  cause <- state$from[link]
  kept <- which(other != cause & (related(cause, other) | related(other, cause)))
  kept <- kept[sequence(tabulate(match(link[kept], links), length(links))) <= noise_others]
  asked <- list(link = c(links, link[kept]), other = c(state$effect[group], other[kept]))
  lapply(asked, `[`, order(asked$link))
}

#' Links that look direct, and may not be so, because another series is noisy
#'
#' @param test As search_links() gives it.
#' @param links Places of links that look direct.
#' @param value Matrix of steps x series; `forecast` takes such a matrix and jobs.
#' @param missed By how much each step of each effect is above its forecast from its state.
#' @return A list of `link`, each once, and `other`, the noisy series.
#' @noRd
noisy_links <- function(state, test, links, alpha, related, value, missed, forecast) {
  asked <- possible_others(state, test, links, alpha, related)
  own <- asked$other == state$effect[state$group[asked$link]]
  left <- rep(Inf, length(own))
  left[own] <- left_beside_own(state, test, asked$link[own], value, missed, forecast)
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
left_beside_own <- function(state, test, links, value, missed, forecast) {
  groups <- unique(state$group[links])
  expected <- value[, state$effect[groups], drop = FALSE] - missed[, groups, drop = FALSE]
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
  later <- \(x, by) x[shifted(seq_len(steps), by, list(last = rep(steps, steps))), , drop = FALSE]
  late <- later(value[, trio$other, drop = FALSE], -3L)
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
  later(late - made$missed[, best_jobs(made$error, n), drop = FALSE], 3L)
}

#' Of the jobs of each of `n`, which follow each other, the one with the least error
#' @noRd
best_jobs <- function(error, n) length(error) %/% n * (seq_len(n) - 1L) + least_error(error, n)

#' The t of links with more coordinates in the state of their effects
#'
#' @param pictures The coordinates: `job`, a place in `links`, `series` and `lag`.
#' @noRd
left_with <- function(state, test, links, pictures, value, forecast) {
  n <- length(links)
  jobs <- rep(seq_len(n), each = length(noise_thetas))
  group <- state$group[links][jobs]
  state_of <- state_coordinates(state, group, state$from[links][jobs])
  # The pictures of a link are those of each of its jobs.
  number <- tabulate(pictures$job, n)
  first <- cumsum(number) - number + 1L
  at <- order(pictures$job)[sequence(number[jobs], first[jobs])]
  coordinates <- Map(c, state_of, list(job = rep(seq_along(jobs), number[jobs]),
                                       series = pictures$series[at], lag = pictures$lag[at]))
  candidates <- list(job = seq_along(jobs), series = state$from[links][jobs],
                     lag = test$delay[links][jobs] - 1L)
  made <- forecast(value, forecast_jobs(state$effect[group], rep(noise_thetas, n), coordinates,
                                        candidates))
  made$t[best_jobs(made$error, n)]
}
