# A count to mine with: low enough for chains that are beyond chance.

#' Suggest a `min_count` to mine episodes with
#'
#' Looks for pairs and chains that occur more often than chance lets them, each compared with
#' surrogates of its own units, and suggests the smallest of their counts. So
#' [mine_episodes()] finds all of them with it. Most of what it finds besides is chance, as fast
#' units follow each other often: [episode_significance()] tells them apart.
#'
#' # How it is found
#' All pairs are looked at, and all chains of three to five units down to the smallest count
#' that at most 5,000 of them reach. Each has a score, as with the correction `"max"` of
#' [episode_significance()]: how far its count is above those in surrogates. It is *beyond
#' chance* when its score is higher than the highest score of its size in nearly all
#' surrogates (all but a share `alpha`). The suggestion is never so small that more than
#' 5,000 chains would be found; a message says if rarer ones are beyond chance.
#'
#' Where nothing is beyond chance, the suggestion is that smallest count of at most 5,000
#' chains, and the message says how often a pair would have had to occur to be found.
#'
#' @inheritParams mine_episodes
#' @param alpha Probability that chance puts any pair, or any chain of one size, beyond
#'   chance; above 0 and below 1.
#' @param method `"surrogates"`, or `"independent"` for the counts of [expected_counts()] as
#'   means of Poisson variables. That is faster, but where rates change together nearly
#'   everything is then beyond chance.
#' @param n_surrogates Number of surrogates; at least `1 / alpha - 1`.
#' @param surrogate,dither,... How surrogates are made, as in [episode_significance()].
#' @return A whole number, from 2. A message says how many pairs and chains of the recording
#'   reach it, and how many are beyond chance; `suppressMessages()` leaves it out. [set.seed()]
#'   decides the surrogates.
#' @section Errors:
#' Errors about an argument have the class `synfire_error_argument`, work beyond `max_memory`
#' has `synfire_error_budget`.
#' @seealso [mine_episodes()], [expected_counts()], [episode_significance()].
#' @examples
#' set.seed(1)
#' x <- songbird[unit = as.character(c(1:8, 10:20))]
#' min_count <- suggest_min_count(x, c(0.02, 0.12), threads = 2)
#' mine_episodes(x, min_count, c(0.02, 0.12), threads = 2)
#' @export
suggest_min_count <- function(x, intervals, alpha = 0.05,
                              method = c("surrogates", "independent"), n_surrogates = 39,
                              surrogate = "joint_isi", dither = NULL, ...,
                              distinct_units = TRUE, threads = NULL, max_memory = 4e9) {
  check_given(x = "a recording",
              intervals = "delay intervals in seconds, such as `c(0.005, 0.010)`")
  x <- as_spike_trains(x)
  intervals <- check_intervals(intervals, attr(x, "resolution", exact = TRUE))$seconds
  alpha <- check_alpha(alpha)
  method <- check_choice(method)
  n <- check_count(n_surrogates, "n_surrogates", max = 1e4)
  check_surrogate(surrogate, dither, list(...), FALSE)
  check_flag(distinct_units)
  threads <- check_threads(threads)
  max_memory <- check_memory(max_memory, min = 1e7)
  if (nrow(x) == 0L) abort_arg("x", "a recording with spikes", "one without")
  refuse_if(method == "surrogates" && !reaches(1 / (n + 1), alpha), "n_surrogates",
            sprintf("at least %s with this `alpha`", commas(ceiling(1 / alpha - 1e-9) - 1)),
            exact(n))
  scaled <- scaled_surrogates(x, surrogate, dither, list(...),
                              max(intervals[, 2L] - intervals[, 1L]))
  made <- choose_surrogates(x, surrogate, scaled$dither, scaled$more)
  candidates <- candidate_chains(x, intervals, distinct_units, threads, max_memory)
  chains <- candidates$chains
  if (nrow(chains) == 0L) return(say_nothing_follows(x, intervals))
  beyond <- if (method == "surrogates") {
    beyond_surrogates(chains, x, made, n, alpha, intervals, candidates$least, distinct_units,
                      threads, max_memory)
  } else {
    beyond_independence(chains, x, alpha)
  }
  count <- .subset2(chains, "count")
  suggested <- max(candidates$least, if (any(beyond$is)) min(count[beyond$is]), 2)
  say_suggested(suggested, chains, beyond)
  suggested
}

# So many chains are tested in seconds, and a table of them can be read.
most_chains <- 5e3

#' All pairs that occur, and chains of three to five units down to the least count that not
#' too many of them reach
#'
#' @return List of the `chains` and that `least` count.
#' @noRd
candidate_chains <- function(x, intervals, distinct_units, threads, max_memory) {
  mine <- function(count, size) {
    found <- mine_episodes(x, count, intervals, max_size = size, distinct_units = distinct_units,
                           threads = threads, max_memory = max_memory)
    found[.subset2(found, "size") > 1L, ]
  }
  pairs <- suppressMessages(mine(1, 2))
  counts <- sort(.subset2(pairs, "count"), decreasing = TRUE)
  if (length(counts) == 0L) return(list(chains = pairs, least = 2))
  least <- max(2, counts[[min(20, length(counts))]])
  again <- \(count) suppressWarnings(suppressMessages(mine(count, 5)))
  longer <- again(least)
  while (least > 2) {
    lower <- max(2, floor(0.75 * least))
    found <- again(lower)
    if (nrow(found) > most_chains) break
    least <- lower
    longer <- found
  }
  list(chains = c(pairs, longer[.subset2(longer, "size") > 2L, ]), least = least)
}

#' Which chains are beyond what surrogates have, by the largest score of a size
#'
#' @return List: `is`, a flag for each, `by` what it is compared with, `usual` count of a
#'   typical pair by chance, and the count it would `need`.
#' @noRd
beyond_surrogates <- function(chains, x, made, n, alpha, intervals, least, distinct_units,
                              threads, max_memory) {
  count <- .subset2(chains, "count")
  size <- .subset2(chains, "size")
  null <- null_in_parts(x, made, episode_codes(chains, x), count, n, NULL, threads, max_memory)
  reached <- reached_by_maxima(null, size, seq_along(count))
  longer <- which(size > 2L)
  if (length(longer)) {
    again <- null_of_chosen(x, made, chains[longer, ], count[longer], list(
      units = levels(.subset2(x, "unit")), sizes = 3:5, min_count = least,
      intervals = intervals, distinct_units = distinct_units
    ), n, threads, max_memory)
    reached[longer] <- pmax(reached[longer],
                            reached_by_maxima(again, size[longer], seq_along(longer)))
  }
  # The bar is the highest score that too many surrogates reach.
  maxima <- sort(null$maximum[2L, ], decreasing = TRUE)
  bar <- maxima[[floor(alpha * (n + 1) * (1 + 1e-9))]]
  pair <- size == 2L
  list(is = reaches((reached + 1) / (n + 1), alpha), by = counted(n, "surrogate"),
       usual = stats::median(null$mean[pair]),
       need = stats::median(null$mean[pair] + bar * pmax(null$sd[pair], 1)))
}

#' The same where units are taken as independent
#' @noRd
beyond_independence <- function(chains, x, alpha) {
  size <- .subset2(chains, "size")
  expected <- expected_episodes(chains, x)
  share <- alpha / tabulate(size)[size]
  reach <- stats::ppois(.subset2(chains, "count") - 1, expected, lower.tail = FALSE)
  pair <- size == 2L
  list(is = reach <= share, by = "units that fire independently",
       usual = stats::median(expected[pair]),
       need = stats::median(stats::qpois(share, expected, lower.tail = FALSE)[pair]))
}

# ---- In words ------------------------------------------------------------------------

#' "12 pairs and 3 longer chains"
#' @noRd
chains_text <- function(size) {
  longer <- sum(size > 2L)
  paste(counted(sum(size == 2L), "pair"), "and", counted(longer, "longer chain"))
}

say_suggested <- function(suggested, chains, beyond) {
  size <- .subset2(chains, "size")
  reach <- .subset2(chains, "count") >= suggested
  rarer <- beyond$is & !reach
  found <- if (any(beyond$is)) {
    paste("{chains_text(size[beyond$is & reach])} that occur {commas(suggested)} times or more",
          "are beyond chance, compared with {beyond$by}.")
  } else c(
    paste("None beyond chance: no pair and no chain of up to five units occurs more often than",
          "{beyond$by} let it."),
    paste("A typical pair, which occurs {format(signif(beyond$usual, 2))} times by chance, would",
          "have been found from {commas(floor(beyond$need) + 1)} times on.")
  )
  info("min_count", found,
       paste("A `min_count` of {commas(suggested)} finds {chains_text(size[reach])} of up to",
             "five units: {.fn episode_significance} says which of them are chance."),
       if (any(rarer)) {
         paste("{chains_text(size[rarer])} beyond chance are rarer; with so low a count more",
               "than {commas(most_chains)} chains would be found.")
       })
}

#' Where no unit follows another
#' @noRd
say_nothing_follows <- function(x, intervals) {
  ticks <- unique(train_ticks(x))
  apart <- ticks_to_seconds(min(diff(sort(ticks)), Inf), attr(x, "resolution", exact = TRUE))
  info("min_count", "None beyond chance: no unit follows another within these `intervals`.",
       if (is.finite(apart) && apart > max(intervals)) {
         paste("Spike times are {exact(apart)} s apart or more, as in films of so many frames:",
               "take intervals that hold several frames.")
       })
  2
}
