# random_raster(), where it has spikes enough to move.
surrogate_raster <- function(seed, ...) {
  raster <- random_raster(seed, ...)
  moves <- tryCatch(is.list(surrogate_options(raster$x, dither = 0.002)),
                    synfire_error_argument = \(e) FALSE)
  if (moves) raster
}

compare_rasters <- function(seeds, by_duration, ...) {
  compared <- 0
  some <- 0
  for (seed in seeds) {
    raster <- surrogate_raster(seed, ...)
    if (is.null(raster)) next
    method <- c("dither", "bin_shuffle")[[seed %% 2 + 1]]
    both <- maxima_both(raster$x, raster$bin, raster$window, raster$filters, 2, by_duration,
                        seed = seed, method = method)
    expect_true(identical(both$maxima, both$expected), label = paste("raster", seed))
    compared <- compared + 1
    some <- some + any(both$expected > 0)
  }
  # Filters leave nothing of some.
  expect_gt(compared, length(seeds) / 2)
  expect_gt(some, length(seeds) / 8)
}

# `units` that fire in each of `bins` bins with probability `rate`, a bin a millisecond.
noise_trains <- function(seed, units, bins, rate) {
  withr::local_seed(seed)
  at <- which(matrix(runif(units * bins) < rate, units), arr.ind = TRUE)
  spike_trains((at[, 2] - 1) / 1000, factor(at[, 1], seq_len(units)), start = 0,
               end = bins / 1000, resolution = 1e-3)
}

spectrum_filters <- function(...) {
  utils::modifyList(list(min_spikes = 2, min_count = 2, max_spikes = Inf, max_count = Inf,
                         min_units = 1, closed_within = "all"), list(...))
}

test_that("maxima by size are those of all patterns of each surrogate", {
  compare_rasters(1:200, FALSE)
})

test_that("maxima by size and duration are those of all patterns of each surrogate", {
  skip_on_cran()
  compare_rasters(201:400, TRUE)
})

test_that("windows of one bin, and long ones, agree", {
  for (window in c(1, 2, 64, 100)) {
    compare_rasters(1000 + 1:8, FALSE, windows = window)
    compare_rasters(2100 + 1:8, TRUE, windows = window)
  }
})

test_that("each filter agrees where units are in more windows than a word holds", {
  filters <- list(
    spectrum_filters(min_count = 20), spectrum_filters(min_count = 20, max_count = 40),
    spectrum_filters(min_spikes = 3, min_count = 12, min_units = 3),
    spectrum_filters(min_spikes = 3, min_count = 12, max_spikes = 3),
    spectrum_filters(min_spikes = 1, min_count = 12, max_spikes = 4, max_count = 70),
    spectrum_filters(min_count = 12, max_spikes = 4, closed_within = "max_spikes"),
    spectrum_filters(min_spikes = 4, min_count = 8, min_units = 2)
  )
  for (units in c(6, 70)) {
    x <- noise_trains(units, units, 400, if (units == 6) 0.3 else 0.06)
    for (f in filters) {
      for (by_duration in c(FALSE, TRUE)) {
        both <- maxima_both(x, 1, 4, f, 2, by_duration)
        expect_true(identical(both$maxima, both$expected),
                    label = paste(c(units, by_duration, unlist(f)), collapse = " "))
      }
    }
  }
})

test_that("closedness is judged by the whole recording", {
  # A, B a bin later, C two bins after that, again and again: shuffling intervals that are
  # all the same but for the first moves a unit as a whole.
  begin <- seq(0, 90, by = 10)
  x <- spike_trains(c(begin, begin + 1, begin + 3) / 1000,
                    rep(c("A", "B", "C"), each = 10), end = 0.1, resolution = 1e-3)
  for (max_spikes in c(Inf, 2)) {
    filters <- spectrum_filters(min_count = 5, max_spikes = max_spikes)
    for (by_duration in c(FALSE, TRUE)) {
      both <- maxima_both(x, 1, 5, filters, 5, by_duration, method = "isi_shuffle")
      expect_identical(both$maxima, both$expected)
    }
  }
})

test_that("trials are mined as the data are", {
  for (seed in cases(10)) {
    withr::local_seed(seed)
    bounds <- data.frame(start = c(0, 0.05, 0.12), end = c(0.04, 0.1, 0.2))
    x <- spikes_outside(spike_trains(
      sample(0:200, 150, TRUE) / 1000, sample(6, 150, TRUE), start = 0, end = 0.25,
      resolution = 1e-3, trials = bounds
    ))
    for (by_duration in c(FALSE, TRUE)) {
      both <- maxima_both(x, 3, 6, spectrum_filters(), 3, by_duration, seed = seed,
                          method = c("trial_shift", "dither")[[seed %% 2 + 1]])
      expect_true(identical(both$maxima, both$expected))
      expect_gt(sum(both$maxima), 0)
    }
  }
})

test_that("maxima depend neither on threads, nor on how many are mined together", {
  x <- noise_trains(1, 40, 500, 0.08)
  set.seed(1)
  options <- surrogate_options(x, "dither", dither = 0.005)
  for (by_duration in c(FALSE, TRUE)) {
    mine <- function(n, first = 0, threads = 1, memory = 4e9) {
      surrogate_maxima(search_of(x, 1, 6, spectrum_filters(min_count = 6)), options, n,
                       by_duration, threads = threads, max_memory = memory, first = first)$maxima
    }
    all <- mine(20)
    expect_gt(max(all), 0)
    # With two threads, 20 surrogates are mined whole, and 3 in parts.
    expect_identical(mine(20, threads = 2), all)
    cut <- function(maxima, rows) {
      if (by_duration) {
        out <- all[rows, , , drop = FALSE]
        out[, seq_len(dim(maxima)[[2]]), , drop = FALSE]
      } else {
        all[rows, seq_len(ncol(maxima)), drop = FALSE]
      }
    }
    for (threads in 1:2) {
      some <- mine(3, 7, threads)
      expect_identical(some, cut(some, 8:10))
    }
    # A budget that is short makes fewer threads.
    expect_identical(mine(20, threads = 64, memory = 2e7), all)
  }
})

test_that("each kind of processor finds the same", {
  x <- noise_trains(2, 40, 500, 0.08)
  surrogate <- surrogate_options(x, "dither", dither = 0.005)
  for (f in list(spectrum_filters(min_count = 6), spectrum_filters(min_count = 5, min_units = 3))) {
    for (by_duration in c(FALSE, TRUE)) {
      options <- pattern_options(6, f, "closure", 1, 4e9)
      by_bits <- lapply(c(1, 256, 512), function(bits) {
        options$vector_bits <- bits
        .Call(r_spectrum, trains_of(x), surrogate, options,
              list(bin = 1, by_duration = by_duration, first = 0, n = 4, gpus = NULL))$maxima
      })
      expect_gt(max(by_bits[[1]]), 0)
      expect_identical(by_bits[[2]], by_bits[[1]])
      expect_identical(by_bits[[3]], by_bits[[1]])
    }
  }
})

test_that("what there is none of has no columns", {
  x <- noise_trains(3, 5, 50, 0.1)
  options <- surrogate_options(x, "dither", dither = 0.005)
  mine <- \(n, ...) surrogate_maxima(search_of(x, 1, 4, spectrum_filters(...)), options,
                                    n)$maxima
  expect_identical(dim(mine(3, min_count = 1000)), c(3L, 0L))
  expect_identical(dim(mine(0)), c(0L, 0L))
  expect_identical(dim(mine(2, min_spikes = 1000, min_units = 1)), c(2L, 0L))
  # No table has room for sizes that no window holds.
  expect_identical(dim(mine(2, min_spikes = 2e9, min_units = 1)), c(2L, 0L))
})

test_that("a budget that is too small is refused", {
  x <- noise_trains(4, 200, 20000, 0.05)
  options <- surrogate_options(x, "dither", dither = 0.005)
  expect_error(surrogate_maxima(search_of(x, 1, 20, spectrum_filters(min_count = 10)), options,
                                1, max_memory = 1e6),
               class = "synfire_error_budget")
})

test_that("all of a recording of motor cortex agrees with its patterns", {
  x <- movement_raster()
  filters <- spectrum_filters(min_spikes = 4, min_count = 14, min_units = 4)
  set.seed(1)
  made <- surrogate_trains(x, 1, dither = 0.015, threads = 1)
  set.seed(1)
  options <- surrogate_options(x, "dither", dither = 0.015)
  for (by_duration in c(FALSE, TRUE)) {
    expect_identical(surrogate_maxima(search_of(x, 1, 20, filters), options, 1, by_duration)$maxima,
                     oracle_maxima(made, 0.005, 20, filters, by_duration))
  }
})

test_that("Ctrl-C ends the mining of surrogates", {
  skip_on_cran()
  expect_interrupted(substitute({
    x <- LONG
    options <- synfire:::surrogate_options(x, "dither", dither = 0.005)
    filters <- list(min_spikes = 2, min_count = 2, max_spikes = Inf, max_count = Inf,
                    min_units = 2)
    begin()
    search <- list(trains = synfire:::trains_of(x), bin = 1, window = 20, filters = filters)
    synfire:::surrogate_maxima(search, options, 3, threads = 2)
  }, list(LONG = long_recording)))
})
