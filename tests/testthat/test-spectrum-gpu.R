# The GPU gives the CPU's maxima, of every surrogate.

# Both from the same random numbers; `bin` in milliseconds, and ticks.
maxima_by_place <- function(x, bin, window, filters, method = "dither", n = 3,
                            by_duration = FALSE, dither = 0.002, gpus = 0L) {
  made <- surrogate_options(x, method, dither = dither, bin_size = bin / 1000,
                            window = if (method == "window_shuffle") 4 * bin / 1000)
  of <- \(place) surrogate_maxima(search_of(x, bin, window, filters), made, n, by_duration,
                                  place = place, threads = 2)
  gpu <- of(gpus)
  expect_identical(gpu$maxima, of(NULL)$maxima)
  gpu
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- spike_trains(c(0.001, 0.02, 0.05), c("A", "B", "A"), start = 0, end = 0.06)
  filters <- list(min_spikes = 2, max_spikes = Inf, min_count = 1, max_count = Inf,
                  min_units = 1)
  condition <- expect_error(
    surrogate_maxima(search_of(x, 5000, 3, filters), surrogate_options(x, dither = 0.002),
                     2, place = 0L),
    class = "synfire_error_device"
  )
  expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
})

test_that("small random recordings agree: filters, trials, short and long windows", {
  skip_without_gpu()
  some <- 0
  for (seed in 1:300) {
    raster <- random_raster(seed)
    if (nrow(raster$x) == 0 ||
          inherits(try(surrogate_options(raster$x, dither = 0.002), TRUE), "try-error")) next
    withr::local_seed(seed)
    gpu <- maxima_by_place(raster$x, raster$bin, raster$window, raster$filters,
                           by_duration = seed %% 2 == 0)
    some <- some + any(gpu$maxima > 0)
  }
  expect_gt(some, 75)
})

test_that("all surrogates agree, in trials too", {
  skip_without_gpu()
  set.seed(5)
  time <- sort(sample(8000, 1500)) / 1000
  trials <- data.frame(start = c(0, 2.5, 5), end = c(2, 4.5, 8))
  filters <- list(min_spikes = 2, max_spikes = 6, min_count = 4, max_count = 40,
                  min_units = 2)
  for (cut in list(NULL, trials)) {
    x <- spike_trains(time, sample(letters[1:9], 1500, TRUE), start = 0, end = 8,
                      resolution = 1e-3, trials = cut)
    for (method in setdiff(surrogate_methods, if (is.null(cut)) "trial_shift")) {
      for (by_duration in c(FALSE, TRUE)) {
        gpu <- maxima_by_place(x, 4, 6, filters, method, n = 5, by_duration, dither = 0.012)
        expect_gt(max(gpu$maxima), 0)
      }
    }
  }
})

test_that("units with more windows than a word, or than a table, has room for agree", {
  skip_without_gpu()
  set.seed(6)
  x <- spike_trains(sort(sample(2e5, 3e4)) / 1000,
                    sample(c(rep("A", 6), letters[1:8]), 3e4, TRUE), resolution = 1e-3)
  filters <- list(min_spikes = 2, max_spikes = Inf, min_count = 400, max_count = Inf,
                  min_units = 2)
  for (by_duration in c(FALSE, TRUE)) maxima_by_place(x, 5, 5, filters, by_duration = by_duration)
})

test_that("pairs of spikes in as many windows as masks of each length hold agree", {
  skip_without_gpu()
  # A and B share so many windows that one more would need the next length.
  for (shared in c(63:65, 126:129, 255:257)) {
    at <- seq_len(shared) * 0.040 + 0.002
    extra <- seq(0.022, by = 0.080, length.out = shared %/% 2)
    x <- spike_trains(c(at, at + 0.002, at[-1] + 0.004, at[-(1:4)] + 0.006, extra),
                      rep(c("A", "B", "C", "D", "A"),
                          c(shared, shared, shared - 1, shared - 4, length(extra))),
                      start = 0, end = max(at) + 0.1, resolution = 1e-3)
    filters <- list(min_spikes = 2, max_spikes = Inf, min_count = 20, max_count = Inf,
                    min_units = 2)
    for (by_duration in c(FALSE, TRUE)) {
      # Dithered within their bins, so that surrogates keep what is shared.
      gpu <- maxima_by_place(x, 10, 2, filters, by_duration = by_duration, dither = 0.001)
      expect_gte(max(gpu$maxima), shared - 1)
    }
  }
})

test_that("many surrogates come in batches, and in any number of calls", {
  skip_without_gpu()
  set.seed(7)
  x <- spike_trains(sort(sample(3000, 400)) / 1000, sample(letters[1:6], 400, TRUE),
                    resolution = 1e-3)
  filters <- list(min_spikes = 2, max_spikes = Inf, min_count = 3, max_count = Inf,
                  min_units = 1)
  made <- surrogate_options(x, dither = 0.010)
  search <- search_of(x, 3, 5, filters)
  of <- \(n, first) surrogate_maxima(search, made, n, place = 0L, first = first)$maxima
  all <- of(700, 0)
  later <- of(300, 400)
  shared <- seq_len(min(ncol(all), ncol(later)))
  expect_identical(all[401:700, shared], later[, shared])
  expect_identical(of(0, 0), surrogate_maxima(search, made, 0)$maxima)
})

test_that("a real recording agrees", {
  skip_without_gpu()
  raster <- read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  x <- spike_trains(raster[[2]] * 0.005 + 0.002, raster[[1]], start = 0,
                    end = (max(raster[[2]]) + 1) * 0.005, resolution = 1e-3)
  filters <- list(min_spikes = 3, max_spikes = Inf, min_count = 15, max_count = Inf,
                  min_units = 3)
  gpu <- maxima_by_place(x, 5, 20, filters, n = 4, dither = 0.020)
  expect_gt(ncol(gpu$maxima), 3)
  expect_identical(gpu$report$left, 0)
})

test_that("Ctrl-C stops surrogates on a GPU", {
  skip_without_gpu()
  skip_on_cran()
  file <- shared_data("spade/movement_PGHF_raster.txt.gz")
  for (call in list(quote(spade(x, 0.005, 20, min_spikes = 4, min_count = 30,
                                n_surrogates = 1e6, device = "gpu")),
                    quote(pvalue_spectrum(x, 0.005, 20, min_count = 10, n_surrogates = 1e5,
                                          device = "gpu")))) {
    expect_interrupted(substitute({
      raster <- read.table(FILE)
      x <- spike_trains(raster[[2]] * 0.005 + 0.002, raster[[1]], start = 0,
                        end = (max(raster[[2]]) + 1) * 0.005, resolution = 1e-3)
      begin()
      CALL
    }, list(FILE = file, CALL = call)))
  }
})
