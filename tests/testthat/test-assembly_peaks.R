# Peaks of pairs, of the recording and of surrogates, that find_assemblies() is made of.

set_of_units <- function(units, duration, rate, seed, ...) {
  set.seed(seed)
  n <- stats::rpois(units, rate * duration)
  spikes_outside(spike_trains(
    stats::runif(sum(n), 0, duration), rep(sprintf("u%02d", seq_len(units)), n), start = 0,
    end = duration, ...
  ))
}

expect_slow_peaks <- function(x, ..., fewest = 2) {
  fast <- peaks_of(x, ...)
  expect_identical(fast, slow_peaks_of(x, ...))
  expect_gt(nrow(fast$recording), fewest)
  for (one in fast$surrogates) expect_gt(nrow(one), fewest)
}

test_that("peaks are those of a slow count", {
  set.seed(3)
  x <- simulate_assemblies(duration = 20, units = 8, assemblies = "sequence", size = 3, count = 20,
                           rate = 8, nuisances = c("bursts", "dead_time"))
  expect_slow_peaks(x, max_lag = 0.02, n = 2, segment = 2, widest = 5, least = 1.5)
})

test_that("nothing is common to few pairs", {
  x <- set_of_units(4, 20, 10, seed = 5)
  expect_slow_peaks(x, max_lag = 0.03, n = 2, segment = 2.5, widest = 9, least = 1.5)
})

test_that("what is common to pairs is that of a slow fit", {
  # All units fire at 60 moments, each at half of them.
  x <- set_of_units(8, 20, 8, seed = 27)
  burst <- lapply(1:8, \(u) (1:60 / 3)[stats::runif(60) < 0.5] - stats::runif(1, 0, 0.004))
  x <- spike_trains(c(x$time, unlist(burst)),
                    c(as.character(x$unit), rep(sprintf("u%02d", 1:8), lengths(burst))), start = 0,
                    end = 20)
  expect_slow_peaks(x, max_lag = 0.02, n = 1, segment = 2, widest = 5, least = 1)
})

test_that("nothing is common to many independent pairs, at high rates and low ones", {
  for (rate in c(10, 1)) {
    x <- set_of_units(8, 30, rate, seed = 25)
    expect_slow_peaks(x, max_lag = 0.03, n = 1, segment = 5, widest = 9, least = 1)
  }
})

test_that("segments shorter than the histogram repeat it", {
  # 81 bins of a segment; 200 of a histogram.
  x <- set_of_units(3, 4, 20, seed = 7)
  expect_slow_peaks(x, max_lag = 0.04, n = 2, segment = 0.081, widest = 17, least = 1.5)
})

test_that("trials of different lengths keep their segments", {
  trials <- data.frame(start = c(0, 3, 7.0123), end = c(2.9, 7.0123, 10))
  x <- set_of_units(3, 10, 15, seed = 9, trials = trials)
  expect_slow_peaks(x, max_lag = 0.02, n = 2, segment = 0.7, widest = 9, least = 1.5)
})

test_that("times of a camera are binned by its frames", {
  set.seed(11)
  frame <- rep(seq(0, 59.95, by = 0.05), each = 3)
  keep <- stats::runif(length(frame)) < 0.2
  x <- spike_trains(frame[keep], rep(c("a", "b", "c"), 1200)[keep], start = 0, end = 60)
  expect_identical(synfire:::assembly_ladder(x, 0.5, NULL)$bin, 50000)
  expect_slow_peaks(x, max_lag = 0.5, n = 2, segment = 6, widest = 5, least = 1.5)
})

test_that("one long segment, or one with more spikes than a byte counts", {
  # So long that lags are counted in each surrogate, as most of a row would not be used.
  x <- set_of_units(3, 30, 20, seed = 13)
  expect_slow_peaks(x, max_lag = 0.02, n = 2, segment = 30, widest = 3, least = 1.5)
  # Many spikes in each of few bins, so that rows are cut and sums of them pass 65,535.
  set.seed(21)
  per_bin <- lapply(1:2, \(u) sample(c(0, 20, 300), 24, TRUE))
  bin <- unlist(lapply(per_bin, \(n) rep(seq_along(n) - 1, n)))
  y <- spike_trains(bin / 1000 + sequence(unlist(per_bin)) * 3e-6,
                    rep(c("a", "b"), vapply(per_bin, sum, 0)), start = 0, end = 0.024)
  expect_slow_peaks(y, max_lag = 0.003, n = 2, segment = 0.012, widest = 1, least = 0.5,
                    fewest = 0)
})

test_that("registers, threads, and how many surrogates at once change nothing", {
  x <- set_of_units(12, 60, 6, seed = 17)
  one <- peaks_of(x, max_lag = 0.5, n = 7, vector_bits = 0)
  for (bits in c(256, 512)) {
    expect_identical(peaks_of(x, max_lag = 0.5, n = 7, vector_bits = bits), one)
  }
  expect_identical(peaks_of(x, max_lag = 0.5, n = 7, threads = 2), one)
  expect_identical(peaks_of(x, max_lag = 0.5, n = 4, from = 3)$surrogates, one$surrogates[4:7])
  # Room for a few of them at a time.
  expect_identical(peaks_of(x, max_lag = 0.5, n = 7, max_memory = 2.5e6), one)
  expect_identical(class(peaks_of(x, max_lag = 0.5, n = 7, max_memory = 1e5)), "synfire_status")
})

test_that("peaks beyond the responses to events are those of a slow count", {
  # Irregular events of two kinds, with marks in the first and the last seconds.
  x <- set_of_units(8, 24, 12, seed = 13)
  set.seed(14)
  events <- data.frame(time = sort(runif(23, 4, 16)), condition = sample(c("a", "b"), 23, TRUE))
  expect_slow_peaks(x, max_lag = 0.02, n = 1, segment = 2, widest = 5, least = 1.5,
                    locked_to = events)
  few <- set_of_units(4, 24, 12, seed = 15)
  expect_slow_peaks(few, max_lag = 0.02, n = 1, segment = 2, widest = 9, least = 1.5,
                    locked_to = c(1, 3, 8, 10, 20))
  trials <- data.frame(start = c(0, 3, 7.0123, 11, 15), end = c(2.9, 7.0123, 10, 14, 19))
  short <- set_of_units(3, 20, 15, seed = 9, trials = trials)
  expect_slow_peaks(short, max_lag = 0.02, n = 1, segment = 0.7, widest = 9, least = 1.5,
                    locked_to = "trials")
})
