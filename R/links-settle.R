# The tests of all links of a block: the search, without links that noise may explain, the
# linear tests of effects that a linear forecast knows better, and the links that something that
# was not recorded may explain.

#' Test all links, and find those that noise or something that was not recorded may explain
#'
#' The effects of links that noise may explain are searched again without them.
#'
#' @param related See possible_others().
#' @param value,forecast See noisy_links(); other parameters as in search_links().
#' @return A list: `test`, as that of search_links(), with `linear`, see with_linear_tests(),
#'   and the columns of together_tests(); `noisy`, the number of the noisy series that may explain
#'   a link, or NA; `hidden`, whether something may that was not recorded; `parties`, for each
#'   effect the numbers of its parties; and `group`, the place of each link's effect in these.
#' @noRd
settle_links <- function(links, own, clock, rules, related, value, forecast) {
  search <- \(links) search_links(links, own, clock, rules$max_delay, rules$alpha,
                                 rules$max_parties, \(jobs) forecast(value, jobs))
  # Links of the latest search.
  at <- seq_along(links$from)
  found <- search(links)
  test <- found$test
  state <- found$state
  noisy <- rep(NA_integer_, length(at))
  repeat {
    direct <- which(looks_direct(found$test$p_value, found$test$t, FALSE, rules$alpha))
    lost <- noisy_links(found$state, found$test, direct, rules$alpha, related, value, forecast)
    if (length(lost$link) == 0L) break
    noisy[at[lost$link]] <- lost$other
    searched <- unique(links$to[at[lost$link]])
    state <- without_parties(state, searched)
    at <- which(links$to %in% searched & is.na(noisy))
    if (length(at) == 0L) break
    found <- search(lapply(links, `[`, at))
    test[at, ] <- found$test
    state <- with_parties(state, found$state)
  }
  made <- forecast(value, forecast_jobs(
    state$effect, search_thetas[state$theta], state_coordinates(state, seq_along(state$effect)),
    no_candidates
  ), TRUE)
  test <- with_linear_tests(test, state, value, made$error, rules)
  test <- cbind(test, together_tests(state, clock, value, made$missed, rules$threads))
  direct <- which(looks_direct(test$p_value, test$t, test$linear, rules$alpha) & is.na(noisy))
  hidden <- seq_along(noisy) %in% hidden_links(state, test, direct, value, forecast)
  parties <- unname(split(state$party$series, factor(state$party$group, seq_along(state$effect))))
  list(test = test, noisy = noisy, hidden = hidden, parties = parties, group = state$group)
}

#' The state of a search, where some effects have no parties
#' @noRd
without_parties <- function(state, effect) {
  kept <- !state$effect[state$party$group] %in% effect
  state$party <- lapply(state$party, `[`, kept)
  state
}

#' The same, where they have the parties and thetas of another search
#' @noRd
with_parties <- function(state, other) {
  group <- match(other$effect, state$effect)
  state$theta[group] <- other$theta
  other$party$group <- group[other$party$group]
  state$party <- Map(c, state$party, other$party)
  state
}

# The least t of a direct link by a local forecast. States are never complete, so a cause that
# tells of the rest of them improves the forecast a little without being one.
local_t <- 3.5

#' Whether the tests of links say that they are direct
#' @param p p or q values.
#' @noRd
looks_direct <- function(p, t, linear, alpha) p <= alpha & (linear | t >= local_t)
