# The surrogates that patterns are compared with unless the user says: dithered spikes where
# they fill as many bins as the recording does, else trains or trials that are shifted.

# Bins that hold a spike of a unit, in each trial.
occupied <- function(x, bin) {
  trials <- attr(x, "trials")
  start <- if (is.null(trials)) attr(x, "start") else trials$start
  at <- findInterval(x$time, start)
  nrow(unique(data.frame(x$unit, at, floor((x$time - start[at]) / bin + 1e-6))))
}

# Frames of a film: all times are multiples of 30 ms.
film <- function(seconds = 40, units = 12, trials = NULL) {
  time <- lapply(seq_len(units), \(u) sort(sample(seq_len(seconds / 0.03) - 1, 6 * seconds)) * 0.03)
  spikes_outside(spike_trains(
    unlist(time), rep(sprintf("u%02d", seq_len(units)), lengths(time)),
    start = if (is.null(trials)) 0, end = if (is.null(trials)) seconds, trials = trials
  ))
}

chosen <- function(...) {
  said <- character()
  found <- withCallingHandlers(
    pvalue_spectrum(..., min_count = 2, n_surrogates = 1, threads = 1),
    synfire_message_surrogate = \(m) {
      said <<- cli::ansi_strip(conditionMessage(m))
      rlang::cnd_muffle(m)
    }
  )
  made <- attr(found, "surrogate")
  list(method = made$method, dither = made$parameters$dither, said = gsub("\\s+", " ", said))
}

test_that("the bins that dithered spikes fill are those of the mean surrogate", {
  withr::local_seed(1)
  trials <- data.frame(start = c(0, 10, 25), end = c(9, 24, 40))
  poisson <- spike_trains(sort(runif(4000, 0, 40)), sample(letters[1:4], 4000, TRUE), start = 0,
                          end = 40)
  for (x in list(poisson, film(), suppressWarnings(film(trials = trials)))) {
    for (bin in c(0.005, 0.03)) {
      bursts <- surrogate_trains(x, 60, "dither", dither = 0.05, threads = 1)
      # Spikes outside all trials are in no surrogate.
      inside <- x[!is.na(trial_of(x)), ]
      kept <- mean(vapply(bursts, occupied, 1L, bin)) / occupied(inside, bin)
      expect_equal(items_of_dithered(x, bin / attr(x, "resolution"), 0.05), kept, tolerance = 0.01)
    }
  }
  # One spike is one bin wherever it goes.
  one <- spike_trains(5, "a", start = 0, end = 10)
  expect_equal(items_of_dithered(one, 5000, 0.015), 1)
  expect_equal(items_of_dithered(one, 5000, 1), 1)
})

test_that("spikes are dithered where that leaves the bins as full", {
  withr::local_seed(2)
  x <- suppressMessages(simulate_patterns(duration = 30, units = 10, rate = 4))
  expect_identical(chosen(x, 0.005, 8), list(method = "dither", dither = 0.015, said = character()))
  expect_identical(chosen(x, 0.02, 8)$dither, 0.06)
  # No trial is shorter than that.
  brief <- data.frame(start = 0:29, end = 0:29 + 0.05)
  short <- spikes_outside(spike_trains(x$time, x$unit, trials = brief))
  expect_equal(chosen(short, 0.02, 2)$dither, 0.05)
})

test_that("trains or trials are shifted where dithered spikes would fill fewer bins", {
  withr::local_seed(3)
  x <- film()
  got <- chosen(x, 0.03, 5)
  expect_identical(got$method, "train_shift")
  expect_equal(got$dither, 0.15)
  expect_match(got$said, "up to 0.15 s: .* fill [0-9.]+ % fewer bins")
  trials <- data.frame(start = seq(0, 36, by = 4), end = seq(0, 36, by = 4) + 4)
  got <- chosen(film(trials = trials), 0.03, 5)
  expect_identical(got$method, "trial_shift")
  expect_equal(got$dither, 0.09)
  # A method that is given is kept, and so is how far.
  expect_identical(chosen(x, 0.03, 5, surrogate = "dither"),
                   list(method = "dither", dither = 0.09, said = character()))
  expect_identical(chosen(x, 0.03, 5, dither = 0.2)$dither, 0.2)
  # Shifts keep what one unit does.
  expect_identical(chosen(x, 0.03, 5, min_units = 1)$method, "dither")
})

test_that("units that fire like clocks are shifted", {
  withr::local_seed(4)
  time <- lapply(1:4, \(u) 0.1 * u + cumsum(rnorm(200, 0.16, 0.004)))
  x <- spike_trains(unlist(time), rep(letters[1:4], each = 200))
  got <- chosen(x, 0.005, 10)
  expect_identical(got[1:2], list(method = "train_shift", dither = 0.05))
  expect_match(got$said, "units a, b, c, d fire like a clock")
})

test_that("independent units on frames have no significant pattern", {
  withr::local_seed(5)
  significant <- replicate(8, {
    x <- film(seconds = 20, units = 8)
    suppressMessages(length(spade(x, 0.03, 3, min_count = 8, n_surrogates = 99, threads = 1)))
  })
  # At a rate of 0.05 three of eight have a probability of 0.006.
  expect_lt(sum(significant > 0), 3)
})

test_that("arguments of a method need that method", {
  withr::local_seed(6)
  x <- film(seconds = 5, units = 3)
  expect_error(spade(x, 0.03, 3, refractory = 0.002), class = "synfire_error_argument",
               "`surrogate` must be given where `refractory` is")
  expect_error(pvalue_spectrum(x, 0.03, 3, nonsense = 1), class = "synfire_error_argument")
})
