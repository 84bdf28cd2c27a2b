# Episodes that were mined in the recording in which they are tested were chosen by their
# counts. Surrogates that choose in the same way say how much that brings.

#' Scores of episodes among what is mined in surrogates as they were in the recording
#'
#' Each of `n` surrogates is mined with the same least count, and all that is found in any of
#' them, or in the recording, is counted in all of them. So the recording is one of n + 1
#' that are treated alike.
#' @param made As from surrogate_options(); surrogates with keys of their own are made.
#' @param chosen List: `units`, `sizes`, `min_count`, `intervals` (s), `distinct_units`.
#' @return As r_null_summary() gives it: `score` of each episode, and `maximum`, the largest of
#'   a size (row) in each surrogate (column).
#' @noRd
null_of_chosen <- function(x, made, episodes, count, chosen, n, threads, max_memory,
                           call = rlang::caller_env()) {
  trains <- trains_of(x)
  given <- list(first = 0, n = 1, threads = threads, max_memory = max_memory)
  keys <- lapply(seq_len(n), \(k) {
    made$key <- random_below(2, 2^32, made$key, k)
    made
  })
  known <- .subset2(episodes, "episode")
  bar <- common_bar("Choosing episodes in surrogates", 2 * n)
  mined <- lapply(keys, \(how) {
    spikes <- .Call(r_surrogate_trains, trains, how, given[-1L])
    spikes <- finish_status(spikes, "making surrogates", "Test in a shorter recording.",
                            limit_of = "spikes", call = call)[[1L]]
    found <- mine_surrogate(spikes, x, chosen, threads, max_memory)
    bar(1)
    found[!.subset2(found, "episode") %in% known, ]
  })
  others <- do.call(c, mined)
  others <- others[!duplicated(.subset2(others, "episode")), ]
  codes <- Map(c, episode_codes(episodes, x, call), episode_codes(others, x, call))
  counts <- vapply(keys, \(how) {
    one <- .Call(r_episode_null, trains, how, codes, c(given, list(gpus = NULL)))
    bar(1)
    finish_status(one, "counting in surrogates", "Test in a shorter recording.",
                  limit_of = "spikes", call = call)[, 1L]
  }, integer(length(codes$units)))
  count <- c(count, count_episodes(x, others, threads = threads)$count)
  summed <- .Call(r_null_summary, matrix(counts, ncol = n), count, lengths(codes$units),
                  unname(null_quantiles), threads)
  summed <- finish_status(summed, "summing up surrogates", call = call)
  list(score = summed$score[seq_along(known)], maximum = summed$maximum)
}

#' What is frequent in a surrogate, of each size the likeliest to have a high score
#' @noRd
mine_surrogate <- function(spikes, x, chosen, threads, max_memory, most = 300L) {
  levels <- levels(.subset2(x, "unit"))
  one <- new_spike_trains(spikes$tick, structure(spikes$unit, levels = levels, class = "factor"),
                          attr(x, "start", exact = TRUE), attr(x, "end", exact = TRUE),
                          attr(x, "resolution", exact = TRUE), attr(x, "trials", exact = TRUE))
  # What mining says of long delays or much memory it has said of the recording.
  found <- suppressWarnings(suppressMessages(
    mine_episodes(one, chosen$min_count, chosen$intervals, units = chosen$units,
                  max_size = max(chosen$sizes), distinct_units = chosen$distinct_units,
                  threads = threads, max_memory = max_memory)
  ))
  found <- found[.subset2(found, "size") %in% chosen$sizes, ]
  size <- .subset2(found, "size")
  if (!any(tabulate(size) > most)) return(found)
  expected <- expected_episodes(found, x)
  rows <- order(size, (expected - .subset2(found, "count")) / sqrt(expected + 1))
  found[rows[sequence(rle(size[rows])$lengths) <= most], ]
}

#' How `episodes` were chosen by their counts in `x`; NULL where they were not
#' @noRd
chosen_by_count <- function(episodes, x) {
  min_count <- attr(episodes, "min_count", exact = TRUE)
  recording <- own_recording(episodes)
  intervals <- attr(episodes, "intervals", exact = TRUE)
  if (is.null(min_count) || is.null(intervals) || is.null(recording)) return(NULL)
  units <- levels(.subset2(recording, "unit"))
  # Of the units mined, the same spikes.
  same <- identical(attr(recording, "resolution"), attr(x, "resolution")) &&
    all(units %in% levels(.subset2(x, "unit"))) &&
    identical(.subset2(recording, "time"),
              .subset2(x, "time")[.subset2(x, "unit") %in% units])
  if (!same) return(NULL)
  list(units = units, min_count = min_count, intervals = intervals,
       sizes = setdiff(.subset2(episodes, "size"), 1L),
       distinct_units = isTRUE(attr(episodes, "distinct_units", exact = TRUE)))
}
