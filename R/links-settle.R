# The tests of all links of a block: the search, without links that noise may explain, and the
# linear tests of effects that a linear forecast knows better.

#' Test all links, and refuse those that noise in another series may explain
#'
#' The effects of refused links are searched again without them.
#'
#' @param related See possible_others().
#' @param value,forecast See noisy_links(); other parameters as in search_links().
#' @return A list: `test`, as that of search_links(), and `noisy`, the number of the noisy
#'   series of links that are refused, or NA; `parties`, for each effect the numbers of its
#'   parties; and `group`, the place of each link's effect in these.
#' @noRd
settle_links <- function(links, own, clock, rules, related, value, forecast) {
  search <- \(links) search_links(links, own, clock, rules$max_delay, rules$alpha,
                                 rules$max_parties, \(jobs) forecast(value, jobs))
  found <- search(links)
  error <- state_errors(found$state, value, forecast)
  noisy <- rep(NA_integer_, length(links$from))
  effect <- found$state$effect
  parties <- parties_by_effect(found$state, effect)
  # Links of the latest search.
  at <- seq_along(links$from)
  test <- found$test
  repeat {
    direct <- which(found$test$p_value <= rules$alpha)
    lost <- if (length(direct) > 0L) {
      noisy_links(found$state, found$test, found$test$alone, direct, rules$alpha, related, value,
                  forecast)
    }
    if (length(lost$link) == 0L) break
    noisy[at[lost$link]] <- lost$other
    again <- links$to %in% links$to[at[lost$link]] & is.na(noisy)
    parties[effect %in% links$to[at[lost$link]]] <- list(integer())
    at <- which(again)
    if (length(at) == 0L) break
    found <- search(lapply(links, `[`, at))
    test[at, ] <- found$test
    parties[match(found$state$effect, effect)] <- parties_by_effect(found$state,
                                                                    found$state$effect)
  }
  links$group <- match(links$to, effect)
  test <- with_linear_tests(test, links, effect, clock[effect], value, error, rules)
  list(test = test, noisy = noisy, parties = parties, group = links$group)
}

#' Mean squared errors of all effects, with their parties
#' @noRd
state_errors <- function(state, value, forecast) {
  forecast(value, forecast_jobs(state$effect, search_thetas[state$theta],
                                state_coordinates(state, seq_along(state$effect)),
                                no_candidates))$error
}

parties_by_effect <- function(state, effect) {
  unname(split(state$party$series, factor(state$party$group, seq_along(effect))))
}
