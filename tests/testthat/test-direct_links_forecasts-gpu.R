# Conditional forecasts on a GPU are those of the CPU.

# As many jobs, with up to `dims` coordinates and `most` candidates.
random_forecast_jobs <- function(jobs, n, reach, dims, most) {
  lagged <- \(m) rbind(sample.int(n, m, TRUE), sample.int(reach + 1L, m, TRUE) - 1L)
  forecast_jobs(lapply(seq_len(jobs), \(i) {
    list(effect = sample.int(n, 1), theta = sample(c(0, 0.3, 2, 8, 60), 1),
         coordinate = lagged(sample.int(dims, 1)),
         candidate = lagged(sample.int(most + 1L, 1) - 1L))
  }))
}

forecasts_on <- function(gpus, series, jobs, exclusion, reach) {
  conditional_forecasts(series, jobs, exclusion, reach, list(gpus = gpus, threads = 2L))
}

# Of a GPU and of the CPU.
expect_same_on_gpu <- function(...) {
  expect_same_forecasts(forecasts_on(0L, ...), forecasts_on(NULL, ...))
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  jobs <- random_forecast_jobs(1, 3, 0, 2, 1)
  condition <- expect_error(forecasts_on(0L, forecast_series("noise", 60, 3), jobs, 0, 0),
                            class = "synfire_error_device")
  expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
})

test_that("forecasts of all shapes in any combination are those of the CPU", {
  skip_without_gpu()
  kinds <- c("noise", "maps", "counts", "spikes", "smooth", "same", "flat")
  for (case in 1:150) {
    set.seed(case)
    n <- sample(c(3, 8), 1)
    reach <- sample(c(0, 2, 5), 1)
    x <- forecast_series(sample(kinds, 1), sample(c(20, 60, 129, 130, 300), 1), n)
    if (case %% 3 == 0) x[sample(length(x), length(x) / 60)] <- NA
    # Of values much farther away, rounding alone moves gains by more than is allowed here.
    if (case %% 5 == 0) x[sample(length(x), 2)] <- 12
    jobs <- random_forecast_jobs(sample(c(1, 5, 20), 1), n, reach, sample(c(2, 6, 24), 1),
                                 sample(c(0, 1, 7, 40), 1))
    expect_same_on_gpu(x, jobs, sample(c(0, 0, 3, 1000), 1), reach)
  }
})

test_that("forecasts of long series and with hundreds of candidates are those of the CPU", {
  skip_without_gpu()
  set.seed(1)
  expect_same_on_gpu(forecast_series("maps", 4000, 5), random_forecast_jobs(2, 5, 2, 5, 20),
                     2, 2)
  expect_same_on_gpu(forecast_series("noise", 200, 20), random_forecast_jobs(3, 20, 4, 12, 700),
                     0, 4)
})

test_that("forecasts do not depend on how jobs are shared out", {
  skip_without_gpu()
  set.seed(2)
  x <- forecast_series("noise", 150, 6)
  jobs <- random_forecast_jobs(300, 6, 3, 6, 20)
  expect_identical(forecasts_on(c(0L, 0L), x, jobs, 1, 3), forecasts_on(0L, x, jobs, 1, 3))
})
