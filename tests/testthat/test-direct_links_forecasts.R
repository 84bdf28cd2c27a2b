forecasts <- function(series, jobs, exclusion = 0, reach = 3, ..., threads = 1) {
  conditional_forecasts(series, jobs, exclusion, reach,
                        list(gpus = NULL, threads = threads, ...))
}

test_that("random jobs agree with fits that are made one by one", {
  for (seed in cases(24)) {
    set.seed(seed)
    kind <- c("maps", "noise", "counts", "spikes", "smooth", "same", "flat")[[seed %% 7 + 1]]
    jobs <- forecast_jobs(lapply(1:3, \(i) random_forecast(6)))
    x <- forecast_series(kind, sample(c(60, 90, 150), 1), 6)
    if (seed %% 3 == 0) x[sample(length(x), 4)] <- NA
    exclusion <- sample(c(0, 0, 3, 20), 1)
    found <- forecasts(x, jobs, exclusion)
    expect_same_forecasts(found, oracle_forecasts(x, jobs, exclusion, 3))
  }
})

test_that("rows that are far from all others keep their digits where all weigh the same", {
  set.seed(1)
  x <- forecast_series("spikes", 200, 3)
  x[90, 2] <- 40
  far <- cbind(c(2L, 0L))
  jobs <- forecast_jobs(list(list(effect = 1, theta = 0, coordinate = far, candidate = far)))
  expect_same_forecasts(forecasts(x, jobs), oracle_forecasts(x, jobs, 0, 3))
})

test_that("threads change no digit, nor do other jobs; registers change the last", {
  set.seed(7)
  x <- forecast_series("maps", 400, 6)
  x[c(30, 31, 200), 2] <- NA
  jobs <- lapply(1:12, \(i) random_forecast(6))
  jobs[[3]]$candidate <- rbind(rep(1:6, 30), rep(0:3, each = 45))
  found <- forecasts(x, forecast_jobs(jobs), 2)
  expect_identical(forecasts(x, forecast_jobs(jobs), 2, threads = 2), found)
  for (bits in c(1, 256, 512)) {
    expect_same_forecasts(forecasts(x, forecast_jobs(jobs), 2, vector_bits = bits), found)
  }
  alone <- forecasts(x, forecast_jobs(jobs[3]), 2, threads = 2)
  expect_identical(alone$rows, found$rows[[3]])
  expect_identical(alone$error, found$error[[3]])
  at <- forecast_jobs(jobs)$candidate_start[3:4]
  expect_identical(alone$gain, found$gain[seq(at[[1]] + 1, at[[2]])])
  expect_identical(alone$t, found$t[seq(at[[1]] + 1, at[[2]])])
})

test_that("thetas of the same lists are those of each alone", {
  set.seed(9)
  x <- forecast_series("maps", 200, 5)
  thetas <- lapply(c(0, 0.5, 0.5, 2, 8, 1, 0, 4, 3), \(theta) {
    list(effect = 2, theta = theta, coordinate = rbind(c(2, 2, 1), 0:2),
         candidate = rbind(c(1, 3, 4), c(0, 1, 0)))
  })
  found <- forecasts(x, forecast_jobs(thetas))
  each <- lapply(thetas, \(job) forecasts(x, forecast_jobs(list(job))))
  for (what in names(found)) {
    expect_identical(found[[what]], unlist(lapply(each, `[[`, what)))
  }
  expect_same_forecasts(found, oracle_forecasts(x, forecast_jobs(thetas), 0, 3))
})

test_that("any number of coordinates and candidates", {
  set.seed(3)
  x <- forecast_series("maps", 180, 8)
  every <- rbind(rep(1:8, 3), rep(0:2, each = 8))
  for (d in c(1, 2, 7, 15, 24)) for (m in c(2, 7, 17)) {
    jobs <- forecast_jobs(list(list(
      effect = 4, theta = 3, coordinate = every[, seq_len(d), drop = FALSE],
      candidate = every[, 25 - seq_len(m), drop = FALSE]
    )))
    expect_same_forecasts(forecasts(x, jobs, 1, 2), oracle_forecasts(x, jobs, 1, 2))
  }
})

test_that("a driver lowers the error and others do not", {
  set.seed(5)
  x <- matrix(0, 800, 3)
  x[1, ] <- stats::runif(3)
  for (t in 2:800) {
    x[t, 1] <- x[t - 1, 1] * (3.8 - 3.8 * x[t - 1, 1])
    x[t, 2] <- x[t - 1, 2] * (3.5 - 3.5 * x[t - 1, 2] - 0.3 * x[t - 1, 1])
    x[t, 3] <- x[t - 1, 3] * (3.7 - 3.7 * x[t - 1, 3])
  }
  jobs <- forecast_jobs(list(list(effect = 2, theta = 2, coordinate = rbind(2, 0:1),
                                  candidate = rbind(c(1, 3), 0))))
  found <- forecasts(matrix(scale(x), 800), jobs)
  expect_gt(found$t[[1]], 5)
  expect_gt(found$gain[[1]], 0.5)
  expect_lt(found$t[[2]], 2)
  expect_lt(found$gain[[2]], 0.05)
})

test_that("a candidate that says nothing new has no t", {
  set.seed(6)
  x <- forecast_series("noise", 200, 4)
  x[, 4] <- 0
  x[, 3] <- x[, 1] + x[, 2]
  spikes <- x
  spikes[, 1:2] <- forecast_series("spikes", 200, 2)
  jobs <- forecast_jobs(list(list(effect = 2, theta = 1, coordinate = rbind(1:2, 0),
                                  candidate = rbind(c(1, 4), 0))))
  # The square of two values is a straight line through them.
  found <- forecasts(spikes, jobs)
  expect_identical(found$t, c(0, 0))
  expect_lt(max(abs(found$gain)), 1e-5)
  expect_same_forecasts(found, oracle_forecasts(spikes, jobs, 0, 3))
  expect_identical(forecasts(x, jobs)$t[[2]], 0)
  # An effect that never changes leaves no error to lower.
  flat <- forecast_jobs(list(list(effect = 4, theta = 1, coordinate = rbind(1:3, 0),
                                  candidate = rbind(c(1, 2), 1))))
  expect_identical(forecasts(x, flat),
                   list(rows = 196L, error = 0, gain = c(NA_real_, NA), t = c(0, 0)))
})

test_that("too few rows have no results", {
  set.seed(8)
  x <- forecast_series("noise", 30, 3)
  job <- list(effect = 1, theta = 1, coordinate = rbind(1:3, 0), candidate = rbind(2, 1))
  jobs <- forecast_jobs(list(job))
  none <- \(rows) list(rows = rows, error = NA_real_, gain = NA_real_, t = NA_real_)
  # 20 rows are enough for three coordinates.
  expect_false(anyNA(unlist(forecasts(x[1:22, ], jobs, reach = 1))))
  expect_identical(forecasts(x[1:21, ], jobs, reach = 1), none(19L))
  # The row in the middle has no other beyond the exclusion.
  expect_false(anyNA(unlist(forecasts(x, jobs, 13, reach = 1))))
  expect_identical(forecasts(x, jobs, 14, reach = 1), none(28L))
  expect_identical(forecasts(x[1:3, ], jobs, reach = 3), none(0L))
  x[, 2] <- NA
  expect_identical(forecasts(x, jobs, reach = 1), none(0L))
  expect_identical(forecasts(x, forecast_jobs(list())),
                   list(rows = integer(), error = double(), gain = double(), t = double()))
})

test_that("what no caller may give is refused", {
  x <- forecast_series("noise", 40, 3)
  good <- forecast_jobs(list(list(effect = 1, theta = 1, coordinate = rbind(1:2, 0),
                                  candidate = rbind(3, 1))))
  bad <- \(...) expect_error(forecasts(x, utils::modifyList(good, list(...))))
  bad(effect = 4L)
  bad(effect = NA_integer_)
  bad(theta = -1)
  bad(theta = Inf)
  bad(coordinate = rbind(1:2, 4L))
  bad(candidate = rbind(0L, 1L))
  bad(coordinate_start = c(0, 3))
  bad(candidate_start = c(0, NA))
  bad(coordinate_start = 0)
  many <- list(effect = 1, theta = 1, coordinate = rbind(rep(1, 25), 0), candidate = NULL)
  expect_error(forecasts(x, forecast_jobs(list(many))))
})
