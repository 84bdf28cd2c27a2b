# Skill at each E by the oracle of simplex(); NA where the library is too small.
oracle_skill <- function(x, Es, ...) {
  vapply(Es, \(E) {
    found <- tryCatch(simplex(x, ..., E = E), synfire_error_argument = \(e) NULL,
                      synfire_warning_knn = \(w) NULL)
    if (is.null(found)) return(NA_real_)
    slow <- oracle_series(x, ..., E = E)
    known <- is.finite(slow$Observations) & is.finite(slow$Predictions)
    if (sum(known) < 3) return(NA_real_)
    stats::cor(slow$Observations[known], slow$Predictions[known])
  }, 0)
}

test_that("random sweeps agree with the oracle", {
  for (seed in cases(20)) {
    x <- logistic_series(sample(25:45, 1), seed)
    n <- nrow(x)
    if (seed %% 4 == 0) x[-1] <- round(x[-1], 1)
    x$a[sample(n, 2)] <- NA
    arguments <- list(
      columns = sample(c("a", "b", "c"), sample(1:2, 1)), target = sample(c("a", "b"), 1),
      lib = sample(list(c(1, n), c(3, n - 5), c(1, 12, 15, n)), 1)[[1]],
      pred = sample(list(c(1, n), c(10, 20)), 1)[[1]],
      Tp = sample(-2:3, 1), tau = sample(c(-2, -1, 1), 1),
      exclusion_radius = sample(c(0, 2), 1), valid_lib = stats::runif(n) < 0.9
    )
    if (seed %% 3 == 0) arguments$segments <- rep(1:2, c(n %/% 2, n - n %/% 2))
    found <- do.call(embed_dimension, c(list(x), arguments, E_max = 5))
    expect_identical(found$E, 1:5)
    expect_equal(found$rho, do.call(oracle_skill, c(list(x, 1:5), arguments)),
                 tolerance = 1e-9)
    expect_false(any(is.nan(found$rho)))
  }
})

test_that("validation is leave-one-out or by halves", {
  x <- logistic_series(61)
  expect_identical(embed_dimension(x, "a")$rho,
                   embed_dimension(x, "a", lib = c(1, 61), pred = c(1, 61))$rho)
  split <- embed_dimension(x, "a", validation = "split")
  expect_identical(split$rho, embed_dimension(x, "a", lib = c(1, 30), pred = c(31, 61))$rho)
  expect_false(identical(split$rho, embed_dimension(x, "a")$rho))
  expect_identical(embed_dimension(x, "a", lib = c(1, 40), validation = "split")$rho,
                   embed_dimension(x, "a", lib = c(1, 40))$rho)
})

test_that("the optimal E is that of the first maximum", {
  x <- logistic_series(100)
  found <- embed_dimension(x, "a", E_max = 6)
  expect_identical(attr(found, "optimal"), found$E[[which.max(found$rho)]])
  expect_identical(summary(found)$E, attr(found, "optimal"))
  expect_output(print(found), "Skill against E, a -> a.*Highest rho")
  # The same series twice over: every E from 2 on predicts it without error.
  x <- data.frame(time = 1:200, x = rep(c(0, 1, 3, 1), 50))
  found <- embed_dimension(x, E_max = 5)
  expect_equal(found$rho[2:5], rep(1, 4))
  expect_identical(attr(found, "optimal"), which.max(found$rho))
})

test_that("where there is no skill, it is NA", {
  x <- data.frame(time = 1:12, x = 0.1)
  found <- embed_dimension(x)
  expect_identical(found$rho, rep(NA_real_, 10))
  expect_identical(attr(found, "optimal"), NA_integer_)
  expect_identical(summary(found)$rho, NA_real_)
  expect_output(print(found), "NA")
  found <- embed_dimension(transform(logistic_series(8), a = NA_real_), "a")
  expect_identical(found$rho, rep(NA_real_, 10))
  # 12 rows: at E = 6 the library has rows 6 to 11, fewer than 7.
  found <- embed_dimension(logistic_series(12), "a")
  expect_identical(which(!is.na(found$rho)), 1:5)
})

test_that("predict_interval() sweeps Tp", {
  x <- logistic_series(60)
  x$a[20] <- NA
  found <- predict_interval(x, "a", lib = c(1, 40), pred = c(30, 60), Tp_max = 4, E = 2)
  slow <- vapply(1:4, \(Tp) {
    table <- oracle_series(x, "a", lib = c(1, 40), pred = c(30, 60), E = 2, Tp = Tp)
    stats::cor(table$Observations, table$Predictions, use = "complete.obs")
  }, 0)
  expect_identical(found$Tp, 1:4)
  expect_equal(found$rho, slow)
  # 20 rows: from Tp = 16 on there are fewer than 3 library points.
  found <- predict_interval(logistic_series(20), "a", Tp_max = 18, E = 2)
  expect_identical(is.na(found$rho)[17:18], c(TRUE, TRUE))
  expect_error(predict_interval(x, "a"), "`E` must be", class = "synfire_error_argument")
  expect_error(predict_interval(x, "a", E = 2, Tp_max = 0), "`Tp_max`",
               class = "synfire_error_argument")
})

test_that("predict_exclusion_radius() sweeps the radius", {
  x <- logistic_series(50)
  found <- predict_exclusion_radius(x, "b", exclusion_radius = c(0, 3, 9), E = 2)
  slow <- vapply(c(0, 3, 9), \(radius) {
    table <- oracle_series(x, "b", E = 2, exclusion_radius = radius)
    stats::cor(table$Observations, table$Predictions, use = "complete.obs")
  }, 0)
  expect_identical(found$ExclusionRadius, c(0L, 3L, 9L))
  expect_equal(found$rho, slow)
  expect_identical(predict_exclusion_radius(x, "b", exclusion_radius = 50, E = 2)$rho,
                   NA_real_)
  for (radius in list(-1, 0.5, NA, "1", numeric(), c(0, NA))) {
    expect_error(predict_exclusion_radius(x, "b", exclusion_radius = radius, E = 2),
                 "`exclusion_radius` must", class = "synfire_error_argument")
  }
})

test_that("bad input is refused", {
  x <- logistic_series(40)
  for (E_max in list(0, 1.5, NA, "3", 1:2, Inf)) {
    expect_error(embed_dimension(x, "a", E_max = E_max), "`E_max` must",
                 class = "synfire_error_argument")
  }
  expect_error(embed_dimension(x, "a", validation = "none"), "validation")
  expect_error(embed_dimension(x$a), "data frame", class = "synfire_error_argument")
  expect_error(embed_dimension(x, "d"), "Did you mean", class = "synfire_error_argument")
  expect_error(embed_dimension(x, "a", lib = c(30, 2)), "from 30 to 2",
               class = "synfire_error_argument")
})

test_that("errors name the function the user called", {
  x <- logistic_series(40)
  called <- function(expr) {
    as.character(tryCatch(expr, error = \(e) conditionCall(e))[[1]])
  }
  expect_identical(called(simplex(x, "a", E = 0)), "simplex")
  expect_identical(called(simplex(x, "a", E = 2, lib = c(1, 2), Tp = 9)), "simplex")
  expect_identical(called(embed_dimension(x, "d")), "embed_dimension")
  expect_identical(called(predict_interval(x, "a", E = 0)), "predict_interval")
  expect_identical(called(predict_exclusion_radius(x, "a", E = 2, exclusion_radius = -1)),
                   "predict_exclusion_radius")
  expect_identical(called(delay_embed(x, "d", E = 2)), "delay_embed")
})

test_that("E, tau and Tp are searched together", {
  x <- logistic_series(70)
  found <- embed_dimension(x, "a", E_max = 3, tau = c(-1, -3), Tp = 1:2)
  expect_named(found, c("E", "tau", "Tp", "rho"))
  expect_s3_class(found, "edm_skill")
  alone <- mapply(\(E, tau, Tp) prediction_error(simplex(x, "a", E = E, tau = tau, Tp = Tp))$rho,
                  found$E, found$tau, found$Tp)
  expect_equal(found$rho, alone)
  expect_identical(nrow(unique(as.data.frame(found)[1:3])), 12L)
  best <- which.max(alone)
  expect_identical(attr(found, "optimal"), unlist(as.data.frame(found)[best, 1:3]))
  expect_identical(attr(found, "parameters")$tau, c(-1L, -3L))
  expect_match(format(found), "Skill against E, tau and Tp, a -> a", all = FALSE)
  expect_match(format(found), sprintf("at E %d, tau %d, Tp %d", found$E[best], found$tau[best],
                                      found$Tp[best]), all = FALSE)
  expect_equal(summary(found)$rho, max(alone))
  # One of each is the table that there is without.
  one <- embed_dimension(x, "a", E_max = 3, tau = -3, Tp = 2)
  expect_named(one, c("E", "rho"))
  expect_identical(one$rho, found$rho[found$tau == -3 & found$Tp == 2])
  several <- embed_dimension(x, c("a", "b"), E_max = 2, tau = c(-1, -2))
  expect_identical(several$rho[3:4], embed_dimension(x, c("a", "b"), E_max = 2, tau = -2)$rho)
  for (tau in list(0.5, "1", NA, c(-1, -1), numeric())) {
    expect_error(embed_dimension(x, "a", tau = tau), "`tau` must",
                 class = "synfire_error_argument")
  }
  expect_error(embed_dimension(x, "a", Tp = c(1, 1)), "`Tp` must",
               class = "synfire_error_argument")
})

test_that("with embedded columns E is how many of them are used", {
  x <- logistic_series(60)
  x$b[9] <- NA
  found <- embed_dimension(x, c("c", "a", "b"), "a", embedded = TRUE)
  expect_identical(found$E, 1:3)
  alone <- vapply(1:3, \(E) {
    prediction_error(simplex(x, c("c", "a", "b")[1:E], "a", embedded = TRUE))$rho
  }, 0)
  expect_equal(found$rho, alone)
  expect_identical(embed_dimension(x, c("c", "a", "b"), "a", embedded = TRUE, E_max = 2)$rho,
                   found$rho[1:2])
  # A table of lags gives the skill against the number of lags, of the rows that it has.
  lags <- delay_embed(x, "a", E = 4)
  table <- embed_dimension(lags, names(lags)[-1], embedded = TRUE, lib = c(4, 60), pred = c(4, 60))
  expect_equal(table$rho, embed_dimension(x, "a", E_max = 4, lib = c(4, 60), pred = c(4, 60))$rho,
               tolerance = 0.05)
  expect_error(embed_dimension(x, c("a", "b"), embedded = TRUE, tau = -1:-2), "`tau` must",
               class = "synfire_error_argument")
  expect_error(embed_dimension(x, c("a", "b"), embedded = NA), "`embedded` must",
               class = "synfire_error_argument")
})

test_that("former names of columns are still understood, with a warning", {
  x <- logistic_series(60)
  found <- predict_nonlinear(x, "a", theta = c(0, 2), E = 2)
  expect_warning(theta <- found$theta, "called Theta", class = "synfire_warning_column")
  expect_identical(theta, c(0, 2))
  expect_warning(theta <- found[["theta"]], class = "synfire_warning_column")
  expect_identical(theta, c(0, 2))
  radius <- predict_exclusion_radius(x, "a", exclusion_radius = 0:1, E = 2)
  expect_warning(expect_identical(radius$exclusion_radius, 0:1), class = "synfire_warning_column")
  expect_silent(expect_identical(found$Theta, c(0, 2)))
  expect_silent(expect_null(found$nothing))
  expect_silent(expect_identical(found[[2]], found$rho))
  expect_silent(expect_identical(found[[1, "Theta"]], 0))
  # A column of one's own has the name that it was given.
  found$theta <- 1:2
  expect_silent(expect_identical(found$theta, 1:2))
})
