# Episodes of several kinds for a random stream: repeated units, one unit, long ones.
chosen_episodes <- function(stream, seed) {
  withr::local_seed(seed)
  one <- function(size) {
    edges <- sample(length(stream$low), size - 1L, replace = TRUE)
    episode(sample(stream$names, size, replace = TRUE), stream$low[edges] / 1000,
            stream$high[edges] / 1000)
  }
  do.call(c, lapply(c(1, 2, 2, 3, 3, 4), one))
}

# Whether a row's times are spikes of the episode's units, in one trial, with lags inside
# the intervals.
is_occurrence <- function(stream, times, units, low, high) {
  at <- match(paste(ticks_of(times), units), paste(stream$tick, stream$unit))
  lag <- diff(ticks_of(times))
  !anyNA(at) && length(unique(stream$trial[at])) == 1L && !anyNA(stream$trial[at]) &&
    all(lag > ticks_of(low) & lag <= ticks_of(high))
}

test_that("the counted occurrences are right, apart, as many as the count, and latest", {
  skip_on_cran()
  rows <- 0
  for (seed in cases(50)) {
    stream <- random_stream(seed, units = 3, spikes = 50, span = 80)
    chosen <- chosen_episodes(stream, seed)
    count <- count_episodes(stream$x, chosen)$count
    for (k in seq_len(nrow(chosen))) {
      found <- episode_occurrences(stream$x, chosen[k, ])
      units <- chosen$units[[k]]
      low <- chosen$low[[k]]
      high <- chosen$high[[k]]
      expect_identical(nrow(found), count[[k]])
      expect_identical(found$occurrence, seq_len(nrow(found)))
      expect_true(all(vapply(found$times, is_occurrence, NA, stream = stream, units = units,
                             low = low, high = high)))
      expect_identical(found$start, vapply(found$times, `[[`, 0, 1L))
      expect_identical(found$end, vapply(found$times, \(t) t[[length(t)]], 0))
      expect_true(all(found$start[-1L] > found$end[-nrow(found)]))
      # Greedy by end, each starting as late as anything that ends there.
      all <- oracle_occurrences(stream, units, ticks_of(low), ticks_of(high))
      last <- -Inf
      want <- matrix(0, 0, 2)
      for (end in sort(unique(all[, length(units)]))) {
        start <- max(all[all[, length(units)] == end, 1L])
        if (start > last) {
          want <- rbind(want, c(start, end))
          last <- end
        }
      }
      expect_equal(ticks_of(found$start), as.double(want[, 1L]))
      expect_equal(ticks_of(found$end), as.double(want[, 2L]))
      rows <- rows + nrow(found)
    }
  }
  expect_gt(rows, 100)
})

test_that("all occurrences are those of the definition", {
  skip_on_cran()
  rows <- 0
  for (seed in 101:150) {
    stream <- random_stream(seed, units = 2, spikes = 30, span = 50)
    chosen <- chosen_episodes(stream, seed)
    for (k in seq_len(nrow(chosen))) {
      found <- episode_occurrences(stream$x, chosen[k, ], which = "all")
      got <- vapply(found$times, \(t) paste(ticks_of(t), collapse = " "), "")
      want <- oracle_occurrences(stream, chosen$units[[k]], ticks_of(chosen$low[[k]]),
                                 ticks_of(chosen$high[[k]]))
      want <- apply(want, 1L, paste, collapse = " ")
      expect_identical(anyDuplicated(got), 0L)
      expect_setequal(got, as.character(want))
      expect_false(is.unsorted(found$end))
      rows <- rows + nrow(found)
    }
  }
  expect_gt(rows, 1000)
})

test_that("several episodes come one after the other, numbered each from 1", {
  stream <- random_stream(7, units = 3, spikes = 50, span = 60, trials = FALSE)
  chosen <- chosen_episodes(stream, 2)
  together <- episode_occurrences(stream$x, chosen)
  expect_s3_class(together, c("episode_occurrences", "synfire_table", "data.frame"), exact = TRUE)
  apart <- lapply(seq_len(nrow(chosen)), \(k) {
    as.data.frame(episode_occurrences(stream$x, chosen[k, ]))
  })
  expect_identical(as.data.frame(together), do.call(rbind, apart))
  expect_true(all(is.na(together$trial)))
  expect_gt(nrow(together), 10)
})

test_that("each occurrence names its trial", {
  x <- spikes_outside(spike_trains(
    c(1, 2, 11, 12, 30, 31) / 1000, rep(c("A", "B"), 3), resolution = 1e-3,
    trials = data.frame(trial = c("left", "right"), start = c(0, 0.010), end = c(0.005, 0.020))
  ))
  pair <- episode(c("A", "B"), 0, 0.020)
  found <- episode_occurrences(x, pair)
  expect_identical(found$trial, c("left", "right"))
  expect_identical(found$start, c(0.001, 0.011))
  expect_identical(episode_occurrences(x, pair, which = "all")$trial, c("left", "right"))
})

test_that("one unit occurs at each of its spikes", {
  x <- spike_trains(c(1, 1, 2, 5) / 1000, c("A", "B", "A", "A"), resolution = 1e-3)
  for (which in c("nonoverlapped", "all")) {
    found <- episode_occurrences(x, episode("A"), which = which)
    expect_identical(found$start, c(0.001, 0.002, 0.005))
    expect_identical(found$end, found$start)
  }
})

test_that("more occurrences than allowed are an error, as many are not", {
  x <- spike_trains((1:20) / 1000, "A", resolution = 1e-3)
  pair <- episode(c("A", "A"), 0, 0.020)
  expect_identical(nrow(episode_occurrences(x, pair, "all", max_occurrences = 190)), 190L)
  expect_error(episode_occurrences(x, pair, "all", max_occurrences = 189),
               class = "synfire_error_too_large")
  # The limit is for all episodes together.
  expect_error(episode_occurrences(x, c(pair, episode("A")), "all", max_occurrences = 209),
               class = "synfire_error_too_large")
  expect_snapshot(episode_occurrences(x, pair, "all", max_occurrences = 189), error = TRUE)
  # In a burst the number grows with the power of the size, and is never listed in full.
  long <- episode(rep("A", 10), 0, 0.020)
  expect_error(episode_occurrences(x, long, "all", max_occurrences = 1e5),
               class = "synfire_error_too_large")
  expect_identical(nrow(episode_occurrences(x, long)), 2L)
})

test_that("bad arguments are named", {
  x <- spike_trains(c(1, 2) / 1000, c("A", "B"), resolution = 1e-3)
  expect_snapshot(error = TRUE, {
    episode_occurrences(x)
    episode_occurrences(x, "A -> B")
    episode_occurrences(x, episode(c("A", "Z"), 0, 0.005))
    episode_occurrences(x, episode(c("A", "B"), 0, 0.0005))
    episode_occurrences(x, episode("A"), which = "some")
    episode_occurrences(x, episode("A"), max_occurrences = 0)
    episode_lags(x, episode(c("A", "B"), 0, 0.005), bins = 2.5)
  })
})

test_that("lags are those of the counted occurrences, in half-open bins", {
  x <- spike_trains(c(0, 1, 10, 14, 20, 25, 40, 42) / 1000, rep(c("A", "B"), 4),
                    resolution = 1e-3)
  lags <- episode_lags(x, episode(c("A", "B"), 0, 0.005), bins = 5)
  expect_s3_class(lags, c("episode_lags", "synfire_table", "data.frame"), exact = TRUE)
  # Lags of 1, 4, 5 and 2 ms: each is the upper edge of its bin.
  expect_identical(lags$count, c(1L, 1L, 0L, 1L, 1L))
  expect_equal(lags$lag_high, (1:5) / 1000)
  expect_equal(lags$lag_low, (0:4) / 1000)
  expect_identical(unique(lags[c("edge", "from", "to")])$to, "B")

  for (seed in 1:10) {
    stream <- random_stream(seed, units = 2, spikes = 60, span = 60, intervals = 1)
    units <- stream$names[c(1, 2, 1)]
    chosen <- episode(units, stream$low / 1000, stream$high / 1000)
    found <- episode_occurrences(stream$x, chosen)
    bins <- stream$high - stream$low
    lags <- episode_lags(stream$x, chosen, bins = bins)
    times <- matrix(ticks_of(unlist(found$times)), nrow = 3)
    for (edge in 1:2) {
      lag <- times[edge + 1L, ] - times[edge, ]
      expect_identical(lags$count[lags$edge == edge], tabulate(lag - stream$low, bins))
    }
  }
})

test_that("an episode listed twice has its lags once", {
  x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"))
  one <- episode(c("A", "B"), low = 0, high = 0.005)
  once <- episode_lags(x, one, bins = 5)
  expect_identical(sum(once$count), 2L)
  expect_identical(episode_lags(x, c(one, one), bins = 5), once)
})
