# Oracles for tested episodes: surrogates counted one after the other, and their statistics
# written out.

# Episodes of up to `longest` units, drawn at random; some begin alike, some come twice.
random_episodes <- function(stream, n, longest = 4) {
  bounds <- stream_intervals(stream)
  made <- lapply(seq_len(n), \(i) {
    size <- sample(longest, 1L)
    k <- sample(nrow(bounds), size - 1L, replace = TRUE)
    episode(sample(stream$names, size, replace = TRUE), bounds[k, 1L], bounds[k, 2L])
  })
  do.call(c, c(made, made[1L]))
}

# Counts of each episode (rows) in each of n surrogates (columns).
oracle_null <- function(x, episodes, n, ...) {
  made <- own_surrogates(x, n, ...)
  matrix(vapply(made, \(y) count_episodes(y, episodes, threads = 1)$count,
                integer(nrow(episodes))), nrow(episodes), n)
}

null_counts <- function(x, episodes, n, ..., threads = 1, place = NULL, first = 0) {
  made <- surrogate_options(x, ...)
  counts <- .Call(r_episode_null, trains_of(x), made, episode_codes(episodes, x),
                  list(first = first, n = n, threads = threads, max_memory = 1e9, gpus = place))
  finish_status(counts, "counting in surrogates")
}

oracle_score <- function(count, counts) {
  all <- cbind(counts, count)
  centre <- rowMeans(all)
  scale <- pmax(apply(all, 1L, sd), 1)
  (all - centre) / scale
}

# Adjusted by the largest score of a size.
oracle_max_p <- function(count, counts, size, plus_one = TRUE) {
  score <- oracle_score(count, counts)
  n <- ncol(counts)
  vapply(seq_along(count), \(i) {
    most <- apply(score[size == size[[i]], seq_len(n), drop = FALSE], 2L, max)
    k <- sum(most >= score[i, n + 1L] - 1e-12)
    if (plus_one) (k + 1) / (n + 1) else k / n
  }, 0)
}

# Seconds of the shortest trial, of the recording without any.
shortest_trial <- function(x) {
  trains <- trains_of(x)
  (min(trains$stop - trains$start)) * attr(x, "resolution")
}
