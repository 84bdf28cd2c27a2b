# Conditional forecasts on a GPU are those of the CPU.

# Series that drive one another, standardised, with what the kind asks for.
forecast_series <- function(steps, n, kind) {
  x <- apply(matrix(stats::rnorm(steps * n), steps), 2, stats::filter, 0.6, "recursive")
  x <- x + 0.5 * tanh(rbind(0, x[-steps, c(n, seq_len(n - 1)), drop = FALSE]))
  if (kind == "counts") x <- pmax(round(x), 0)
  if (kind == "outliers") x[sample(length(x), 3)] <- 40
  x <- scale(x)
  x[is.nan(x)] <- 0
  if (kind == "gaps") x[sample(length(x), length(x) / 60)] <- NA
  if (kind == "constant") x[, sample(n, 1)] <- 0.3
  matrix(as.double(x), steps)
}

# As many jobs, with up to `dims` coordinates and `most` candidates.
random_forecast_jobs <- function(jobs, n, reach, dims, most) {
  lagged <- function(m) {
    rbind(sample(n, m, TRUE), if (reach > 0) sample(0:reach, m, TRUE) else rep(0L, m))
  }
  forecast_jobs(lapply(seq_len(jobs), \(i) {
    list(effect = sample(n, 1), theta = sample(c(0, 0.3, 2, 8, 60), 1),
         coordinate = lagged(sample(dims, 1)), candidate = lagged(sample(0:most, 1)))
  }))
}

# How much results of the GPU differ from those of the CPU: errors and t count relative to
# those, t to 1e-3 at the least.
forecast_distance <- function(series, jobs, exclusion, reach, gpus = 0L) {
  gpu <- conditional_forecasts(series, jobs, exclusion, reach, list(gpus = gpus, threads = 2L))
  cpu <- conditional_forecasts(series, jobs, exclusion, reach, list(gpus = NULL, threads = 2L))
  apart <- \(what) max(0, abs(gpu[[what]] - cpu[[what]]), na.rm = TRUE)
  relative <- \(what, least) {
    max(0, abs(gpu[[what]] - cpu[[what]]) / pmax(abs(cpu[[what]]), least), na.rm = TRUE)
  }
  missing <- vapply(names(cpu), \(what) sum(is.na(gpu[[what]]) != is.na(cpu[[what]])), 0L)
  c(rows = sum(gpu$rows != cpu$rows), missing = sum(missing), error = relative("error", 1e-12),
    gain = apart("gain"), t = relative("t", 1e-3))
}

expect_same_forecasts <- function(...) {
  found <- forecast_distance(...)
  expect_true(all(found <= c(0, 0, 1e-8, 1e-6, 1e-5)),
              info = paste(names(found), signif(found, 3), collapse = ", "))
}

test_that("forecasts of all shapes in any combination are those of the CPU", {
  skip_without_gpu()
  for (case in 1:60) {
    set.seed(case)
    steps <- sample(c(20, 60, 129, 130, 300), 1)
    n <- sample(c(1, 3, 8), 1)
    reach <- sample(c(0, 2, 5), 1)
    x <- forecast_series(steps, n, sample(c("plain", "counts", "gaps", "constant"), 1))
    jobs <- random_forecast_jobs(sample(c(1, 5, 20), 1), n, reach, sample(c(2, 6, 24), 1),
                                 sample(c(0, 1, 7, 40), 1))
    expect_same_forecasts(x, jobs, sample(c(0, 0, 3, 1000), 1), reach)
  }
})
