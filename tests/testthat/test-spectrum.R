# random_raster() for recordings that have surrogates: some spikes, and room to move them.
surrogate_raster <- function(seed, ...) {
  raster <- random_raster(seed, ...)
  enough <- nrow(raster$x) > 0 && !inherits(try(
    surrogate_options(raster$x, dither = 0.002), silent = TRUE), "try-error")
  if (enough) raster
}

compare_rasters <- function(seeds, by_duration, n = 2, ...) {
  compared <- 0
  some <- 0
  for (seed in seeds) {
    raster <- surrogate_raster(seed, ...)
    if (is.null(raster)) next
    method <- c("dither", "bin_shuffle")[[seed %% 2 + 1]]
    both <- maxima_both(raster$x, raster$bin, raster$window, raster$filters, n, by_duration,
                        seed = seed, method = method)
    expect_true(identical(both$maxima, both$expected), label = paste("raster", seed))
    compared <- compared + 1
    some <- some + any(both$expected > 0)
  }
  # Filters leave nothing of some.
  expect_gt(compared, length(seeds) / 2)
  expect_gt(some, length(seeds) / 8)
}

test_that("maxima by size are those of all patterns of each surrogate", {
  compare_rasters(1:200, FALSE)
})

test_that("maxima by size and duration are those of all patterns of each surrogate", {
  compare_rasters(201:400, TRUE)
})

test_that("windows of one bin, and long ones, agree", {
  for (window in c(1, 2, 64, 100)) {
    compare_rasters(1000 + 1:8, FALSE, windows = window)
    compare_rasters(2000 + 1:8, TRUE, windows = window)
  }
})
