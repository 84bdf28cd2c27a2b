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
  search <- \(part) search_links(part$links, part$own, part$clock, rules$max_delay, rules$alpha,
                                rules$max_parties, \(jobs) forecast(part$value, jobs))
  # Links of the latest search, and what it needs.
  at <- seq_along(links$from)
  part <- list(links = links, own = own, clock = clock, value = value,
               used = seq_len(ncol(value)))
  found <- search(part)
  test <- found$test
  state <- found$state
  noisy <- rep(NA_integer_, length(at))
  repeat {
    direct <- which(looks_direct(found$test$p_value, found$test$t, FALSE, rules$alpha))
    lost <- noisy_links(found$state, found$test, direct, rules$alpha,
                        \(a, b) related(part$used[a], part$used[b]), part$value, forecast)
    if (length(lost$link) == 0L) break
    noisy[at[lost$link]] <- part$used[lost$other]
    searched <- unique(links$to[at[lost$link]])
    state <- without_parties(state, searched)
    at <- which(links$to %in% searched & is.na(noisy))
    if (length(at) == 0L) break
    part <- part_of_search(lapply(links, `[`, at), own, clock, value)
    found <- search(part)
    test[at, ] <- found$test
    state <- with_parties(state, found$state, part$used)
  }
  made <- state_forecasts(state, value, forecast)
  test <- with_linear_tests(test, state, value, made$error, rules)
  test <- cbind(test, together_tests(state, clock, value, made$missed, rules$threads))
  direct <- which(looks_direct(test$p_value, test$t, test$linear, rules$alpha) & is.na(noisy))
  hidden <- seq_along(noisy) %in% hidden_links(state, test, direct, value, forecast)
  parties <- unname(split(state$party$series, factor(state$party$group, seq_along(state$effect))))
  list(test = test, noisy = noisy, hidden = hidden, parties = parties, group = state$group)
}

#' What the search of some links needs: the numbers of `links` and `clock` are those of columns
#' of `value`, which are `used` of all
#' @noRd
part_of_search <- function(links, own, clock, value) {
  used <- sort(unique(c(links$from, links$to, unlist(clock[links$to]))))
  links[c("from", "to")] <- lapply(links[c("from", "to")], match, used)
  list(links = links, own = own[used], clock = lapply(clock[used], match, used),
       value = value[, used, drop = FALSE], used = used)
}

#' The state of a search, where some effects have no parties
#' @noRd
without_parties <- function(state, effect) {
  kept <- !state$effect[state$party$group] %in% effect
  state$party <- lapply(state$party, `[`, kept)
  state
}

#' The same, where they have the parties and thetas of the search of a part
#' @noRd
with_parties <- function(state, other, used) {
  group <- match(used[other$effect], state$effect)
  state$theta[group] <- other$theta
  state$party <- Map(c, state$party, list(group[other$party$group],
                                          used[other$party$series], other$party$lag))
  state
}

# The least t of a direct link by a local forecast. States are never complete, so a cause that
# tells of the rest of them improves the forecast a little without being one.
local_t <- 3.5

#' Whether the tests of links say that they are direct
#' @param p p or q values.
#' @noRd
looks_direct <- function(p, t, linear, alpha) p <= alpha & (linear | t >= local_t)

#' Forecasts of all effects from their own past and their parties, with what they miss
#' @noRd
state_forecasts <- function(state, value, forecast) {
  forecast(value, forecast_jobs(state$effect, search_thetas[state$theta],
                                state_coordinates(state, seq_along(state$effect)),
                                no_candidates), TRUE)
}
