# Noisy series between a cause and its effect. A series that is seen with noise does not screen
# off what drives it: the cause then tells of its true value, which drives the effect. So each
# link that looks direct has its test once more, with a better picture of each other series in
# the state: its forecast from what is before and after, by itself, the cause and the effect.
# Where this takes most of the improvement away, a perfect picture might take all of it, and the
# link cannot be told from a mediated one.

# A direct link keeps at least this t, and this share of its t, beside pictures of another series.
# If it does not, the pictures are compared with it: they have to bring, given the cause, at least
# this share of its gain, and this many times the share of its t that it keeps beside them. Pictures
# of a series without noise tell nothing that the series and the cause do not.
noise_rules <- list(t = 3, share = 0.75, brings = 0.2, against = 0.6)

# Thetas of the forecasts that take noise away.
noise_thetas <- c(0, 1, 2, 4, 8, 16)

# Others that are looked at for a link, at most: those that improve the forecast most.
noise_others <- 3L

# Bytes of all pictures that are made at a time.
noise_bytes <- 5e7

#' Series that may stand between cause and effect of links that look direct
#'
#' @param test As search_links() gives it.
#' @param links Places of the links.
#' @param related Function of two vectors of series: whether a link from the one to the other was
#'   looked at.
#' @return A list of `link` and `other`, a number of a series.
#' @noRd
possible_others <- function(state, test, links, alpha, related) {
  helps <- which(test$alone <= alpha)
  helps <- helps[order(state$group[helps], !is_party(state)[helps], -test$first[helps])]
  others <- other_causes(state, links, helps, noise_others, \(cause, other) {
    related(cause, other) | related(other, cause)
  })
  list(link = links[others$job], other = others$series)
}

#' Other causes of the effects of links
#'
#' @param from Places of links whose causes are taken, in their order, effect by effect.
#' @param most How many for a link.
#' @param fits Function of the causes of links and of others: which of them are taken.
#' @return A list of `job`, a place in `links`, and `series`.
#' @noRd
other_causes <- function(state, links, from, most, fits = \(cause, other) TRUE) {
  number <- tabulate(state$group[from], length(state$effect))
  first <- cumsum(number) - number + 1L
  group <- state$group[links]
  job <- rep(seq_along(links), number[group])
  series <- state$from[from][sequence(number[group], first[group])]
  cause <- state$from[links][job]
  kept <- which(series != cause & fits(cause, series))
  kept <- kept[sequence(tabulate(job[kept], length(links))) <= most]
  list(job = job[kept], series = series[kept])
}

#' Links that look direct, and may not be so, because another series is noisy
#'
#' @param test As search_links() gives it.
#' @param links Places of links that look direct.
#' @param value Matrix of steps x series; `forecast` takes such a matrix and jobs.
#' @return A list of `link`, each once, and `other`, the noisy series.
#' @noRd
noisy_links <- function(state, test, links, alpha, related, value, forecast) {
  asked <- possible_others(state, test, links, alpha, related)
  if (length(asked$link) == 0L) return(asked)
  # Both pictures of a pair, the late series, and copies of them.
  at_a_time <- max(1, floor(noise_bytes / (48 * nrow(value))))
  lost <- lapply(pieces(length(asked$link), at_a_time), \(some) {
    doubts_of_noise(state, test, lapply(asked, `[`, some), value, forecast)
  })
  lost <- lapply(rlang::set_names(c("link", "other", "left")),
                 \(name) unlist(lapply(lost, `[[`, name)))
  by_link <- order(lost$link, lost$left)
  lost <- lapply(lost, `[`, by_link[!duplicated(lost$link[by_link])])
  lost[c("link", "other")]
}

#' Which of some pairs of a link and another series are in doubt
#' @return A list of their `link` and `other`, and the t that is `left`.
#' @noRd
doubts_of_noise <- function(state, test, asked, value, forecast) {
  # The series of these links alone: pictures are put beside copies of them.
  used <- series_of_links(state, asked)
  state <- renumbered(state, used)
  asked$other <- match(asked$other, used)
  seen <- pictures_of_others(state, asked, value[, used, drop = FALSE], forecast)
  t <- test$t[asked$link]
  left <- left_beside(state, test, asked$link, seen$pictures, seen$value, forecast)
  lost <- which(left < pmax(noise_rules$t, noise_rules$share * t))
  # Pictures of the lost links alone, whose jobs are places among these links.
  seen$pictures$job <- match(seen$pictures$job, lost)
  seen$pictures <- lapply(seen$pictures, `[`, !is.na(seen$pictures$job))
  brought <- brought_by(state, test, asked$link[lost], seen, forecast)
  least <- pmax(noise_rules$brings, noise_rules$against * left[lost] / t[lost])
  lost <- lost[brought >= least * test$gain[asked$link[lost]]]
  list(link = asked$link[lost], other = used[asked$other[lost]], left = left[lost])
}

#' Numbers of the series that the forecasts of some links use
#' @noRd
series_of_links <- function(state, asked) {
  group <- unique(state$group[asked$link])
  sort(unique(c(state$effect[group], state$from[asked$link], asked$other,
                unlist(state$clock[group]), parties_of(state, group)$series)))
}

#' A state whose series have the numbers of their places among the `used`, or NA
#' @noRd
renumbered <- function(state, used) {
  state[c("effect", "from")] <- lapply(state[c("effect", "from")], match, used)
  state$clock <- lapply(state$clock, match, used)
  state$party$series <- match(state$party$series, used)
  state
}

#' Pictures of other series without their noise
#' @return A list of `value`, with more columns, and `pictures`: `job`, a place in `asked`,
#'   `series` and `lag`.
#' @noRd
pictures_of_others <- function(state, asked, value, forecast) {
  n <- length(asked$link)
  group <- state$group[asked$link]
  trio <- list(cause = state$from[asked$link], other = asked$other, effect = state$effect[group])
  first <- without_noise(trio, trio$other, value, forecast)
  places <- ncol(value) + seq_len(n)
  second <- without_noise(trio, places, cbind(value, first), forecast)
  party <- pair_key(group, trio$other) %in% pair_key(state$party$group, state$party$series)
  seen <- which(!party)
  list(value = cbind(value, first, second),
       pictures = list(job = c(rep(seq_len(n), 3L), seen),
                       series = c(places, n + places, n + places, trio$other[seen]),
                       lag = rep(c(0L, 0L, 1L, 0L), c(n, n, n, length(seen)))))
}

#' Series as they are forecast from two steps before and after, the cause, and the effect
#'
#' @param from Columns of `value` whose steps before and after are taken.
#' @return A matrix of steps x trios.
#' @noRd
without_noise <- function(trio, from, value, forecast) {
  # Forecasts go one step ahead. So the target is late by 3 steps, and all else with it.
  late <- ahead(value[, trio$other, drop = FALSE], -3L)
  n <- length(trio$other)
  times <- length(noise_thetas)
  series <- cbind(value, late)
  lags <- list(around = c(0L, 1L, 3L, 4L), cause = 2:4, effect = 2:3)
  made_with <- function(of, theta, keep) {
    three <- rbind(matrix(from[of], 4L, length(of), byrow = TRUE),
                   matrix(trio$cause[of], 3L, length(of), byrow = TRUE),
                   matrix(trio$effect[of], 2L, length(of), byrow = TRUE))
    coordinates <- list(job = rep(seq_along(of), each = 9L), series = as.vector(three),
                        lag = rep(unlist(lags, use.names = FALSE), length(of)))
    forecast(series, forecast_jobs(ncol(value) + of, theta, coordinates, no_candidates), keep)
  }
  # What all thetas miss would take much more memory than what the best one does.
  tried <- made_with(rep(seq_len(n), each = times), rep(noise_thetas, n), FALSE)
  best <- noise_thetas[least_error(tried$error, n)]
  ahead(late - made_with(seq_len(n), best, TRUE)$missed, 3L)
}

#' The rows of a matrix from so many steps ahead, NA where there are none
#' @noRd
ahead <- function(x, by) {
  steps <- nrow(x)
  x[shifted(seq_len(steps), by, list(last = rep(steps, steps))), , drop = FALSE]
}

#' The t that links keep with more in the states of their effects
#' @param more See forecasts_with().
#' @noRd
left_beside <- function(state, test, links, more, value, forecast) {
  made <- forecasts_with(state, links, more, cause_at(state, test, links, 0L), value, forecast)
  vapply(made, `[[`, 0, "t")
}

#' What the best picture of each link brings to the forecast of its effect, given the cause
#' @noRd
brought_by <- function(state, test, links, seen, forecast) {
  made <- forecasts_with(state, links, cause_at(state, test, links, 0:1), seen$pictures,
                         seen$value, forecast)
  vapply(made, \(of) max(of$gain[which.max(of$t)], -Inf), 0)
}

#' The causes of links at their delays, and so many steps before
#' @noRd
cause_at <- function(state, test, links, before) {
  job <- rep(seq_along(links), each = length(before))
  list(job = job, series = state$from[links][job],
       lag = test$delay[links][job] - 1L + rep(before, length(links)))
}

#' Forecasts of the effects of links with more in their states, at the best theta
#'
#' @param more,candidates Of the links: `job`, a place in `links`, `series` and `lag`.
#' @return A list: of each link the `gain` and `t` of its candidates.
#' @noRd
forecasts_with <- function(state, links, more, candidates, value, forecast) {
  n <- length(links)
  times <- length(noise_thetas)
  link <- rep(seq_len(n), each = times)
  group <- state$group[links][link]
  in_each <- \(of) {
    at <- rep(seq_along(of$job), each = times)
    list(job = (of$job[at] - 1L) * times + seq_len(times), series = of$series[at],
         lag = of$lag[at])
  }
  state_of <- state_coordinates(state, group, state$from[links][link])
  tried <- in_each(candidates)
  made <- forecast(value, forecast_jobs(state$effect[group], rep(noise_thetas, n),
                                        Map(c, state_of, in_each(more)), tried))
  of_job <- unname(split(seq_along(made$t), factor(sort(tried$job), seq_along(link))))
  best <- times * (seq_len(n) - 1L) + least_error(made$error, n)
  lapply(of_job[best], \(at) list(gain = made$gain[at], t = made$t[at]))
}
