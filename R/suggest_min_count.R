# A count that chance hardly reaches, to mine with.

#' Suggest a `min_count` to mine episodes with
#'
#' Suggests the smallest count that fewer than `chance` pairs of units reach by chance, on
#' average. How often pairs occur by chance is either counted in surrogates of the
#' recording or computed for units that fire independently. Longer episodes reach this
#' count by chance even more rarely, unless they contain a pair that is itself more
#' frequent than by chance.
#'
#' @inheritParams mine_episodes
#' @param chance How many pairs may reach the count by chance, on average; above 0.
#' @param method `"surrogates"` mines pairs in surrogates, which keep slow changes of
#'   rates, and bursts as far as the method of surrogates does. `"independent"` takes the
#'   counts of [expected_counts()] as means of Poisson variables: it is faster, but the
#'   suggested count is too low where rates change together.
#' @param n_surrogates Number of surrogates.
#' @param surrogate How surrogates are made, as in [surrogate_trains()].
#' @param dither,... Arguments of that method, in seconds; see [surrogate_trains()].
#' @param distinct_units As in [mine_episodes()]: are pairs of a unit with itself left out?
#' @return A whole number. A message says how many pairs of the recording reach it, and
#'   how many are expected to by chance; `suppressMessages()` leaves it out. The
#'   surrogates depend on [set.seed()].
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`.
#' @seealso [mine_episodes()], [expected_counts()], [episode_significance()].
#' @examples
#' set.seed(1)
#' x <- simulate_sym26(duration = 10)
#' min_count <- suggest_min_count(x, c(0, 0.005), threads = 2)
#' mine_episodes(x, min_count, c(0, 0.005), threads = 2)
#' @export
suggest_min_count <- function(x, intervals, chance = 1,
                              method = c("surrogates", "independent"), n_surrogates = 5,
                              surrogate = "dither", dither = 0.015, ...,
                              distinct_units = FALSE, threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording",
              intervals = "delay intervals in seconds, such as `c(0.005, 0.010)`")
  x <- as_spike_trains(x)
  intervals <- check_intervals(intervals, attr(x, "resolution", exact = TRUE))$seconds
  chance <- check_number(chance, above = 0)
  method <- check_choice(method)
  n <- check_count(n_surrogates, max = 1e4)
  check_surrogate(surrogate, list(...), FALSE, rlang::current_env())
  check_flag(distinct_units)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory)
  if (nrow(x) == 0L) abort_arg("x", "a recording with spikes", "one without")
  pairs_of <- \(x) suppressMessages(pair_counts(x, intervals, distinct_units, threads, max_memory))
  suggested <- if (method == "surrogates") {
    # Those that have no use for `dither` refuse it.
    trains <- if (missing(dither)) {
      surrogate_trains(x, n, surrogate, ..., threads = threads, max_memory = max_memory)
    } else {
      surrogate_trains(x, n, surrogate, dither = dither, ..., threads = threads,
                       max_memory = max_memory)
    }
    least_of_surrogates(lapply(trains, pairs_of), chance)
  } else {
    least_of_expected(expected_pairs(x, intervals, distinct_units), chance)
  }
  say_suggested(suggested, sum(pairs_of(x) >= suggested$count), method, n)
  suggested$count
}

#' Counts of all pairs that occur
#' @noRd
pair_counts <- function(x, intervals, distinct_units, threads, max_memory) {
  found <- mine_episodes(x, 1, intervals, max_size = 2, distinct_units = distinct_units,
                         threads = threads, max_memory = max_memory)
  .subset2(found, "count")[.subset2(found, "size") == 2L]
}

#' The least count that on average fewer than `chance` pairs of a surrogate reach
#'
#' @param counts List of the counts of pairs, one for each surrogate.
#' @return List of the `count`, from 2, and how many pairs reach it, `by_chance`.
#' @noRd
least_of_surrogates <- function(counts, chance) {
  all <- sort(as.double(unlist(counts)), decreasing = TRUE)
  # Of so many the last one may still reach it: the next one has to be below.
  allowed <- ceiling(chance * length(counts)) - 1
  count <- max(2, if (length(all) > allowed) all[[allowed + 1]] + 1 else 2)
  list(count = count, by_chance = sum(all >= count) / length(counts))
}

#' The same of means of Poisson variables
#' @noRd
least_of_expected <- function(expected, chance) {
  expected <- expected[expected > 0]
  reach <- \(count) sum(stats::ppois(count - 1, expected, lower.tail = FALSE))
  low <- 1
  high <- 2
  while (reach(high) >= chance) {
    low <- high
    high <- 2 * high
  }
  while (high - low > 1) {
    middle <- floor((low + high) / 2)
    if (reach(middle) >= chance) low <- middle else high <- middle
  }
  list(count = max(2, high), by_chance = reach(max(2, high)))
}

#' Expected counts of all pairs of units, with each interval
#' @noRd
expected_pairs <- function(x, intervals, distinct_units) {
  rates <- observed_rates(x)
  rates <- rates[rates > 0]
  n <- length(rates)
  first <- rep(seq_len(n), each = n)
  second <- rep(seq_len(n), n)
  if (distinct_units) {
    differ <- first != second
    first <- first[differ]
    second <- second[differ]
  }
  rate <- rbind(rates[first], rates[second])
  stretches <- lengths_of_trials(x)
  bound <- \(v) matrix(v, 1L, ncol(rate))
  unlist(lapply(seq_len(nrow(intervals)), \(k) {
    expected_chains(rate, bound(intervals[k, 1L]), bound(intervals[k, 2L]), stretches)
  }))
}

say_suggested <- function(suggested, found, method, n) {
  where <- if (method == "surrogates") {
    sprintf("on average in %s", counted(n, "surrogate"))
  } else {
    "if units fired independently"
  }
  cli::cli_inform(
    c(i = paste("A count of {commas(suggested$count)} or more is reached by",
                "{counted(found, 'pair')} of the recording, and by",
                "{format(signif(suggested$by_chance, 2))} {where}."),
      if (found == 0) paste("The units with the highest rates set it. To look below it,",
                            "mine with a smaller count and rank by",
                            "{.fn expected_counts}.")),
    class = "synfire_message_min_count"
  )
}
