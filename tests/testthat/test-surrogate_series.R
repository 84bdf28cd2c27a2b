logistic <- function(n, r = 3.8, x = 0.2) {
  for (t in seq_len(n - 1)) x[[t + 1]] <- r * x[[t]] * (1 - x[[t]])
  x
}

power <- function(x) Mod(stats::fft(x))^2

test_that("set.seed() decides surrogates, and the number of them nothing", {
  x <- logistic(60)
  for (method in c("shuffle", "phase", "seasonal", "twin")) {
    draw <- \(n, seed = 5) {
      set.seed(seed)
      surrogate_series(x, n, method, period = if (method == "seasonal") 12)
    }
    few <- draw(3)
    expect_identical(dim(few), c(60L, 3L))
    expect_identical(draw(7)[, 1:3], few)
    expect_false(anyDuplicated(t(few)) > 0)
    expect_false(identical(draw(3, seed = 6), few))
    expect_true(all(is.finite(few)))
  }
})

test_that("shuffled series have the same values, and NA in their rows", {
  x <- replace(logistic(50), c(1, 7, 50), NA)
  set.seed(1)
  s <- surrogate_series(x, 200, "shuffle")
  expect_true(all(is.na(s) == is.na(x)))
  expect_true(all(apply(s, 2, \(v) identical(sort(v), sort(x)))))
  # Every value comes to every row.
  expect_lt(max(abs(rowMeans(s) - mean(x, na.rm = TRUE)), na.rm = TRUE),
            5 * sd(x, na.rm = TRUE) / sqrt(200))
})

test_that("a random phase keeps the spectrum, odd and even", {
  for (n in c(2, 3, 64, 65)) {
    x <- 10 + logistic(n)
    set.seed(2)
    s <- surrogate_series(x, 50, "phase")
    expect_equal(apply(s, 2, power), matrix(power(x), n, 50))
    expect_equal(colMeans(s), rep(mean(x), 50))
    expect_equal(apply(s, 2, sd), rep(sd(x), 50))
  }
  # Phases are uniform: the mean over surrogates is the mean of the series, flat.
  expect_lt(max(abs(rowMeans(surrogate_series(x, 2000, "phase")) - mean(x))),
            5 * sd(x) / sqrt(2000))
  expect_true(all(abs(cor(x, s)) < 0.6))
})

test_that("seasonal surrogates are the seasons' means and shuffled rests", {
  season <- rep(c(5, 1, -3, 2), length.out = 42)
  x <- season + logistic(42)
  x[c(3, 20)] <- NA
  set.seed(3)
  s <- surrogate_series(x, 400, "seasonal", period = 4)
  means <- vapply(1:4, \(k) mean(x[seq(k, 42, by = 4)], na.rm = TRUE), 1)[(0:41) %% 4 + 1]
  expect_true(all(is.na(s) == is.na(x)))
  for (k in 1:5) expect_equal(sort(s[, k] - means), sort(x - means))
  expect_lt(max(abs(rowMeans(s) - means), na.rm = TRUE), 5 * sd(x - means, TRUE) / sqrt(400))
  # A ts knows its period.
  set.seed(3)
  expect_identical(surrogate_series(ts(x, frequency = 4), 400, "seasonal"), s)
  # A season that was never observed.
  gone <- replace(x, seq(2, 42, by = 4), NA)
  expect_identical(is.na(surrogate_series(gone, 2, "seasonal", period = 4)[, 1]), is.na(gone))
  expect_false(any(is.nan(surrogate_series(gone, 2, "seasonal", period = 4))))
  expect_false(any(is.nan(surrogate_series(c(NaN, x), 2, "shuffle"))))
})

# Twins as they are defined: equal rows of the whole recurrence matrix.
slow_twins <- function(x, E, tau, recurrence) {
  rows <- seq_along(x)
  rows <- rows[rows + (E - 1) * tau >= 1 & rows + (E - 1) * tau <= length(x)]
  point <- sapply(seq_len(E) - 1, \(e) x[rows + e * tau])
  distance <- as.matrix(dist(matrix(point, length(rows)), "maximum"))
  radius <- sort(distance[row(distance) != col(distance)])
  near <- distance <= radius[[ceiling(recurrence * length(radius))]]
  twins <- matrix(FALSE, length(x), length(x))
  for (i in seq_along(rows)) for (j in seq_along(rows)) {
    twins[rows[[i]], rows[[j]]] <- all(near[i, ] == near[j, ])
  }
  twins
}

test_that("twin surrogates go from a row to the next row of one of its twins", {
  x <- logistic(150)
  cases <- list(list(2, -1, 0.1), list(1, -1, 0.05), list(2, 2, 0.2), list(3, -1, 0.2))
  for (case in cases) {
    twins <- do.call(slow_twins, c(list(x), case))
    set.seed(4)
    s <- surrogate_series(x, 20, "twin", E = case[[1]], tau = case[[2]],
                          recurrence = case[[3]])
    at <- matrix(match(s, x), nrow(s))
    expect_false(anyNA(at))
    from <- at[-nrow(at), ]
    to <- at[-1, ]
    expect_true(all(twins[cbind(c(from), c(to) - 1L)]))
    # Jumps do happen.
    expect_true(any(to != from + 1L))
  }
})

test_that("every twin is as likely", {
  # Period 2 with a twist: rows 2, 4, 6 are twins, and so are 1, 3, 5.
  x <- c(1, 2, 1, 2, 1, 2, 1)
  set.seed(6)
  s <- surrogate_series(x, 50, "twin", E = 1, recurrence = 0.4)
  expect_true(all(abs(diff(s)) == 1))
  exits <- synfire:::twin_exits(c(1, 2, 1, 2, 1, 2, 1))
  expect_identical(exits, list(c(2L, 4L, 6L), c(3L, 5L, 7L)))
  # Of 4 > 5 > 6 nothing leads back: 4, whose twin is 1, is left for 2 alone.
  expect_identical(synfire:::twin_exits(c(1, 2, 3, 1, 4, 5)),
                   list(2L, 3L, 4L, integer(), integer()))
})

test_that("wrong series and arguments are explained", {
  wrong <- function(expr, message, ...) {
    expect_error(expr, message, ..., class = "synfire_error_argument")
  }
  x <- logistic(40)
  wrong(surrogate_series(letters), "`x` must be a numeric vector")
  wrong(surrogate_series(1), "`x` must be a numeric vector of at least two")
  wrong(surrogate_series(data.frame(x)), "`x` must be a numeric vector")
  wrong(surrogate_series(c(x, -Inf)), "-Inf in row 41")
  wrong(surrogate_series(c(x, NA), surrogate = "phase"), "without NA for `surrogate = \"phase\"`")
  wrong(surrogate_series(c(NA, x), surrogate = "twin"), "NA in 1 rows, the first of them row 1")
  wrong(surrogate_series(x, 0), "`n_surrogates` must be")
  wrong(surrogate_series(x, surrogate = "fourier"), "`surrogate` must be")
  wrong(surrogate_series(x, surrogate = "seasonal"), "`period` must be")
  wrong(surrogate_series(x, surrogate = "seasonal", period = 1), "`period` must be")
  wrong(surrogate_series(x, surrogate = "seasonal", period = 41), "`period` must be")
  wrong(surrogate_series(x, surrogate = "twin", tau = 0), "`tau` must be")
  wrong(surrogate_series(x, surrogate = "twin", E = 0), "`E` must be")
  wrong(surrogate_series(x, surrogate = "twin", E = 41), "`x` must be longer")
  wrong(surrogate_series(x, surrogate = "twin", recurrence = 0), "`recurrence` must be")
  wrong(surrogate_series(1:40, surrogate = "twin", recurrence = 0.01), "too few twins")
})

test_that("the Fourier transform of a prime length is that of fft()", {
  skip_on_cran()
  for (n in c(1009, 2018)) {
    x <- sin(seq_len(n)^1.5) + 3
    expect_lt(max(Mod(fourier(x) - fft(x))), 1e-9)
    expect_lt(max(Mod(fourier(fft(x), TRUE) / n - x)), 1e-11)
  }
  expect_identical(largest_factor(2 * 3 * 1009), 1009)
  expect_identical(largest_factor(64), 2)
  x <- sin(seq_len(200003) / 7)
  # With the square of the length this takes minutes.
  expect_length(surrogate_series(x, 1, "phase"), 200003)
})

test_that("what is no series is named", {
  skip_on_cran()
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(surrogate_series(), "`x` must be a numeric vector")
  refused(surrogate_series(structure(c(1, 2), class = "integer64")), "integer64")
  refused(surrogate_series(mean), "a function")
  refused(surrogate_series(matrix(1:4, 2)), "`x` must")
  refused(surrogate_series(1:10, 2^31), "at most 4 GB")
  refused(surrogate_series(1:10, surrogate = character()), "`surrogate` must be")
  refused(surrogate_series(1:10, surrogate = NA), "`surrogate` must be")
  refused(surrogate_series(1:10, surrogate = "twin", tau = 2^31), "`tau` must")
})

test_that("an argument of another method is refused", {
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(surrogate_series(1:10, period = 3), "`period` must be left out with `surrogate = \"phase\"`")
  refused(surrogate_series(1:10, surrogate = "phase", E = 3), "`E` must be left out")
  refused(surrogate_series(1:10, surrogate = "seasonal", period = 3, recurrence = 0.2),
          "`recurrence` must be left out")
  x <- coupled_maps(40, 0.1, 0.1)
  refused(ccm(x, "x", "y", E = 2, period = 4), "`period` must be left out")
  refused(ccm(x, "x", "y", E = 2, surrogate = "noise"), "`surrogate` must be")
})

test_that("the seasonal cycle may be a spline, and noise be added", {
  set.seed(4)
  x <- sin(2 * pi * (1:240) / 24) + rnorm(240, sd = 0.2)
  x[c(7, 100)] <- NA
  season <- (seq_along(x) - 1) %% 24 + 1
  known <- !is.na(x)
  # Three rounds, so that the end of a round meets its beginning.
  at <- c(season[known] - 24, season[known], season[known] + 24)
  cycle <- predict(smooth.spline(at, rep(x[known], 3)), season)$y
  set.seed(1)
  made <- surrogate_series(x, 5, "seasonal", period = 24, spline = TRUE)
  for (k in 1:5) {
    expect_identical(is.na(made[, k]), is.na(x))
    expect_equal(sort(made[, k] - cycle), sort(x - cycle))
  }
  # It is smoother than the means of seasons, and close to what was put in.
  round <- cycle[1:24]
  expect_lt(max(abs(round - sin(2 * pi * (1:24) / 24))), 0.15)
  expect_lt(abs(round[[24]] - round[[1]]), 2 * max(abs(diff(round))))

  set.seed(1)
  noisy <- surrogate_series(x, 5, "seasonal", period = 24, spline = TRUE, alpha = 3)
  noise <- (noisy - made)[known, ]
  expect_lt(abs(sd(noise) / 3 - 1), 0.1)
  expect_lt(abs(mean(noise)), 0.5)
  expect_lt(abs(cor(noise[, 1], noise[, 2])), 0.2)
  expect_identical(is.na(noisy), is.na(made))
  set.seed(1)
  plain <- surrogate_series(x, 2, "seasonal", period = 24)
  set.seed(1)
  noisy <- surrogate_series(x, 2, "seasonal", period = 24, alpha = 1e-9)
  expect_equal(noisy, plain, tolerance = 1e-7)

  constant <- surrogate_series(rep(2, 20), 2, "seasonal", period = 4, spline = TRUE)
  expect_equal(constant, matrix(2, 20, 2))
  one <- surrogate_series(c(1, NA, NA, NA), 1, "seasonal", period = 4, spline = TRUE)
  expect_equal(one, cbind(c(1, NA, NA, NA)))
  expect_true(all(is.na(surrogate_series(rep(NA_real_, 6), 1, "seasonal", period = 3, spline = TRUE))))
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(surrogate_series(x, 1, "seasonal", period = 24, spline = NA), "`spline` must")
  refused(surrogate_series(x, 1, "seasonal", period = 24, alpha = -1), "`alpha` must")
  refused(surrogate_series(x, 1, "shuffle", alpha = 1), "`alpha` must be left out")
  refused(surrogate_series(x, 1, "twin", spline = TRUE), "`spline` must be left out|without NA")
})

test_that("twins are the points with one and the same row of the recurrence matrix", {
  set.seed(3)
  x <- round(sin(1:230 / 3) + rnorm(230, sd = 0.1), 1)
  points <- cbind(x[-1], x[-230])
  for (share in c(0.02, 0.2, 1)) {
    near <- as.matrix(dist(points, "maximum")) <= recurrence_radius(points, share)
    row <- apply(near + 0, 1, paste, collapse = "")
    expect_identical(twin_groups(points, share), match(row, unique(row)))
  }
})
