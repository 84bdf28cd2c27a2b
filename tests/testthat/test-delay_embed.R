test_that("coordinates are the lags of each column", {
  x <- logistic_series(30)
  x$a[7] <- NA
  for (tau in c(-2, -1, 1, 3)) {
    found <- delay_embed(x, c("c", "a"), E = 3, tau = tau)
    expect_identical(found$time, x$time)
    expect_identical(unname(as.matrix(found[-1])),
                     cbind(oracle_embed(x$c, 3, tau), oracle_embed(x$a, 3, tau)))
  }
})

test_that("columns are named by their lags", {
  x <- logistic_series(20)
  expect_named(delay_embed(x, "a b", E = 2), c("time", "a(t-0)", "a(t-1)", "b(t-0)", "b(t-1)"))
  expect_named(delay_embed(x, "a", E = 3, tau = 2), c("time", "a(t+0)", "a(t+2)", "a(t+4)"))
  expect_named(delay_embed(x["a"], E = 2, no_time = TRUE), c("a(t-0)", "a(t-1)"))
  expect_identical(class(delay_embed(x, "a", E = 2)), "data.frame")
})

test_that("lags do not cross segments", {
  x <- data.frame(time = c(1:3, 1:3), x = 1:6, run = rep(1:2, each = 3))
  found <- delay_embed(x, "x", E = 2, segments = "run")
  expect_identical(found[["x(t-1)"]], c(NA, 1, 2, NA, 4, 5))
})

test_that("simplex() finds the same in an embedded table", {
  x <- logistic_series(50)
  block <- cbind(delay_embed(x, "a", E = 3), target = x$a)
  found <- simplex(block, names(block)[2:4], "target", embedded = TRUE, lib = c(3, 50))
  expect_equal(found$Predictions[-(1:2)], simplex(x, "a", E = 3)$Predictions)
})

test_that("bad input is refused, and a series too short is all NA", {
  x <- logistic_series(4)
  expect_error(delay_embed(x, "a"), "`E` must be given", class = "synfire_error_argument")
  expect_error(delay_embed(x, "a", E = 0), "`E` must", class = "synfire_error_argument")
  expect_error(delay_embed(x, "a", E = 2, tau = 0), "`tau`", class = "synfire_error_argument")
  expect_error(delay_embed(1:10, E = 2), "data frame", class = "synfire_error_argument")
  expect_identical(delay_embed(x, "a", E = 6)[["a(t-5)"]], rep(NA_real_, 4))
})

test_that("time series of R and of zoo are the tables that hold their times", {
  values <- EuStockMarkets[1:80, 1:2]
  series <- ts(values, start = c(1991, 130), frequency = 260)
  days <- as.Date("2001-01-01") + 0:79
  # The classes of zoo and xts keep their times so.
  of_zoo <- structure(values, index = days, class = "zoo")
  of_ts <- data.frame(time = as.double(time(series)), as.data.frame(unclass(values)))
  expect_identical(delay_embed(series, "DAX", E = 2), delay_embed(of_ts, "DAX", E = 2))
  expect_identical(delay_embed(of_zoo, "DAX", E = 2),
                   delay_embed(replace(of_ts, "time", list(days)), "DAX", E = 2))
  expect_identical(delay_embed(series, "DAX", E = 2, no_time = TRUE),
                   delay_embed(of_ts[-1], "DAX", E = 2, no_time = TRUE))
  plain <- as.matrix(of_ts[-1])
  for (x in list(series, of_zoo)) {
    expect_equal(as.matrix(suppressMessages(causal_map(x, E_max = 2))),
                 as.matrix(suppressMessages(causal_map(plain, E_max = 2))))
    expect_equal(embed_dimension(x, E_max = 2)$E, embed_dimension(plain, E_max = 2)$E)
    expect_equal(embed_dimension(x, "SMI", E_max = 2)$rho,
                 embed_dimension(of_ts, "SMI", E_max = 2)$rho)
    expect_equal(prediction_error(x[, 1], x[, 2]), prediction_error(plain[, 1], plain[, 2]))
  }
  expect_identical(names(simplex(series[, 1], E = 2))[[1]], "time")
})
