test_that("errors are what their names say", {
  set.seed(1)
  for (n in c(3, 10, 200)) {
    observed <- stats::rnorm(n)
    predicted <- observed + stats::rnorm(n)
    found <- prediction_error(observed, predicted)
    expect_named(found, c("MAE", "rho", "RMSE", "CAE"))
    expect_equal(found$MAE, sum(abs(observed - predicted)) / n)
    expect_equal(found$rho, stats::cor(observed, predicted))
    expect_equal(found$RMSE, sqrt(sum((observed - predicted)^2) / n))
    expect_equal(found$CAE, sum(abs(observed - predicted)))
  }
})

test_that("missing pairs are left out, or make all missing", {
  observed <- c(1, NA, 3, 4, Inf, 7)
  predicted <- c(2, 2, NaN, 4, 5, 6)
  expect_equal(prediction_error(observed, predicted),
               prediction_error(c(1, 4, 7), c(2, 4, 6)))
  none <- data.frame(MAE = NA_real_, rho = NA_real_, RMSE = NA_real_, CAE = NA_real_)
  expect_identical(prediction_error(observed, predicted, na_rm = FALSE), none)
  expect_equal(prediction_error(c(1, 4, 7), c(2, 4, 6), na_rm = FALSE),
               prediction_error(c(1, 4, 7), c(2, 4, 6)))
  expect_identical(prediction_error(c(NA, NaN), c(1, NA)), none)
  expect_identical(prediction_error(numeric(), numeric()), none)
})

test_that("rho is NA below 3 pairs and for a constant", {
  expect_identical(prediction_error(c(1, 2), c(2, 4)),
                   data.frame(MAE = 1.5, rho = NA_real_, RMSE = sqrt(2.5), CAE = 3))
  expect_identical(prediction_error(c(1, 2, 3), c(5, 5, 5))$rho, NA_real_)
  expect_identical(prediction_error(rep(0.1, 4), c(1, 2, 3, 5))$rho, NA_real_)
  expect_identical(prediction_error(rep(0, 4), c(1, 2, 3, 5))$rho, NA_real_)
  # Weighted means of equal values differ in the last bit.
  nearly <- 0.1 + c(0, 0, 2^-56, 0)
  expect_identical(prediction_error(nearly, c(1, 2, 3, 5))$rho, NA_real_)
  # But small is not constant.
  expect_equal(prediction_error(1e-300 * c(1, 2, 4), c(1, 2, 4))$rho, 1)
})

test_that("a table of predictions holds both", {
  x <- logistic_series(50)
  found <- simplex(x, "a", E = 2)
  expect_identical(prediction_error(found),
                   prediction_error(found$Observations, found$Predictions))
  expect_error(prediction_error(found, 1:50), "left out", class = "synfire_error_argument")
})

test_that("bad input is refused", {
  expect_error(prediction_error(1:3, 1:2), "3 numbers", class = "synfire_error_argument")
  expect_error(prediction_error(1:3), "3 numbers", class = "synfire_error_argument")
  expect_error(prediction_error("a", 1), "numeric", class = "synfire_error_argument")
  expect_error(prediction_error(data.frame(a = 1)), "Observations",
               class = "synfire_error_argument")
  expect_error(prediction_error(1:3, 1:3, na_rm = NA), "TRUE or FALSE",
               class = "synfire_error_argument")
})

test_that("errors whose squares are beyond a double have a root mean square", {
  observed <- c(1, -2, 4)
  predicted <- c(2, 1, 4.5)
  plain <- prediction_error(observed, predicted)
  for (scale in c(2^-1000, 2^1000)) {
    expect_equal(prediction_error(scale * observed, scale * predicted)$RMSE, scale * plain$RMSE)
  }
  expect_identical(prediction_error(observed, observed)$RMSE, 0)
})
