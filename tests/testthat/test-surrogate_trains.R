# Some trials of different lengths, some of which touch, with spikes outside; a silent unit.
trial_recording <- function(seed = 1, n = 400, resolution = 1e-3) {
  set.seed(seed)
  trials <- data.frame(start = c(0.5, 2, 4, 7.3), end = c(1.9, 4, 7.111, 9))
  spikes_outside(spike_trains(
    round(runif(n, 0, 10), 3), factor(sample(letters[1:5], n, TRUE), letters[1:6]), start = 0,
    end = 10, resolution = resolution, trials = trials
  ))
}

quick_recording <- function(rate = 20, ...) {
  plain_recording(seed = 2, units = 4, rate = rate, ...)
}

method_names <- eval(formals(surrogate_trains)$method)

# With what shuffling needs.
surrogates_of <- function(x, method, n = 1, ...) {
  own_surrogates(x, n, method, bin_size = 0.005, ...)
}

tick_table <- function(s) {
  data.frame(tick = synfire:::train_ticks(s), unit = as.integer(s$unit))
}

# Surrogate `k`, from 0, under the key the seed draws, with the options that go with it.
drawn <- function(x, method, k, ..., vector_bits = 0, seed = 11) {
  set.seed(seed)
  options <- synfire:::surrogate_options(x, method, ...)
  options$numbers$vector_bits <- vector_bits
  made <- .Call(synfire:::r_surrogate_trains, synfire:::trains_of(x), options,
                list(n = k + 1, threads = 1L, max_memory = Inf))
  list(key = options$key, ticks = as.data.frame(made[[k + 1]]), options = options)
}

expect_ticks <- function(got, expected) {
  expect_identical(got$tick, expected$tick)
  expect_identical(got$unit, as.integer(expected$unit))
}

# ---- What is drawn -------------------------------------------------------------------

test_that("dithering is its definition, mirrored at the ends of trials", {
  for (x in list(trial_recording(), quick_recording())) {
    res <- attr(x, "resolution")
    for (d in c(res, 0.3)) for (bits in c(1, 256, 0)) {
      s <- drawn(x, "dither", 2, dither = d, vector_bits = bits)
      expected <- oracle_surrogate(x, \(u, at, tick, start, stop, t) {
        words <- oracle_words(s$key, 2, u, max(at))[at]
        oracle_dither(tick, round(d / res), start, stop, words)
      })
      expect_ticks(s$ticks, expected)
    }
  }
})

test_that("shifts are one amount for a unit, or for each of its trials", {
  x <- trial_recording()
  for (method in c("train_shift", "trial_shift")) {
    s <- drawn(x, method, 1, dither = 0.7)
    expected <- oracle_surrogate(x, \(u, at, tick, start, stop, t) {
      words <- oracle_words(s$key, 1, u, 4)
      oracle_shift(tick, 700, start, stop, words[[if (method == "trial_shift") t + 1 else 1]])
    })
    expect_ticks(s$ticks, expected)
  }
})

test_that("dithering with a refractory period goes spike by spike in random order", {
  for (x in list(trial_recording(), quick_recording())) {
    res <- attr(x, "resolution")
    for (refractory in c(0, 0.004, 10)) {
      s <- drawn(x, "dither_refractory", 0, dither = 0.02, refractory = refractory)
      trains <- synfire:::trains_of(x)
      draws <- lapply(seq_len(trains$units) - 1, \(u) oracle_drawer(s$key, 0, u))
      apart <- vapply(seq_len(trains$units), \(u) {
        min(refractory / res, unlist(tapply(
          trains$tick[trains$unit == u],
          (trains$trial %||% rep(1L, nrow(x)))[trains$unit == u], diff
        )))
      }, 0)
      expected <- oracle_surrogate(x, \(u, at, tick, start, stop, t) {
        oracle_refractory(tick, round(0.02 / res), start, stop, round(apart[[u + 1]]),
                          draws[[u + 1]])
      })
      expect_ticks(s$ticks, expected)
    }
  }
})

test_that("intervals, bins and windows are permuted as they should", {
  x <- trial_recording()
  s <- drawn(x, "isi_shuffle", 1)
  draws <- lapply(0:5, \(u) oracle_drawer(s$key, 1, u))
  expect_ticks(s$ticks, oracle_surrogate(x, \(u, at, tick, start, stop, t) {
    oracle_isi_shuffle(tick, start, draws[[u + 1]])
  }))
  cases <- list(list("bin_shuffle", 0.05, NULL), list("window_shuffle", 0.05, 0.2),
                list("window_shuffle", 0.01, 0.3))
  for (case in cases) {
    s <- drawn(x, case[[1L]], 1, bin_size = case[[2L]], window = case[[3L]])
    draws <- lapply(0:5, \(u) oracle_drawer(s$key, 1, u))
    window <- if (is.null(case[[3L]])) Inf else case[[3L]] / case[[2L]]
    expect_ticks(s$ticks, oracle_surrogate(x, \(u, at, tick, start, stop, t) {
      oracle_window_shuffle(tick, case[[2L]] * 1000, min(window, 1e6), start, stop,
                            draws[[u + 1]])
    }))
  }
})

test_that("spikes are jittered within their windows", {
  for (x in list(trial_recording(), quick_recording())) {
    res <- attr(x, "resolution")
    for (window in c(2 * res, 0.3, 50)) {
      s <- drawn(x, "jitter", 2, window = window)
      expected <- oracle_surrogate(x, \(u, at, tick, start, stop, t) {
        words <- matrix(oracle_words(s$key, 2, u, 2 * max(at)), 2)[, at]
        oracle_jitter(tick, round(window / res), start, stop, as.vector(words))
      })
      # A window of a whole recording has more ticks than the oracle's doubles are good for.
      if (window < 1) expect_ticks(s$ticks, expected)
      else expect_lte(max(abs(s$ticks$tick - expected$tick)), 1)
    }
  }
})

test_that("windows that slide permute their bins one after the other", {
  x <- trial_recording()
  for (case in list(c(0.05, 0.2), c(0.01, 0.03), c(0.02, 4))) {
    s <- drawn(x, "sliding_shuffle", 1, bin_size = case[[1L]], window = case[[2L]])
    draws <- lapply(0:5, \(u) oracle_drawer(s$key, 1, u))
    expect_ticks(s$ticks, oracle_surrogate(x, \(u, at, tick, start, stop, t) {
      oracle_slide(tick, case[[1L]] * 1000, round(case[[2L]] / case[[1L]]), start, stop,
                   draws[[u + 1]])
    }))
  }
})

# What the definition says, without the shortcut: whole windows permuted, one bin apart.
slid_bins <- function(bins, window) {
  for (first in seq_len(length(bins) - window + 1)) {
    inside <- first + seq_len(window) - 1
    bins[inside] <- bins[sample(inside)]
  }
  bins
}

test_that("what is drawn for a window that slides is as if whole windows were permuted", {
  skip_on_cran()
  x <- spike_trains(c(0.5, 3.5, 4.25), "A", start = 0, end = 7.999, resolution = 1e-3)
  set.seed(4)
  made <- surrogate_trains(x, 8000, "sliding_shuffle", bin_size = 1, window = 3, threads = 2)
  got <- vapply(made, \(s) {
    tick <- synfire:::train_ticks(s)
    sum((tick %/% 1000)[match(c(500, 250), tick %% 1000)] * c(10, 1)) +
      100 * max((tick %/% 1000)[tick %% 1000 == 500])
  }, 0)
  slow <- replicate(8000, {
    place <- match(c(1, 2, 3), slid_bins(c(1, 0, 0, 2, 3, 0, 0, 0), 3)) - 1
    10 * min(place[1:2]) + place[[3L]] + 100 * max(place[1:2])
  })
  both <- table(c(got, slow), rep(1:2, each = 8000))
  common <- both[rowSums(both) >= 10, ]
  expect_gt(nrow(common), 50)
  expect_gt(suppressWarnings(chisq.test(common))$p.value, 1e-5)
})

test_that("surrogates have the moments that Elephant's have", {
  peer <- elephant_surrogates(4000)
  x <- spike_trains(peer$times, "A", start = 0, end = 0.2, resolution = 1e-6)
  set.seed(5)
  moments <- function(times) c(mean(times), stats::sd(times), stats::quantile(times, 1:3 / 4))
  ours <- \(...) unlist(lapply(surrogate_trains(x, 4000, ..., threads = 2), \(s) s$time))
  expect_equal(moments(ours("jitter", window = 0.03)), moments(peer$jitter), tolerance = 0.01)
  # Elephant does not slide up to the last bin, so that it is left out on both sides.
  shuffled <- ours("sliding_shuffle", bin_size = 0.005, window = 0.03)
  place <- \(times) tabulate(pmin(floor(times / 0.005 + 1e-6), 39) + 1, 39)[1:33] / 4000
  expect_lt(max(abs(place(shuffled) - place(peer$sliding))), 0.05)
  expect_equal(mean(place(shuffled)), mean(place(peer$sliding)), tolerance = 0.02)
})

test_that("joint-ISI dithering draws from the smoothed pairs of intervals", {
  skip_on_cran()
  x <- trial_recording(n = 1500)
  trains <- synfire:::trains_of(x)
  # The last Gaussian reaches further than the histogram, more than once around it.
  for (method in c("joint_isi", "isi_dither")) for (sigma in c(0, 0.008, 0.12)) {
    s <- drawn(x, method, 1, dither = 0.03, refractory = 0.003, truncation_limit = 0.2,
               n_bins = 50, sigma = sigma)
    expected <- do.call(rbind, lapply(1:5, \(u) {
      mine <- which(trains$unit == u & !is.na(trains$trial))
      tick <- trains$tick[mine]
      trial <- trains$trial[mine]
      intervals <- tapply(tick, trial, diff, simplify = FALSE)
      apart <- min(3, unlist(intervals))
      joint <- oracle_joint(intervals, 50, 4, sigma / 0.004, apart %/% 4,
                            method == "isi_dither")
      words <- oracle_words(s$key, 1, u - 1, length(tick))
      data.frame(tick = oracle_joint_unit(tick, trial, trains$start, trains$stop, words, 30,
                                          apart, 4, joint), unit = u)
    }))
    expected <- expected[order(expected$tick, expected$unit), ]
    # Sums of doubles in another order may round a weight to the next number.
    if (sigma == 0) expect_ticks(s$ticks, expected)
    else expect_gt(mean(s$ticks$tick == expected$tick), 0.995)
  }
})

# ---- What is decided by what ---------------------------------------------------------

test_that("set.seed() decides surrogates; their number and threads nothing", {
  x <- trial_recording()
  for (method in method_names) {
    draw <- \(n, threads) {
      set.seed(5)
      own_surrogates(x, n, method, bin_size = 0.01, threads = threads)
    }
    few <- draw(2, 1)
    expect_identical(draw(5, 3)[1:2], few)
    expect_identical(draw(2, 3), few)
    expect_identical(draw(1, 7), few[1L])
    expect_false(identical(few[[1L]], few[[2L]]))
    expect_false(identical(surrogates_of(x, method, 2), few))
  }
})

test_that("surrogates are recordings with the same clock, trials, units and counts", {
  for (x in list(trial_recording(), quick_recording(), trial_recording(n = 3))) {
    trial <- synfire:::trial_of(x)
    inside <- table(x$unit, factor(trial, seq_len(NROW(attr(x, "trials")) + 1L)))
    for (method in setdiff(method_names, if (is.null(attr(x, "trials"))) "trial_shift")) {
      for (s in surrogates_of(x, method, 2, dither = 0.5)) {
        expect_s3_class(s, "spike_trains")
        same <- c("start", "end", "resolution", "trials")
        expect_identical(attributes(s)[same], attributes(x)[same])
        expect_identical(levels(s$unit), levels(x$unit))
        now <- factor(synfire:::trial_of(s), colnames(inside))
        expect_identical(unname(c(table(s$unit, now))), unname(c(inside)))
        ticks <- tick_table(s)
        expect_identical(order(ticks$tick, ticks$unit), seq_along(ticks$tick))
        expect_silent(synfire:::check_spike_trains(s))
      }
    }
  }
})

test_that("a surrogate can be mined and drawn from again", {
  x <- quick_recording()
  s <- surrogates_of(x, "dither")[[1L]]
  expect_s3_class(mine_patterns(s, 0.005, 5, threads = 1), "patterns")
  expect_identical(nrow(surrogates_of(s, "randomise")[[1L]]), nrow(x))
})

# ---- What each method keeps ----------------------------------------------------------

# Intervals within trials, by unit.
intervals_of <- function(s) {
  ticks <- tick_table(s)
  unlist(tapply(ticks$tick, list(ticks$unit, synfire:::trial_of(s)), diff))
}

shortest_of <- function(s) min(intervals_of(s))

# A unit that keeps 5 ms between spikes and whose rate doubles for the second half of
# every second.
regular_recording <- function(duration = 40) {
  set.seed(3)
  at <- cumsum(0.005 + rexp(duration * 100, 40))
  at <- at[at < duration]
  keep <- at %% 1 > 0.5 | runif(length(at)) < 0.4
  spike_trains(round(at[keep], 6), "A", start = 0, end = duration)
}

test_that("what says it keeps the shortest interval does", {
  x <- regular_recording()
  keeps <- c("dither_refractory", "joint_isi", "isi_dither", "train_shift", "isi_shuffle")
  for (method in method_names[method_names != "trial_shift"]) {
    shortest <- vapply(surrogates_of(x, method, 5, refractory = 0.005), shortest_of, 0)
    if (method == "train_shift") {
      # But for the last spike, which may come in before the first.
      close <- vapply(surrogates_of(x, method, 5), \(s) sum(intervals_of(s) < 5000), 0)
      expect_true(all(close <= 1))
    } else if (method %in% keeps) {
      expect_gte(min(shortest), 5000)
    } else {
      expect_lt(min(shortest), 5000)
    }
  }
  # A longer period than the unit keeps counts for nothing.
  expect_gte(shortest_of(surrogates_of(x, "dither_refractory", refractory = 1)[[1L]]),
             shortest_of(x))
  expect_gte(shortest_of(surrogates_of(x, "joint_isi", refractory = 0.002)[[1L]]), 2000)
})

test_that("intervals are kept exactly, about, or not", {
  x <- regular_recording()
  data <- intervals_of(x)
  apart <- function(method, ...) {
    s <- surrogates_of(x, method, 1, ...)[[1L]]
    suppressWarnings(unname(stats::ks.test(intervals_of(s), data)$statistic))
  }
  set.seed(4)
  # The interval from the tick before the trial takes part, and so one may have gone.
  shuffled <- intervals_of(surrogates_of(x, "isi_shuffle")[[1L]])
  expect_lte(length(setdiff(shuffled, data)), 1L)
  expect_false(identical(unname(shuffled), unname(data)))
  shifted <- intervals_of(surrogates_of(x, "train_shift", dither = 10)[[1L]])
  expect_lte(length(setdiff(shifted, data)), 1L)
  expect_lt(apart("joint_isi"), 0.06)
  expect_lt(apart("isi_dither"), 0.06)
  expect_gt(apart("dither"), 0.08)
  expect_gt(apart("randomise"), 0.1)
})

test_that("pairs of intervals are kept by joint-ISI, not by ISI dithering", {
  # An interval is much like the one before.
  set.seed(5)
  slow <- stats::filter(rnorm(3000), rep(1 / 10, 10), circular = TRUE)
  interval <- 0.030 + 0.04 * pmax(-0.5, pmin(0.5, slow)) + runif(3000, 0, 0.002)
  x <- spike_trains(round(cumsum(interval), 6), "A")
  alike <- \(s) { i <- diff(s$time); cor(i[-1L], i[-length(i)]) }
  set.seed(6)
  joint <- surrogates_of(x, "joint_isi")[[1L]]
  expect_gt(mean(joint$time != x$time), 0.5)
  expect_lt(alike(surrogates_of(x, "isi_dither")[[1L]]), alike(joint) - 0.2)
})

test_that("rates over time are kept or flattened", {
  x <- regular_recording(100)
  profile <- \(s) tabulate(floor(s$time %% 1 * 10) + 1, 10)
  flat <- c("isi_shuffle", "randomise", "bin_shuffle")
  for (method in method_names[method_names != "trial_shift"]) {
    set.seed(7)
    s <- surrogates_of(x, method, 1)[[1L]]
    agrees <- cor(profile(s), profile(x))
    if (method %in% flat) expect_lt(abs(agrees), 0.8) else expect_gt(agrees, 0.95)
  }
})

test_that("shuffling keeps how many bins hold how many spikes", {
  x <- quick_recording(rate = 100, duration = 10)
  held <- \(s) tabulate(table(s$unit, floor(synfire:::train_ticks(s) / 5000)))
  expect_identical(held(surrogates_of(x, "bin_shuffle")[[1L]]), held(x))
  window <- surrogates_of(x, "window_shuffle", window = 0.05)[[1L]]
  expect_identical(held(window), held(x))
  in_windows <- \(s) table(s$unit, floor(synfire:::train_ticks(s) / 50000))
  expect_identical(in_windows(window), in_windows(x))
  # Places in a bin stay.
  expect_identical(sort(synfire:::train_ticks(window) %% 5000),
                   sort(synfire:::train_ticks(x) %% 5000))
  # Every place of a window is as likely, and two bins never meet.
  one <- spike_trains(c(0.001, 0.0075), "A", start = 0, end = 0.019999)
  set.seed(1)
  many <- surrogate_trains(one, 6000, "bin_shuffle", bin_size = 0.005, threads = 1)
  place <- vapply(many, \(s) {
    tick <- synfire:::train_ticks(s)
    sum((tick %/% 5000) * c(4, 1)[order(tick %% 5000)])
  }, 0)
  expect_identical(sort(unique(place)), c(1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14))
  expect_gt(suppressWarnings(chisq.test(table(place)))$p.value, 1e-5)
})

test_that("uniform means uniform", {
  skip_on_cran()
  x <- spike_trains(c(0, 5, 10), c("A", "B", "C"), start = 0, end = 10, resolution = 1)
  places <- function(method, unit, ...) {
    set.seed(9)
    s <- surrogate_trains(x, 6000, method, ..., threads = 2)
    factor(vapply(s, \(s) s$time[s$unit == unit], 0), 0:10)
  }
  p <- \(counts, expected) suppressWarnings(chisq.test(counts, p = expected))$p.value
  expect_gt(p(table(places("randomise", "B")), rep(1 / 11, 11)), 1e-5)
  moved <- table(places("dither", "B", dither = 3))
  expect_identical(sum(moved[3:9]), 6000L)
  expect_gt(p(moved[3:9], rep(1 / 7, 7)), 1e-5)
  # Mirrored: 1, 2 and 3 come twice, 0 once.
  expect_gt(p(table(places("dither", "A", dither = 3))[1:4], c(1, 2, 2, 2) / 7), 1e-5)
  expect_gt(p(table(places("dither", "C", dither = 3))[8:11], c(2, 2, 2, 1) / 7), 1e-5)
  # Around the end, in at the other.
  expect_gt(p(table(places("train_shift", "A", dither = 3))[c(1:4, 9:11)], rep(1 / 7, 7)), 1e-5)
  expect_gt(p(table(places("dither_refractory", "A", dither = 3))[1:4], rep(1 / 4, 4)), 1e-5)
  # An end of the trial within reach is where the places end: nothing is mirrored.
  near <- spike_trains(c(2, 93), c("A", "B"), start = 0, end = 94, resolution = 1)
  set.seed(9)
  s <- surrogate_trains(near, 6000, "dither_refractory", dither = 5, threads = 2)
  for (unit in c("A", "B")) {
    moved <- vapply(s, \(s) s$time[s$unit == unit], 0) - near$time[near$unit == unit]
    range <- if (unit == "A") -2:5 else -5:1
    expect_identical(sort(unique(moved)), as.double(range))
    expect_gt(p(table(moved), rep(1 / length(range), length(range))), 1e-5)
  }
})

test_that("recordings of more than 2^32 ticks are no exception", {
  x <- spike_trains(c(1, 5000), "A", start = 0, end = 1e4)
  set.seed(2)
  time <- unlist(lapply(surrogate_trains(x, 2000, "randomise", threads = 1), \(s) s$time))
  expect_gt(stats::ks.test(time / 1e4, "punif")$p.value, 1e-5)
  far <- vapply(surrogate_trains(x, 100, "train_shift", dither = 2000, threads = 1),
                \(s) diff(s$time), 0)
  expect_true(all(abs(far - 4999) < 1e-6 | abs(far - 5001) < 1e-5))
})

# ---- What stops it -------------------------------------------------------------------

test_that("Ctrl-C stops the making of surrogates", {
  skip_on_cran()
  expect_interrupted(quote({
    x <- synfire::simulate_patterns(100, 30, 10, patterns = list())
    begin()
    synfire::surrogate_trains(x, 8000, "dither_refractory", threads = 1)
  }))
})

test_that("Ctrl-C stops the smoothing of intervals", {
  skip_on_cran()
  # Gaussians as wide as the histogram, for a hundred units.
  expect_interrupted(quote({
    x <- synfire::simulate_patterns(5, 100, 8)
    begin()
    synfire::surrogate_trains(x, 1, "joint_isi", truncation_limit = 1, n_bins = 1000,
                              sigma = 0.5, threads = 1)
  }))
})

test_that("tables of intervals and what makes them keep to max_memory", {
  set.seed(1)
  y <- simulate_patterns(2, 10, 8)
  tables <- \(max_memory, threads) {
    set.seed(2)
    surrogate_trains(y, 2, "joint_isi", n_bins = 1000, sigma = 0.002, threads = threads,
                     max_memory = max_memory)
  }
  # Ten tables of 2 MB, and 8 MB to make one of them.
  expect_error(tables(2e7, 1), class = "synfire_error_budget")
  expect_identical(tables(3e7, 16), tables(1e9, 1))
  expect_error(pvalue_spectrum(y, 0.005, 5, min_count = 9, surrogate = "joint_isi", sigma = 0,
                               n_bins = 1000, n_surrogates = 2, max_memory = 1e7),
               class = "synfire_error_budget")
})

test_that("surrogates that would not fit max_memory are refused", {
  x <- quick_recording()
  expect_error(surrogate_trains(x, 1e4, max_memory = 1e6), "`max_memory` is 1 MB",
               class = "synfire_error_budget")
  expect_error(surrogate_trains(x, 1, "joint_isi", n_bins = 1000, max_memory = 1e6),
               "max_memory", class = "synfire_error_budget")
})

# ---- What is wrong -------------------------------------------------------------------

test_that("wrong arguments are explained", {
  wrong <- function(expr, message) {
    expect_error(expr, message, class = "synfire_error_argument", fixed = TRUE)
  }
  x <- quick_recording()
  t <- trial_recording()
  wrong(surrogate_trains(), "`x` must be a recording")
  wrong(surrogate_trains(x, 0), "`n_surrogates` must be a whole number")
  wrong(surrogate_trains(x, surrogate = "wiggle"), "`surrogate` must be")
  wrong(surrogate_trains(x, dither = 0), "`dither` must be at least a tick of 1e-06 s")
  wrong(surrogate_trains(x, dither = -1), "`dither` must be at least a tick")
  wrong(surrogate_trains(x, dither = 21),
        "`dither` must be at most the length of the recording, 20 s")
  wrong(surrogate_trains(t, dither = 1.5),
        "`dither` must be at most the length of the shortest trial, 1.4 s")
  wrong(surrogate_trains(spike_trains(1:9, 1, end = 1e4), dither = 4000), "2^31 - 1 ticks")
  wrong(surrogate_trains(x, surrogate = "joint_isi", refractory = -1), "`refractory` must be")
  wrong(surrogate_trains(x, surrogate = "joint_isi", n_bins = 1001), "`n_bins` must be")
  wrong(surrogate_trains(x, surrogate = "joint_isi", truncation_limit = 0),
        "`truncation_limit` must be")
  wrong(surrogate_trains(x, surrogate = "joint_isi", truncation_limit = 2), "`n_bins` must be")
  wrong(surrogate_trains(x, surrogate = "isi_dither", truncation_limit = 1e12), "bins of 1")
  wrong(surrogate_trains(x, surrogate = "isi_dither", sigma = -1), "`sigma` must be")
  wrong(surrogate_trains(x, surrogate = "bin_shuffle"), "`bin_size` must be the length of a bin")
  wrong(surrogate_trains(x, surrogate = "bin_shuffle", bin_size = 11), "two bins or more")
  wrong(surrogate_trains(t, surrogate = "bin_shuffle", bin_size = 0.0015),
        "`bin_size` must be a whole number of ticks")
  wrong(surrogate_trains(t, surrogate = "window_shuffle", bin_size = 0.02),
        "`bin_size` must be at most `dither`")
  wrong(surrogate_trains(t, surrogate = "window_shuffle", bin_size = 0.02, window = 0.05),
        "`window` must be a whole number of bins of 0.02 s, at least two")
  wrong(surrogate_trains(t, surrogate = "window_shuffle", bin_size = 0.02, window = 0.02),
        "at least two")
  wrong(surrogate_trains(x, surrogate = "jitter", window = 1e-6), "at least two ticks")
  wrong(surrogate_trains(t, surrogate = "jitter", window = 0.0015), "a whole number of ticks")
  wrong(surrogate_trains(t, surrogate = "sliding_shuffle"), "`bin_size` must be the length of a bin")
  wrong(surrogate_trains(spike_trains(c(1, 140), "A", 0, 150), surrogate = "sliding_shuffle",
                         bin_size = 1e-6), "at most 134,217,728 bins")
  wrong(surrogate_trains(x, surrogate = "trial_shift"), "`x` must be a recording with trials")
  wrong(surrogate_trains(spike_trains(numeric(), character(), 0, 1)),
        "`x` must be a recording with spikes")
  outside <- spikes_outside(spike_trains(5, "A", 0, 10, trials = data.frame(start = 0, end = 1)))
  wrong(surrogate_trains(outside), "`x` must be a recording with spikes in its trials")
})

test_that("an argument that the method has no use for is an error", {
  x <- quick_recording()
  wrong <- function(expr, message) {
    expect_error(expr, message, class = "synfire_error_argument", fixed = TRUE)
  }
  values <- list(dither = 0.02, refractory = 0.003, bin_size = 0.005, window = 0.05,
                 truncation_limit = 0.1, n_bins = 100, sigma = 0.002)
  for (method in method_names) for (arg in names(values)) {
    call <- \() do.call(surrogate_trains, c(list(x, 1, method), values[arg], threads = 1))
    if (!arg %in% synfire:::method_arguments[[method]]) {
      wrong(call(), sprintf("`%s` must be left out with `method = \"%s\"`", arg, method))
    }
  }
  wrong(surrogate_trains(x, surrogate = "window_shuffle", bin_size = 0.005, window = 0.05,
                         dither = 0.02), "`dither` must be left out where `window` is given")
  # What is left at NULL is not given.
  expect_length(surrogate_trains(x, 1, "dither", bin_size = NULL, window = NULL), 1)
  found <- mine_episodes(x, 20, c(0, 0.01), max_size = 2, threads = 1)
  wrong(episode_significance(found, n_surrogates = 2, surrogate = "dither", refractory = 0.002,
                             threads = 1),
        "`refractory` must be left out with `surrogate = \"dither\"`")
  wrong(episode_significance(found, n_surrogates = 2, surrogate = "randomise", dither = 0.01),
        "`dither` must be left out")
  wrong(pvalue_spectrum(x, 0.005, 4, n_surrogates = 2, surrogate = "dither", sigma = 0.001),
        "`sigma` must be left out with `surrogate = \"dither\"`")
  wrong(pvalue_spectrum(x, 0.005, 4, n_surrogates = 2, surrogate = "joint_isi", sigma = 0.001,
                        sigma = 0.002), "`sigma` twice")
})

test_that("Elephant's names are answered with ours", {
  x <- quick_recording()
  for (name in names(synfire:::elephant_methods)) {
    expect_error(surrogate_trains(x, 1, name),
                 sprintf("`surrogate` must be \"%s\"", synfire:::elephant_methods[[name]]),
                 class = "synfire_error_argument")
  }
  expect_error(surrogate_trains(x, 1, "bin_shuffling"), "sliding_shuffle")
})

test_that("a refractory period beyond all intervals is the shortest of each unit", {
  x <- quick_recording()
  of <- \(refractory) withr::with_seed(1, {
    surrogate_trains(x, 2, "dither_refractory", refractory = refractory, threads = 1)
  })
  expect_identical(of(1e12), of(10))
})

test_that("a default window is what Elephant takes", {
  options <- synfire:::surrogate_options(trial_recording(), "window_shuffle", bin_size = 0.004)
  expect_identical(options$parameters, list(bin_size = 0.004, window = 0.024))
  expect_identical(synfire:::surrogate_options(trial_recording())$parameters, list(dither = 0.015))
})

test_that("a clock on which the defaults are no whole ticks is no error", {
  x <- spike_trains((1:500) / 100, "A", resolution = 1 / 24414)
  for (method in c("dither_refractory", "joint_isi")) {
    s <- surrogate_trains(x, 1, method, threads = 1)[[1L]]
    expect_lte(max(abs(s$time - x$time)), 0.015)
    expect_gte(min(diff(s$time)), 0.004)
  }
})

test_that("the core is not given what would lead it astray", {
  x <- spike_trains(1:20 / 10, rep(c("A", "B"), 10), start = 0, end = 3, resolution = 1e-3)
  trains <- synfire:::trains_of(x)
  made <- function(at, value, method = "dither") {
    options <- synfire:::surrogate_options(x, method, bin_size = 0.01)
    options$numbers[[at]] <- value
    .Call(synfire:::r_surrogate_trains, trains, options,
          list(n = 1, threads = 1L, max_memory = Inf))
  }
  expect_error(made("dither", 3001), "wrong with its dither")
  expect_length(made("dither", 3000), 1)
  expect_error(made("method", 12), "option `method` that is wrong", class = "synfire_mistake")
  expect_error(made("bin", 0, "bin_shuffle"), "option `bin` that is wrong")
  trains$stop <- 2^40
  expect_error(made("bin", 1, "bin_shuffle"), "wrong with its bin")
  trains$stop <- 2^28
  expect_error(made("bin", 1, "sliding_shuffle"), "wrong with its bin")
})

test_that("spikes may move by the length of a long recording, and by no tick more", {
  x <- spike_trains(c(3, 700), "A", start = 0, end = 1087.5289)
  expect_length(surrogate_trains(x, 1, dither = 1087.5289), 1L)
  expect_error(surrogate_trains(x, 1, dither = 1087.528901), "at most the length of the recording")
})
