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
