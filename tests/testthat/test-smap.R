called <- function(points, lib, pred, target, theta, k = max(length(lib) - 1, 1),
                   exclusion = 0, ridge = 0, threads = 1, local = TRUE, bits = 0, way = 0) {
  called_smap(points, lib, pred, target, theta, local,
              list(k = k, exclusion = exclusion, ridge = ridge, gpus = NULL, threads = threads,
                   vector_bits = bits, way = way))
}

# Models made one at a time, and many at a time as one product of matrices.
ways <- c(one = 1, many = 2)

# Largest difference, relative to the largest value where that is above 1.
difference <- function(found, expected) {
  max(abs(found - expected)) / max(1, abs(expected))
}

expect_as_oracle <- function(points, lib, pred, target, theta, ..., tolerance = 1e-9,
                             parts = c("predictions", "variance", "coefficients", "singular")) {
  expected <- oracle_smap(points, lib, pred, target, theta, ...)
  for (way in ways) {
    found <- called(points, lib, pred, target, theta, ..., way = way)
    for (part in parts) {
      expect_identical(dim(found[[part]]), dim(expected[[part]]))
      expect_lt(difference(found[[part]], expected[[part]]), tolerance)
    }
  }
}

series <- function(n) {
  set.seed(7)
  as.double(stats::arima.sim(list(ar = c(0.6, -0.3)), n))
}

# A logistic map: `n` values in (0, 1).
logistic <- function(n) Reduce(\(x, i) 3.8 * x * (1 - x), seq_len(n - 1), 0.3, accumulate = TRUE)

# ---- The definition ------------------------------------------------------------------

test_that("random data give what svd() gives", {
  skip_on_cran()
  x <- series(150)
  y <- c(x[-1], NA)
  for (E in c(1, 2, 4, 11)) {
    points <- oracle_embed(x, E)
    expect_as_oracle(points, E:149, E:150, y, c(0, 0.3, 2, 9))
    expect_as_oracle(points, E:90, 91:150, y, c(0, 2))
    expect_as_oracle(points, E:149, E:150, y, 2, exclusion = 7)
    expect_as_oracle(points, E:90, 60:150, y, 2, k = 25)
    expect_as_oracle(points, E:90, 60:150, y, 2, k = 25, exclusion = 3)
    expect_as_oracle(points, E:90, 60:150, y, 2, k = 90 - E + 1)
    expect_as_oracle(points, E:90, 60:150, y, c(0, 2), ridge = 0.2)
    expect_as_oracle(points, E:90, 60:150, y, c(0, 2), k = 12, ridge = 0.2)
  }
})

test_that("libraries of all lengths around those of blocks give what svd() gives", {
  skip_on_cran()
  x <- series(600)
  y <- c(x[-1], NA)
  points <- oracle_embed(x, 2)
  for (last in c(3, 9, 10, 17, 257, 258, 259, 266, 513, 514, 515, 599)) {
    expect_as_oracle(points, 2:last, c(2, 5, 300, 600), y, c(0, 4))
  }
})

test_that("fewer neighbours than coefficients give the shortest model", {
  x <- series(60)
  y <- c(x[-1], NA)
  points <- oracle_embed(x, 5)
  for (k in 1:6) expect_as_oracle(points, 5:59, 10:30, y, c(0, 1), k = k)
  expect_as_oracle(points, 5:8, 20:30, y, c(0, 1))
  found <- called(points, 5:59, 10:30, y, 1, k = 2)
  expect_lt(max(found$singular[, 3:6, 1]), 1e-14)
})

test_that("coordinates that depend on each other give the shortest model", {
  skip_on_cran()
  x <- series(120)
  y <- c(x[-1], NA)
  lag <- oracle_embed(x, 3)
  designs <- list(
    duplicated = lag[, c(1, 2, 1)], sum = cbind(lag[, 1:2], lag[, 1] + lag[, 2]),
    constant = cbind(lag[, 1], 3), zero = cbind(0, lag[, 1:2]), multiple = cbind(lag, 2 * lag)
  )
  for (points in designs) {
    expect_as_oracle(points, 3:119, 3:120, y, c(0, 2), tolerance = 1e-8)
    expect_as_oracle(points, 3:80, 81:120, y, c(0, 2), k = 20, tolerance = 1e-8)
  }
})

test_that("a constant series predicts itself", {
  points <- matrix(4, 50, 3)
  expect_as_oracle(points, 1:49, 1:50, rep(4, 50), c(0, 1, 5))
  found <- called(points, 1:49, 1:50, rep(4, 50), c(0, 5))
  expect_lt(difference(found$predictions, 4), 1e-12)
  expect_lt(max(found$variance), 1e-20)
  # The shortest of all models with c0 + 4 (c1 + c2 + c3) = 4
  expect_lt(difference(found$coefficients[1, , 1], 4 * c(1, 4, 4, 4) / 49), 1e-12)
})

test_that("ill-conditioned data keep to svd() far beyond normal equations", {
  skip_on_cran()
  # Lags of a smooth series: the smallest singular values are 1e-4 to 1e-9 of the largest.
  t <- seq(0, 30, length.out = 400)
  x <- sin(t) + 0.5 * sin(2.3 * t) + 0.2 * cos(5.1 * t)
  y <- c(x[-1], NA)
  for (E in 2:5) {
    points <- oracle_embed(x, E)
    expect_as_oracle(points, E:399, seq(E, 400, by = 7), y, c(0, 1, 4),
                     parts = c("predictions", "variance", "singular"), tolerance = 1e-8)
    found <- called(points, E:399, seq(E, 400, by = 7), y, c(0, 1, 4))
    expected <- oracle_smap(points, E:399, seq(E, 400, by = 7), y, c(0, 1, 4))
    expect_lt(difference(found$coefficients, expected$coefficients), 1e-6)
  }
  # Far from the origin
  far <- oracle_embed(x, 2) + 1e5
  expect_as_oracle(far, 2:399, c(2, 200, 400), y + 1e5, c(0, 3), tolerance = 1e-7,
                   parts = c("predictions", "coefficients", "singular"))
})

test_that("light rows say what they say beside heavy ones that contradict each other", {
  # Seven points in one place with other targets each, and two that weigh 1e-10 of them:
  # the line through the mean of the seven and the two.
  x <- c(1, 1, 1, 1, 1, 1, 1, 0, 2)
  y <- c(3, 4, 3, 1, 1, 1, 5, 7, 1)
  for (bits in c(1, 256, 512)) {
    found <- called(cbind(c(1, x)), 2:10, 1, c(9, y), 5, k = 9, bits = bits)
    expect_equal(found$coefficients[1, , 1], c(18 / 7 + 3, -3), tolerance = 1e-9)
  }
  found <- called(cbind(c(1, x)), 2:10, 1, c(9, y), 5, k = 9, ridge = 1e-30)
  expect_equal(found$coefficients[1, , 1], c(18 / 7 + 3, -3), tolerance = 1e-9)
  # Counts, of which nine are neighbours; the model by rational arithmetic
  points <- rbind(c(3, 2, 3), c(3, 2, 3), c(3, 2, 3), c(3, 2, 3), c(3, 3, 3), c(3, 3, 3),
                  c(3, 2, 4), c(3, 3, 2), c(2, 3, 3), c(3, 1, 2))
  y <- c(0, -1.1504137732512889, -0.51229913505084745, 0.15840198036051334,
         1.5290513737263609, -0.8822993869298057, 0.16743132709156827,
         -0.070088248860717448, -0.5226429448376656, 0.18021122219011745)
  found <- called(points, 2:10, 1, y, 10, k = 9)
  expect_equal(found$coefficients[1, , 1],
               c(-6.695315335721539, 0.8459868088305313, 0.8247808399734056,
                 0.6687854177675315), tolerance = 1e-8)
  # Where no points are the same, svd() comes as near as the condition allows.
  set.seed(2)
  for (E in 2:6) {
    x <- series(60)
    points <- oracle_embed(x, E)
    got <- called(points, E:59, E:60, c(x[-1], NA), 20, k = 9)
    want <- oracle_smap(points, E:59, E:60, c(x[-1], NA), 20, k = 9)
    condition <- want$singular[, 1, 1] / want$singular[, E + 1, 1]
    off <- apply(abs(got$coefficients - want$coefficients), 1, max) /
      apply(abs(want$coefficients), 1, max)
    below <- condition < 1e14
    expect_true(all(off[below] < 1e-9 + 4e-15 * condition[below]))
    expect_gt(max(condition), 1e7)
  }
})

test_that("any theta leaves finite predictions", {
  x <- series(100)
  points <- oracle_embed(x, 2)
  y <- c(x[-1], NA)
  theta <- c(0, 1e-300, 1e-3, 30, 100, 1e3, 1e5, 1e300)
  found <- called(points, 2:99, 2:100, y, theta)
  expect_true(all(is.finite(unlist(found))))
  expect_identical(found$predictions[, 1], found$predictions[, 2])
  expect_lt(difference(found$predictions[, 4], oracle_smap(points, 2:99, 2:100, y, 30)[[1]]), 1e-6)
  # In the end the nearest neighbour alone counts: the shortest model through it.
  nearest <- oracle_all_neighbours(points, 2:99, 2:100, 1)$row
  at <- cbind(1, points[nearest, ])
  expected <- y[nearest] * rowSums(at * cbind(1, points[2:100, ])) / rowSums(at^2)
  expect_lt(difference(found$predictions[, 8], expected), 1e-12)
})

test_that("neighbours without a target count for the mean distance alone", {
  skip_on_cran()
  x <- series(120)
  y <- c(x[-1], NA)
  points <- oracle_embed(x, 3)
  y[c(4, 17:30, 55)] <- NA
  for (bits in c(1, 256, 512)) for (k in c(12, 40, 116)) {
    found <- called(points, 3:119, 3:120, y, c(0, 2, 9), k = k, bits = bits)
    expected <- oracle_smap(points, 3:119, 3:120, y, c(0, 2, 9), k = k)
    for (part in names(found)) expect_lt(difference(found[[part]], expected[[part]]), 1e-9)
  }
  # The nearest has no target, and the next ones weigh almost nothing beside it.
  points <- cbind(c(0, 1e-3, 1, 2, 3, 4, 5))
  found <- called(points, 2:7, 1, c(9, NA, 10, 20, 31, 40, 52), c(3, 1e6), k = 6)
  expected <- oracle_smap(points, 2:7, 1, c(9, NA, 10, 20, 31, 40, 52), c(3, 1e6), k = 6)
  expect_lt(difference(found$predictions, expected$predictions), 1e-9)
  # No neighbour has one.
  y[3:60] <- NA
  found <- called(points = oracle_embed(x, 3), 3:60, 61:62, y, 2)
  expect_identical(unique(unlist(found)), NA_real_)
})

test_that("theta 0 is the linear model of all other points", {
  x <- series(80)
  points <- oracle_embed(x, 2)
  y <- c(x[-1], NA)
  found <- called(points, 2:79, 80L, y, 0, k = 78)
  fit <- stats::lm(y[2:79] ~ points[2:79, ])
  expect_lt(difference(found$coefficients[1, , 1], stats::coef(fit)), 1e-12)
})

test_that("of the farthest, that which comes last in the order of ties is left out", {
  set.seed(11)
  for (case in 1:20) {
    x <- matrix(rpois(60, 0.7) + 0, 30)
    expect_as_oracle(x, 1:24, c(3, 25:30), rnorm(30), 1, k = 23, tolerance = 1e-7,
                     parts = c("predictions", "variance"))
  }
})

test_that("a ridge draws coefficients to 0, and only the slopes", {
  x <- series(80)
  points <- oracle_embed(x, 2)
  y <- c(x[-1], NA) + 5
  found <- called(points, 2:79, 80L, y, 0, ridge = 1e9)
  expect_lt(max(abs(found$coefficients[1, -1, 1])), 1e-6)
  near <- oracle_neighbours(points, 2:79, 80, 77)
  expect_lt(abs(found$coefficients[1, 1, 1] - mean(y[near$row])), 1e-6)
})

test_that("without neighbours everything is NA", {
  x <- series(30)
  points <- oracle_embed(x, 2)
  found <- called(points, 2:10, c(2L, 25L), c(x[-1], NA), c(0, 2), exclusion = 15)
  expect_identical(found$predictions[1, ], c(NA_real_, NA))
  expect_false(any(is.nan(unlist(found))))
  expect_true(all(is.na(found$coefficients[1, , ])) && all(is.na(found$singular[1, , ])))
  expect_true(all(is.finite(found$coefficients[2, , ])))
})

test_that("threads and company of other theta change nothing", {
  x <- series(300)
  points <- oracle_embed(x, 4)
  y <- c(x[-1], NA)
  for (k in c(30, 295)) {
    one <- called(points, 4:299, 4:300, y, c(0, 1, 3), k = k)
    for (threads in 2:4) {
      expect_identical(called(points, 4:299, 4:300, y, c(0, 1, 3), k = k, threads = threads), one)
    }
    alone <- called(points, 4:299, 4:300, y, 3, k = k, local = FALSE)
    expect_identical(alone$predictions[, 1], one$predictions[, 3])
    expect_null(alone$coefficients)
    expect_null(alone$singular)
  }
})

test_that("processors of all kinds give the same but for the last digits", {
  skip_on_cran()
  x <- series(700)
  y <- c(x[-1], NA)
  for (E in c(1, 4, 8)) {
    points <- oracle_embed(x, E)
    for (last in c(20, 271, 699)) {
      widest <- called(points, E:last, E:700, y, c(0, 3))
      for (bits in c(1, 256, 512)) {
        found <- called(points, E:last, E:700, y, c(0, 3), bits = bits)
        for (part in names(found)) expect_lt(difference(found[[part]], widest[[part]]), 1e-9)
      }
    }
  }
})

test_that("many models at a time are those made one at a time", {
  skip_on_cran()
  set.seed(3)
  for (i in 1:40) {
    n <- sample(c(40, 130, 260, 400), 1)
    E <- sample(c(1, 2, 5, 9, 16), 1)
    points <- oracle_embed(series(n) + sample(c(0, 5, 200), 1), E)
    y <- c(points[-1, 1], NA)
    if (i %% 2 == 0) y[sample(n, n / 8)] <- NA
    lib <- sort(sample(E:(n - 1), n - E - sample(0:9, 1)))
    pred <- sort(sample(E:n, sample(c(1, 11, 12, 13, 25), 1)))
    fits <- lapply(ways, \(way) {
      called(points, lib, pred, y, c(0, 0.7, 2, 5), exclusion = i %% 5, ridge = i %% 3 / 10,
             k = length(lib) - i %% 2, way = way)
    })
    for (part in names(fits$one)) {
      expect_lt(difference(fits$many[[part]], fits$one[[part]]), 1e-7)
    }
  }
})

test_that("models that normal equations would spoil are made one at a time", {
  x <- series(200)
  y <- c(x[-1], NA)
  lag <- oracle_embed(x, 3)
  smooth <- oracle_embed(sin(1:200 / 9), 6)
  for (points in list(cbind(lag, lag[, 1] + lag[, 2]), cbind(lag, 3), smooth)) {
    fits <- lapply(ways, \(way) called(points, 6:199, 6:200, y, c(0, 2), way = way))
    expect_identical(fits$many, fits$one)
  }
  # What a column of 1e-14 says is kept as long as its singular value counts.
  small <- cbind(lag[, 1], 1e-14 * lag[, 2])
  fits <- lapply(ways, \(way) called(small, 3:199, 3:200, y, 1, way = way))
  expect_identical(fits$many, fits$one)
})

test_that("lists of neighbours in several parts are one", {
  skip_on_cran()
  # 8 MB of neighbours at a time: 1,500 x 700 pairs of 12 bytes take two parts
  x <- series(1500)
  points <- oracle_embed(x, 1)
  y <- c(x[-1], NA)
  found <- called(points, 1:1499, 1:1500, y, 2, k = 700, local = FALSE, threads = 2)
  some <- c(1, 700, 1000, 1250, 1500)
  expected <- oracle_smap(points, 1:1499, some, y, 2, k = 700)
  expect_lt(difference(found$predictions[some, ], expected$predictions), 1e-9)
})

test_that("Ctrl-C stops it", {
  skip_on_cran()
  expect_interrupted(quote({
    x <- data.frame(time = 1:60000, x = sin((1:60000)^1.3))
    begin()
    synfire::smap(x, E = 6, theta = 2, threads = 2)
  }))
})

# ---- Published results ---------------------------------------------------------------

test_that("rEDM's circle, univariate", {
  x <- read.csv(shared_data("edm/redm/circle.csv"))
  expected <- read.csv(shared_data("edm/redm/SMap_circle_E4_valid.csv"))
  found <- smap(x, "x", lib = c(1, 100), pred = c(110, 160), E = 4, theta = 3)
  expect_identical(nrow(found$predictions), nrow(expected))
  expect_equal(found$predictions$Time, expected$Time)
  for (part in c("Observations", "Predictions", "Pred_Variance")) {
    expect_identical(is.na(found$predictions[[part]]), is.na(expected[[part]]))
    expect_lt(max(abs(found$predictions[[part]] - expected[[part]]), na.rm = TRUE), 1e-6)
  }
  expect_named(found$coefficients, c("Time", "C0", paste0("\u2202x/\u2202x(t-", 0:3, ")")))
  expect_named(found$singular_values, c("Time", paste0("C", 0:4)))
})

test_that("rEDM's circle, embedded", {
  x <- read.csv(shared_data("edm/redm/circle.csv"))
  expected <- read.csv(shared_data("edm/redm/SMap_circle_E2_embd_valid.csv"))
  found <- smap(x, "x y", "x", lib = "1 200", pred = "1 200", E = 2, theta = 3, embedded = TRUE)
  expect_equal(found$predictions$Time, expected$Time)
  # Each point has two that are farthest from it, at the same distance. One of them is left
  # out, not always the one that rEDM leaves out.
  within <- c(Predictions = 1e-6, Pred_Variance = 5e-6)
  for (part in names(within)) {
    expect_identical(is.na(found$predictions[[part]]), is.na(expected[[part]]))
    expect_lt(max(abs(found$predictions[[part]] - expected[[part]]), na.rm = TRUE),
              within[[part]])
  }
  # x(t + 1) = cos(s) x(t) + sin(s) y(t), where a step s is 4 pi / 199
  turn <- 4 * pi / 199
  expect_lt(max(abs(found$coefficients[["\u2202x/\u2202x"]] - cos(turn)), na.rm = TRUE), 1e-4)
  expect_lt(max(abs(found$coefficients[["\u2202x/\u2202y"]] - sin(turn)), na.rm = TRUE), 1e-4)
})

test_that("kEDM's logistic map with many theta", {
  x <- read.csv(shared_data("edm/kedm/logistic_map.csv"), fileEncoding = "UTF-8-BOM")
  expected <- as.matrix(read.csv(shared_data("edm/kedm/smap_valid_logistic_map.csv"))[-1])
  theta <- c(0, 0.01, 0.1, 0.3, 0.5, 0.75, 1:9)
  for (i in seq_along(theta)) {
    found <- smap(x, "x", E = 2, theta = theta[[i]])$predictions$Predictions[-1]
    expect_lt(max(abs(found - expected[, i])), 5e-2)
  }
})

# ---- What the user sees --------------------------------------------------------------

frame <- function(n) data.frame(time = seq(2000, by = 0.5, length.out = n), x = series(n))

test_that("tables hold what was fitted, at the time that is predicted", {
  x <- frame(60)
  points <- oracle_embed(x$x, 3)
  found <- smap(x, "x", lib = c(1, 40), pred = c(30, 60), E = 3, Tp = 2, theta = 1.5)
  expected <- oracle_smap(points, 3:38, 30:60, c(x$x[-(1:2)], NA, NA), 1.5)
  expect_s3_class(found, "smap")
  expect_named(found, c("predictions", "coefficients", "singular_values"))
  time <- c(x$time[30:60], x$time[[60]] + c(0.5, 1))
  for (part in found) expect_equal(part$time, time)
  blank <- c(NA, NA)
  expect_equal(found$predictions$Observations, c(x$x[30:60], blank))
  expect_equal(found$predictions$Predictions, c(blank, expected$predictions))
  expect_equal(found$predictions$Pred_Variance, c(blank, expected$variance))
  expect_equal(unname(as.matrix(found$coefficients[-1])),
               rbind(NA, NA, expected$coefficients[, , 1]))
  expect_equal(unname(as.matrix(found$singular_values[-1])),
               rbind(NA, NA, expected$singular[, , 1]))
  expect_false(any(vapply(found$coefficients, \(v) any(is.nan(v)), NA)))
  parameters <- attr(found$predictions, "parameters")
  expect_identical(parameters$theta, 1.5)
  expect_identical(parameters$knn, 35L)
})

test_that("a negative Tp and a positive tau keep to their rows", {
  x <- frame(60)
  found <- smap(x, "x", E = 2, Tp = -2, tau = 1, theta = 1)
  points <- oracle_embed(x$x, 2, tau = 1)
  lib <- which(!is.na(found$predictions$Predictions))
  expect_named(found$coefficients, c("time", "C0", "\u2202x/\u2202x(t+0)", "\u2202x/\u2202x(t+1)"))
  fit <- as.matrix(found$coefficients[-1])
  for (t in c(5, 20, 50)) {
    at <- found$predictions$time == x$time[[t]] & !is.na(found$predictions$Predictions)
    expect_identical(sum(at), 1L)
    expect_equal(found$predictions$Predictions[at], sum(fit[at, ] * c(1, points[t + 2, ])))
  }
})

test_that("rows with missing values are neither library nor prediction", {
  x <- frame(80)
  x$y <- rev(x$x)
  x$x[c(20, 41)] <- NA
  x$y[c(30, 31)] <- NA
  points <- oracle_embed(x$x, 2)
  target <- c(x$y[-1], NA)
  pred <- which(!is.na(rowSums(points)))
  expected <- oracle_smap(points, setdiff(pred, 80), pred, target, 2)
  found <- smap(x, "x", "y", E = 2, theta = 2)$predictions
  at <- match(x$time[pmin(pred + 1, 80)], found$time)[pred < 80]
  expect_equal(found$Predictions[at], expected$predictions[pred < 80])
  expect_identical(sum(!is.na(found$Predictions)), length(pred))
  expect_false(any(is.nan(found$Predictions)))
})

test_that("several columns have a coefficient for each lag", {
  x <- frame(50)
  x$y <- sin(1:50)
  found <- smap(x, c("x", "y"), "y", E = 2, theta = 1)
  expect_named(found$coefficients, c("time", "C0", paste0(
    "\u2202y/\u2202", c("x(t-0)", "x(t-1)", "y(t-0)", "y(t-1)")
  )))
  points <- cbind(oracle_embed(x$x, 2), oracle_embed(x$y, 2))
  expected <- oracle_smap(points, 2:49, 2:50, c(x$y[-1], NA), 1)
  expect_equal(found$predictions$Predictions[-1], drop(expected$predictions))
})

test_that("dates, segments and masks are those of simplex()", {
  x <- data.frame(date = as.Date("2020-01-01") + 0:59, x = series(60), trial = rep(1:2, each = 30))
  by_trial <- smap(x, "x", E = 3, theta = 1, segments = "trial")$predictions
  of_simplex <- simplex(x, "x", E = 3, segments = "trial")
  expect_s3_class(by_trial$date, "Date")
  expect_identical(by_trial[1:2] |> as.data.frame(), of_simplex[1:2] |> as.data.frame())
  expect_identical(is.na(by_trial$Predictions), is.na(of_simplex$Predictions))
  mask <- seq_len(60) %% 2 == 0
  masked <- smap(x, "x", E = 2, theta = 1, valid_lib = mask)$predictions
  points <- oracle_embed(x$x, 2)
  lib <- seq(2, 58, by = 2)
  expected <- oracle_smap(points, lib, 2:60, c(x$x[-1], NA), 1, k = length(lib))
  expect_equal(masked$Predictions[-1], drop(expected$predictions))
})

test_that("all rows that valid_lib leaves are neighbours", {
  x <- frame(60)
  mask <- seq_len(60) != 7
  found <- smap(x, "x", lib = c(1, 40), pred = c(7, 60), E = 2, theta = 2, valid_lib = mask)
  points <- oracle_embed(x$x, 2)
  lib <- setdiff(2:39, 7)
  expected <- oracle_smap(points, lib, 7:60, c(x$x[-1], NA), 2, k = length(lib))
  expect_equal(found$predictions$Predictions[-1], drop(expected$predictions))
  expect_identical(attr(found$predictions, "parameters")$knn, 37L)
})

test_that("forecasts feed on themselves", {
  n <- 200
  x <- data.frame(time = seq_len(n), x = logistic(n))
  found <- smap(x, "x", E = 2, theta = 8, generate = 5)
  truth <- logistic(n + 5)
  expect_identical(nrow(found$predictions), 6L)
  expect_equal(found$predictions$time, 200:205)
  expect_lt(max(abs(found$predictions$Predictions[2:4] - truth[201:203])), 0.05)
  # The second model at the first two forecasts gives the third value.
  fit <- as.matrix(found$coefficients[-1])
  value <- c(x$x, found$predictions$Predictions[-1])
  for (k in 1:5) {
    expect_equal(value[[n + k]], sum(fit[k + 1, ] * c(1, value[n + k - 1:2])))
  }
  expect_true(all(is.na(fit[1, ])))
  expect_identical(dim(found$singular_values), c(6L, 4L))
  once <- smap(x, "x", E = 2, theta = 8)$predictions
  expect_equal(found$predictions$Predictions[[2]], once$Predictions[[nrow(once)]])
})

test_that("predict_nonlinear() is smap() at each theta", {
  x <- data.frame(time = 1:150, x = logistic(150))
  theta <- c(0, 0.5, 3)
  found <- predict_nonlinear(x, "x", lib = c(1, 100), pred = c(101, 150), theta = theta, E = 2)
  expect_s3_class(found, "edm_skill")
  expect_named(found, c("Theta", "rho"))
  expect_identical(found$Theta, theta)
  rho <- vapply(theta, \(th) {
    smap(x, "x", lib = c(1, 100), pred = c(101, 150), theta = th, E = 2)$predictions |>
      prediction_error() |>
      getElement("rho")
  }, 0)
  expect_equal(found$rho, rho)
  expect_identical(attr(found, "optimal"), 3)
  expect_lt(found$rho[[1]], 0.95)
  expect_gt(found$rho[[3]], 0.99)
})

test_that("bad arguments are named", {
  x <- frame(20)
  expect_error(smap(x, "x", E = 2, theta = -1), class = "synfire_error_argument")
  expect_error(smap(x, "x", E = 2, theta = c(1, 2)), class = "synfire_error_argument")
  expect_error(smap(x, "x", E = 2, ridge = -1), class = "synfire_error_argument")
  expect_error(smap(x, "x", E = 30), class = "synfire_error_argument")
  expect_error(smap(x, "x"), "`E` must be", class = "synfire_error_argument")
  expect_error(predict_nonlinear(x, "x", E = 2, theta = -1:3), class = "synfire_error_argument")
  expect_error(predict_nonlinear(x, "x", E = 2, theta = NULL), class = "synfire_error_argument")
  x$x <- NA_real_
  expect_error(smap(x, "x", E = 2), class = "synfire_error_argument")
})

test_that("print, summary and as.data.frame say what it is", {
  found <- smap(frame(40), "x", E = 2, theta = 2)
  shown <- capture.output(expect_identical(print(found, n = 3), found))
  expect_match(shown[[1]], "^S-map: 39 of 40 rows predicted|^S-map: ")
  expect_true(any(grepl("^\\$coefficients", shown)))
  expect_identical(summary(found), summary(found$predictions))
  expect_identical(as.data.frame(found), as.data.frame(found$predictions))
})

test_that("smap() keeps its state, takes pairs in any order and all of a small library", {
  x <- frame(60)
  pairs <- c(31, 60, 20, 40)
  found <- smap(x, "x", E = 2, theta = 2, pred = pairs, include_state = TRUE)
  state <- attr(found, "state")
  expect_identical(dim(state$neighbours), dim(state$distances))
  expect_identical(nrow(state$neighbours), length(state$pred))
  expect_identical(state$pred, c(31:60, 20:40))
  slow <- oracle_smap(unname(state$points), state$lib, state$pred, state$target, 2)
  known <- !is.na(found$predictions$Predictions)
  expect_equal(found$predictions$Predictions[known], slow$predictions[, 1], tolerance = 1e-6)
  expect_equal(unname(as.matrix(found$coefficients[known, -1])), slow$coefficients[, , 1],
               tolerance = 1e-6)
  expect_null(attr(smap(x, "x", E = 2), "state"))
  nonlinear <- predict_nonlinear(x, "x", E = 2, theta = 2, pred = pairs)
  expect_equal(nonlinear$rho, prediction_error(found$predictions)$rho)
  expect_warning(all <- smap(x, "x", E = 2, lib = c(1, 20), knn = 30), "has 18 points",
                 class = "synfire_warning_knn")
  expect_identical(all$predictions$Predictions,
                   smap(x, "x", E = 2, lib = c(1, 20), knn = 18)$predictions$Predictions)
})
