# Row 1 of a verdict, y:x, is about x driving y; row 2 about y driving x.

test_that("a driver of white noise is found, and the wrong way round cannot be told", {
  for (seed in 1:4) {
    set.seed(seed)
    said <- verdict_of(noise_driver())
    expect_identical(said$verdict, c("supported", "cannot be told"))
    expect_identical(said$supported, c(TRUE, NA))
    expect_identical(said$lag[[1]], -3L)
    expect_true(said$reason[[2]] %in% c("linear", "noise"))
  }
  expect_match(said$words[[1]], "supports that x drives y, directly or through others", fixed = TRUE)
  expect_match(said$words[[1]], "y tells best what x was 3 rows before")
  expect_match(said$words[[2]], "cannot be told whether y drives x, because x is (poorly )?predicted from")
})

test_that("a verdict does not hang on library sizes, and set.seed() decides it", {
  x <- coupled_maps(300, 0, 0.1)
  sizes <- list(NULL, Inf, c(20, 200), c(5, 50, 100, 299))
  found <- lapply(sizes, \(size) {
    set.seed(3)
    summary(ccm(x, "y", "x", E = 2, lib_sizes = size, samples = 5, threads = 2))
  })
  for (one in found) {
    expect_identical(one$supported, c(TRUE, FALSE))
    expect_identical(one$words, found[[1]]$words)
  }
  set.seed(3)
  one <- ccm(x, "y", "x", E = 2, lib_sizes = Inf, threads = 1)
  before <- .Random.seed
  expect_identical(summary(one)$words, found[[1]]$words)
  expect_identical(.Random.seed, before)
})

test_that("both directions are found, and one alone says what it says with the other", {
  set.seed(2)
  x <- coupled_maps(500, 0.12, 0.12, ry = 3.7)
  both <- verdict_of(x)
  expect_identical(both$supported, c(TRUE, TRUE))
  set.seed(2)
  one <- verdict_of(x, both = FALSE)
  expect_identical(one$direction, "y:x")
  expect_identical(one$words, both$words[[1]])
})

test_that("series that have nothing to do with each other are not supported", {
  skip_on_cran()
  supported <- vapply(1:6, \(seed) {
    set.seed(seed)
    x <- data.frame(time = 1:300, x = coupled_maps(320)$x[20 + 1:300],
                    y = coupled_maps(300 + 10 * seed, ry = 3.9)$y[10 * seed + 1:300])
    said <- verdict_of(x)
    expect_false(any(said$supported %in% TRUE))
    sum(!is.na(said$supported))
  }, 0L)
  expect_gt(sum(supported), 6)
})

test_that("a common driver does not make a cause", {
  skip_on_cran()
  found <- vapply(1:5, \(seed) {
    set.seed(seed)
    z <- x <- y <- runif(1, 0.2, 0.8)
    for (t in 1:499) {
      z[[t + 1]] <- 3.9 * z[[t]] * (1 - z[[t]])
      x[[t + 1]] <- x[[t]] * (3.7 - 3.7 * x[[t]] - 0.2 * z[[t]])
      y[[t + 1]] <- y[[t]] * (3.75 - 3.75 * y[[t]] - 0.2 * z[[t]])
    }
    any(verdict_of(data.frame(time = 1:500, x, y))$supported %in% TRUE)
  }, NA)
  expect_false(any(found))
})

test_that("a common driver with delays does not make a cause", {
  # Whichever it reaches first; the last ones are strong.
  wirings <- list(list(delay = c(1, 3), strength = 0.2), list(delay = c(3, 1), strength = 0.2),
                  list(delay = c(1, 2), strength = 0.3))
  for (wiring in wirings) for (seed in 1:3) {
    set.seed(seed)
    z <- x <- y <- runif(3, 0.2, 0.8)
    for (t in 3:499) {
      push <- wiring$strength * z[t + 1 - wiring$delay]
      z[[t + 1]] <- 3.9 * z[[t]] * (1 - z[[t]])
      x[[t + 1]] <- x[[t]] * (3.7 - 3.7 * x[[t]] - push[[1]])
      y[[t + 1]] <- y[[t]] * (3.75 - 3.75 * y[[t]] - push[[2]])
    }
    seen <- data.frame(time = 1:500, x = x + rnorm(500, sd = 0.005), y = y + rnorm(500, sd = 0.005))
    expect_false(any(verdict_of(seen)$supported %in% TRUE))
  }
})

test_that("series in step cannot be told, whoever drives", {
  for (mutual in c(FALSE, TRUE)) for (seed in 1:3) {
    set.seed(seed)
    x <- runif(1, 0.2, 0.8)
    y <- runif(1, 0.2, 0.8)
    for (t in 1:399) {
      now <- c(3.8 * x[[t]] * (1 - x[[t]]), 3.79 * y[[t]] * (1 - y[[t]]))
      x[[t + 1]] <- if (mutual) 0.55 * now[[1]] + 0.45 * now[[2]] else now[[1]]
      y[[t + 1]] <- if (mutual) 0.45 * now[[1]] + 0.55 * now[[2]] else 0.9 * now[[1]] + 0.1 * now[[2]]
    }
    seen <- data.frame(time = 1:400, x = x + rnorm(400, sd = 0.002), y = y + rnorm(400, sd = 0.002))
    expect_identical(verdict_of(seen)$reason, c("in step", "in step"))
  }
})

test_that("a season in common does not make a cause", {
  round <- exp(sin(2 * pi * 1:360 / 12))
  for (seed in 1:3) {
    set.seed(seed)
    x <- data.frame(month = 1:360, x = round + rnorm(360, sd = 0.4),
                    y = 2 * c(round[-(1:3)], round[1:3]) + rnorm(360, sd = 0.6))
    expect_identical(verdict_of(x)$verdict, rep("cannot be told", 2))
  }
  # What grows round this season by itself has states, but nothing of the other's.
  told <- vapply(1:3, \(seed) {
    x$x <- round / 5 + coupled_maps(360 + 10 * seed)$x[10 * seed + 1:360]
    x$y <- round / 5 + coupled_maps(400, ry = 3.9)$y[41:400]
    set.seed(seed)
    said <- verdict_of(x)
    expect_false(any(said$supported %in% TRUE))
    any(said$supported %in% FALSE)
  }, NA)
  expect_true(all(told))
})

test_that("a delay is found, and the other direction is not supported", {
  for (delay in 2:4) for (seed in 1:2) {
    set.seed(10 * delay + seed)
    x <- coupled_maps(420 + seed, 0, 0)$x[20 + seed + 1:400]
    y <- runif(400, 0.3, 0.6)
    for (t in delay:399) {
      y[[t + 1]] <- y[[t]] * (3.6 - 3.6 * y[[t]] - 0.25 * x[[t + 1 - delay]])
    }
    said <- verdict_of(data.frame(time = 1:400, x, y))
    expect_identical(said$supported, c(TRUE, FALSE))
    expect_lte(said$lag[[1]], -delay)
    expect_gte(said$lag[[1]], -delay - 3)
  }
})

test_that("each obstacle is told by its name, with the numbers", {
  reasons <- function(x, ...) {
    set.seed(4)
    said <- verdict_of(x, ...)
    expect_true(all(said$verdict == "cannot be told"))
    expect_true(all(is.na(said$supported)))
    expect_match(said$words, "^It cannot be told whether [xy] drives [xy], because ")
    list(reason = said$reason, words = said$words)
  }
  x <- coupled_maps(300, 0, 0.1)
  short <- reasons(x[1:90, ])
  expect_identical(short$reason, rep("short", 2))
  expect_match(short$words[[1]], "only 7[0-9] rows can be used, and a verdict takes 100")
  counts <- transform(x, x = round(2 * x), y = round(3 * y))
  expect_identical(reasons(counts)$reason, rep("counts", 2))
  drift <- reasons(transform(x, x = x + time / 50))
  expect_identical(drift$reason, rep("drift", 2))
  expect_match(drift$words[[1]], "the level of x changes over the recording")
  cycle <- reasons(transform(x, x = sin(2 * pi * time / 12)))
  expect_identical(cycle$reason, rep("cycle", 2))
  expect_match(cycle$words[[1]], "x goes round in 12 rows with nothing beside")
  constant <- reasons(transform(x, y = 3))
  expect_identical(constant$reason, rep("constant", 2))
  step <- reasons(transform(x, y = x + 0.001 * y))
  expect_identical(step$reason, rep("in step", 2))
  copy <- reasons(transform(x, y = c(x[3:300], x[1:2])))
  expect_identical(copy$reason, rep("copy", 2))
  expect_match(copy$words[[1]], "y is a copy of x, seen 2 rows earlier or later")
  set.seed(1)
  noisy <- transform(x, x = x + rnorm(300, sd = sd(x)), y = y + rnorm(300, sd = sd(y)))
  expect_true(all(reasons(noisy)$reason %in% c("noise", "linear")))
  linear <- data.frame(time = 1:300, x = as.double(arima.sim(list(ar = 0.7), 300)),
                       y = as.double(arima.sim(list(ar = 0.7), 300)))
  expect_true(all(reasons(linear)$reason == "linear"))
})

test_that("surrogates that were asked for can take support back", {
  set.seed(1)
  found <- ccm(noise_driver(), "y", "x", E = 2, Tp = -3, lib_sizes = Inf, n_surrogates = 5,
               threads = 2)
  expect_equal(attr(found, "convergence")$p[[1]], 1 / 6)
  said <- summary(found)
  expect_identical(said$reason[[1]], "surrogates")
  expect_match(said$words[[1]], "because the surrogates asked for are predicted as well (p 0.17)",
               fixed = TRUE)
  expect_identical(summary(found, alpha = 0.2)$supported[[1]], TRUE)
})

# One of many kinds of series: with and without seasons, drifts, counts, gaps.
random_series <- function(steps) {
  t <- seq_len(steps)
  x <- switch(
    sample(9, 1),
    rnorm(steps), cumsum(rnorm(steps)), as.double(rpois(steps, 0.4)), rep(0.1, steps),
    sin(2 * pi * t / sample(2:60, 1)) + rnorm(steps) * runif(1), sin(t * runif(1)),
    rep_len(rnorm(sample(2:30, 1)), steps), 1e6 + rnorm(steps), round(rnorm(steps), 1) * 1e200
  )
  gaps <- sample(c(0, 0.05, 0.5), 1)
  x[runif(steps) < gaps] <- NA
  if (runif(1) < 0.2) x[seq(1, steps, 2)] <- NA
  x
}

test_that("traits are those of the definitions, in segments, with gaps and on any threads", {
  set.seed(1)
  for (steps in c(2, 7, 8, 9, 30, 90, 230, 430)) {
    x <- vapply(1:12, \(k) random_series(steps), double(steps))
    first <- rep(1L, steps)
    if (steps > 50) first[20:steps] <- 20L + 25L * (0:(steps - 20) %/% 25L)
    found <- traits_of_each(x, first)
    slow <- do.call(rbind, lapply(1:12, \(k) oracle_traits(x[, k], first)))
    expect_equal(found, slow, tolerance = 1e-9)
    expect_identical(traits_of_each(x, first, threads = 2L), found)
    expect_identical(traits_of_each(x[, 12, drop = FALSE], first), found[12, ],
                     ignore_attr = "row.names")
  }
})

test_that("a series is its season and the rest", {
  set.seed(1)
  x <- c(rnorm(90) + rep(c(0, 1, 3, 1), length.out = 90), NA)
  traits <- series_traits(x, rep(1L, 91))
  expect_identical(traits$period, 4L)
  expect_equal(traits$season[1:90], ave(x[1:90], rep(1:4, length.out = 90)))
  expect_equal(traits$rest, x - traits$season)
  expect_equal(traits$repeated, 1 / 90)
  plain <- series_traits(rnorm(90), rep(1L, 90))
  expect_identical(plain$period, 0L)
  expect_equal(plain$season, rep(mean(plain$season + plain$rest), 90))
  expect_identical(series_traits(rep(3, 90), rep(1L, 90)), list(constant = TRUE))
  # Places that are always missing have no mean.
  first <- rep(c(1L, 5L), c(4, 8))
  gap <- season_means(cbind(c(1, NA, 3, 4, 5, NA, 7, 8, 9, NA, 11, 12)), first, 4L)
  expect_equal(as.vector(gap), rep(c(5, NaN, 7, 8), 3))
})

test_that("series in standard units have a mean of 0 and a deviation of 1", {
  set.seed(1)
  x <- vapply(1:20, \(k) random_series(100), double(100))
  units <- in_standard_units(x)
  constant <- traits_of_each(x, rep(1L, 100))$constant
  size <- rep(apply(abs(x), 2, max, na.rm = TRUE), each = 100)
  expect_equal(units[, !constant], unclass(scale(x / size))[, !constant], ignore_attr = TRUE)
  expect_true(all(units[, constant] == 0))
  expect_identical(in_standard_units(x, threads = 2L), units)
})

test_that("a season begins anew in each segment", {
  shape <- c(0, 2, 5, 1, 0)
  first <- rep(c(1L, 8L, 20L, 41L), c(7, 12, 21, 13))
  x <- shape[(seq_along(first) - first) %% 5 + 1]
  expect_identical(series_traits(x, first)$period, 5L)
  expect_equal(series_traits(x, first)$explained, 1)
})

test_that("chosen surrogates keep the spectrum of each segment, and gaps", {
  set.seed(1)
  first <- rep(c(1L, 31L), c(30, 40))
  x <- rnorm(70)
  traits <- series_traits(x, first)
  made <- chosen_surrogates(traits, first, 3, random_key())
  expect_identical(dim(made), c(70L, 3L))
  for (rows in list(1:30, 31:70)) {
    expect_equal(Mod(fft(made[rows, 2])), Mod(fft(traits$rest[rows])))
  }
  expect_false(isTRUE(all.equal(made[, 1], made[, 2])))
  x[c(1, 5, 6, 70)] <- NA
  made <- chosen_surrogates(series_traits(x, first), first, 2, random_key())
  expect_identical(which(is.na(made[, 1])), c(1L, 5L, 6L, 70L))
  expect_equal(filled(c(NA, 1, NA, NA, 4)), c(1, 1, 2, 3, 4))
})

test_that("evidence is what simplex projection gives", {
  x <- coupled_maps(660, 0, 0.2, rx = 3.9, ry = 3.8)[501:660, ]
  set.seed(1)
  found <- ccm(x, "y", "x", E = 2, lib_sizes = Inf, threads = 2)
  one <- evidence(attr(found, "problems")[[1]], 0.05)
  expect_identical(one$names, c(cause = "x", effect = "y"))
  E <- one$cross$E
  dims <- max(2, 160 %/% 60)
  rows <- (1 + max(dims - 1, 8)):(160 - 8)
  expect_identical(one$rows, length(rows))
  points <- sapply(seq_len(E) - 1, \(lag) c(rep(NA, lag), head(x$y, 160 - lag)))
  rest <- x$x - mean(x$x)
  expect_identical(one$traits$cause$period, 0L)
  rho <- vapply(-8:8, \(lag) {
    target <- rep(NA_real_, 160)
    target[rows] <- rest[rows + lag]
    oracle_cross_map(points, rows, rows, target, E + 1)[["rho"]]
  }, 0)
  expect_equal(one$cross$rho, rho, tolerance = 1e-9)
  expect_equal(one$cross$lags[[one$cross$past]], (-8:-1)[[which.max(rho[1:8])]])
  expect_equal(one$cross$lags[[one$cross$future]], which.max(rho[10:17]))
  expect_equal(one$gain$gain,
               1 - exp(coef(lm(log(1 - one$gain$rho) ~ log2(one$gain$sizes)))[[2]]))
  expect_equal(one$together$now, cor(x$x[rows], x$y[rows]))
  later <- vapply(-8:8, \(lag) cor(x$y[rows], x$x[rows + lag]), 0)
  expect_equal(one$together$most, later[[which.max(abs(later))]])
  expect_identical(one$together$lag, (-8:8)[[which.max(abs(later))]])
})

test_that("the help of a cause is what forecasts with it lack less", {
  set.seed(1)
  x <- coupled_maps(640, 0, 0.2, rx = 3.9, ry = 3.8)[501:640, ]
  x$y <- x$y + rnorm(140, sd = 0.02)
  problem <- attr(ccm(x, "y", "x", E = 2, lib_sizes = Inf, threads = 2), "problems")[[1]]
  problem$lags <- -2:2
  problem$dims <- 1:4
  problem$slow <- FALSE
  rows <- 6:138
  found <- forecast_help(problem, rows)
  lagged <- function(x, lag) c(rep(NA, lag), head(x, 140 - lag))
  target <- c(x$y[-1], NA)
  lacks <- function(points) {
    1 - oracle_cross_map(points, rows, rows, target, ncol(points) + 1)[["rho"]]
  }
  own <- \(E) sapply(seq_len(E) - 1, \(lag) lagged(x$y, lag))
  cause <- x$x * sd(x$y[rows]) / sd(x$x[rows])
  want <- vapply(1:2, \(values) {
    both <- function(E, lag, weight) {
      lags <- lag + seq_len(values) - 1
      lacks(cbind(own(E), weight * sapply(lags, \(lag) lagged(cause, lag))))
    }
    first <- expand.grid(E = seq_len(4 - values), lag = 0:(3 - values), weight = 0.5)
    half <- mapply(both, first$E, first$lag, first$weight)
    then <- expand.grid(E = seq_len(4 - values), lag = first$lag[[which.min(half)]],
                        weight = c(0.125, 0.25, 1, 2))
    1 - min(half, mapply(both, then$E, then$lag, then$weight)) / min(sapply(1:4, \(E) lacks(own(E))))
  }, 0)
  expect_equal(unname(found), want, tolerance = 1e-9)
  expect_named(found, c("one", "two"))
  expect_gt(found[["one"]], 0.5)
  problem$cause[1:60] <- NA
  found <- forecast_help(problem, rows)
  expect_identical(found, c(one = NA_real_, two = NA_real_))
})

test_that("a cause has to rise, to help and to do so by one value", {
  one <- function(over_now, over_future, gain, helped = c(0.6, 0.6), p = 0.01, slow = FALSE) {
    cross <- list(rho = c(0.8, 0.7, 0.6), lags = -1:1, top = 1L, past = 1L, now = 2L, future = 3L,
                  p = p, median = 0.1, over_now = over_now, over_future = over_future,
                  agree = TRUE, E = 3L)
    list(names = c(cause = "x", effect = "y"), slow = slow, together = list(now = 0.1), own = list(rho = 0.9),
         cross = cross, gain = list(gain = gain),
         helped = if (!is.null(helped)) stats::setNames(helped, c("one", "two")))
  }
  nothing <- one(0, 0, 0.05, p = 0.5)
  told <- function(...) judge(one(5, 5, ...), nothing, NA, 0.05)
  found <- told(0.17, c(0.4, 0.4))
  expect_identical(found$verdict, "supported")
  expect_match(found$said, "forecasts of y come 40 % closer to a rho of 1 once x is known")
  level <- told(0.15)
  expect_identical(level[1:2], list(verdict = "cannot be told", reason = "level"))
  expect_match(level$said, "brings rho 15 % closer to 1, and for a cause of this skill that has to be 16 % or more")
  # Too little help, or two values of x do more than one: it may be the trace of a driver of both.
  for (little in list(c(0.39, 0.4), c(0.005, -1), c(-3, -2))) {
    hidden <- told(0.5, little)
    expect_identical(hidden[1:2], list(verdict = "cannot be told", reason = "hidden"))
    expect_match(hidden$said, "come (39 %|no) closer to a rho of 1 once one value of x is known, and .* to be 40 %")
  }
  expect_identical(told(0.5, c(0.6, 0.7))$verdict, "supported")
  hidden <- told(0.5, c(0.6, 0.71))
  expect_identical(hidden[1:2], list(verdict = "cannot be told", reason = "hidden"))
  expect_match(hidden$said, "come 60 % closer .* once one value of x is known, and 71 % once two in a row")
  expect_match(hidden$said, "y tells best what x was 1 row before")
  unknown <- told(0.5, c(NA, NA))
  expect_identical(unknown$reason, "hidden")
  expect_match(unknown$said, "x is known at all lags in too few rows")
  verdict <- function(...) judge(..., NA, 0.05)$verdict
  # Each shows all signs of the other, the help but half.
  half <- c(0.15, 0.1)
  both <- judge(one(2.2, 2.1, 0.13, half), one(5, 5, 0.13), NA, 0.05)
  expect_identical(both$verdict, "supported")
  expect_match(both$said, "where a common driver would reach one of them first")
  expect_identical(verdict(one(5, 5, 0.13, half), one(1.8, 5, 0.13)), "cannot be told")
  expect_identical(verdict(one(5, 5, 0.13, half), one(5, 5, 0.11)), "cannot be told")
  expect_identical(verdict(one(5, 5, 0.13, half), one(5, 5, 0.13, c(0.1, 0.1))), "cannot be told")
  expect_identical(verdict(one(5, 5, 0.13, half), one(5, 5, 0.13, c(0.3, 0.4))), "cannot be told")
  # A slow series shows less of a cause, and what is no cause is in the way of forecasts.
  slow <- \(...) one(..., slow = TRUE)
  expect_identical(verdict(slow(1.1, 1, 0.13, c(-0.05, 0.3)), nothing), "supported")
  expect_identical(verdict(slow(0.9, 5, 0.13), nothing), "cannot be told")
  against <- judge(slow(5, 5, 0.13, c(-0.2, -0.3)), nothing, NA, 0.05)
  expect_identical(against$reason, "hidden")
  expect_match(against$said, "forecasts of y get worse once x is known (20 %", fixed = TRUE)
  expect_identical(judge(slow(-1.5, 3, 0.3, c(-0.5, -1)), one(5, 5, 0.5), NA, 0.05)$reason, "driven")
  expect_identical(verdict(slow(-1.5, 3, 0.3, c(-0.3, -1)), one(5, 5, 0.5)), "cannot be told")
  # What the other direction explains.
  cause <- one(5, 5, 0.5)
  expect_identical(judge(one(-1.5, 3, 0.3), cause, NA, 0.05)$reason, "driven")
  expect_identical(judge(one(-0.5, 3, 0.3), cause, NA, 0.05)$reason, "delay")
  expect_identical(judge(one(-0.5, 3, 0.1), cause, NA, 0.05)$reason, "driven")
})

test_that("rows drawn again weigh as often as they were drawn", {
  set.seed(1)
  x <- rnorm(12)
  y <- x + rnorm(12)
  weight <- matrix(rpois(36, 1.5), 12)
  want <- apply(weight, 2, \(w) cor(rep(x, w), rep(y, w)))
  expect_equal(weighted_rho(x, y, weight), want)
})

test_that("segments, missing values, several columns and other lags have verdicts", {
  skip_on_cran()
  set.seed(5)
  x <- coupled_maps(400, 0, 0.15)
  x$trial <- rep(letters[1:4], each = 100)
  said <- verdict_of(x, segments = "trial")
  expect_identical(said$supported[[1]], TRUE)
  expect_identical(said$rows[[1]], 4L * (100L - 16L))
  gaps <- x
  gaps$x[c(30, 31, 200)] <- NA
  gaps$y[333] <- NaN
  expect_identical(verdict_of(gaps)$supported[[1]], TRUE)
  x$z <- runif(400)
  more <- summary(ccm(x, c("y", "z"), "x", E = 2, lib_sizes = Inf, threads = 2))
  expect_identical(nrow(more), 2L)
  held <- summary(ccm(x, c("y", "z"), "x", embedded = TRUE, lib_sizes = Inf, threads = 2))
  expect_identical(held$E_ties[[1]], "2")
  expect_identical(verdict_of(x, tau = -2, Tp = -12)$cause, c("x", "y"))
  expect_identical(verdict_of(x, knn = 5, exclusion_radius = 3)$supported[[1]], TRUE)
})

# Stretches of one run of a driven pair, as long as plots of a few years are.
short_runs <- function(n, rows) {
  run <- coupled_maps(100 + n * (rows + 8), 0, 0.3)
  start <- 100 + (seq_len(n) - 1) * (rows + 8)
  data.frame(year = seq_len(rows), plot = rep(seq_len(n), each = rows),
             run[rep(start, each = rows) + seq_len(rows), c("x", "y")])
}

test_that("many replicates of few rows have a verdict", {
  skip_on_cran()
  for (shape in list(c(40, 8), c(120, 4), c(60, 5))) {
    set.seed(1)
    runs <- short_runs(shape[[1]], shape[[2]])
    said <- verdict_of(runs, segments = "plot", samples = 10)
    expect_identical(said$supported, c(TRUE, FALSE))
  }
})

test_that("more replicates are more rows, however short they are", {
  set.seed(1)
  runs <- short_runs(300, 9)
  used <- function(n, rows) {
    some <- runs[runs$plot <= n & runs$year <= rows, ]
    problem <- attr(ccm(some, "y", "x", E = 1, lib_sizes = Inf, segments = "plot"), "problems")[[1]]
    problem$lags <- lags_to_try(problem)
    problem$dims <- dimensions_to_try(problem)
    length(evidence_rows(problem))
  }
  for (rows in 3:9) {
    each <- vapply(c(20, 40, 100, 300), used, 0L, rows) / c(20, 40, 100, 300)
    expect_identical(each, rep(rows - 2 * (if (rows < 7) 1 else 2), 4))
  }
})

test_that("replicates that are too few or too short are told so, with the rows that count", {
  set.seed(1)
  said <- verdict_of(short_runs(10, 8), segments = "plot", samples = 10)
  expect_identical(said$reason, c("short", "short"))
  expect_match(said$words[[1]], "only 40 rows can be used (those with 2 rows of their segment before",
               fixed = TRUE)
})

test_that("evidence tells how far it is, and that it is done", {
  set.seed(1)
  problem <- attr(ccm(coupled_maps(300, 0, 0.3), "y", "x", E = 2, lib_sizes = Inf),
                  "problems")[[1]]
  steps <- c()
  problem$tick <- \(n) steps <<- c(steps, n)
  expect_true(!is.null(evidence(problem, 0.05)$helped))
  expect_identical(steps[[length(steps)]], Inf)
  finite <- sum(steps[is.finite(steps)])
  # As many as with_progress() counts on, or a few less.
  expect_lte(finite, 39 + 160)
  expect_gt(finite, 0.7 * (39 + 160))
})

test_that("a dimension that does not fit is told", {
  set.seed(1)
  x <- coupled_maps(400, 0, 0.15)
  fits <- summary(ccm(x, "y", "x", E = 3, lib_sizes = Inf, threads = 2))
  expect_false(any(grepl("was asked for", attr(fits, "closing"))))
  other <- summary(ccm(x, "y", "x", E = 9, lib_sizes = Inf, threads = 2))
  expect_match(attr(other, "closing"), "`E = 9` was asked for", all = FALSE)
  expect_output(print(other), "dimensions that predict\\s+best")
})

# Two Lorenz systems, the first of which may drive the second, seen every so many units of time.
two_flows <- function(n, push, every, start = c(1, 2, 20, 3, 1, 25)) {
  slope <- function(s) {
    c(10 * (s[2] - s[1]), s[1] * (30 - s[3]) - s[2], s[1] * s[2] - 8 / 3 * s[3],
      10 * (s[5] - s[4]) + push * (s[1] - s[4]), s[4] * (34 - s[6]) - s[5],
      s[4] * s[5] - 8 / 3 * s[6])
  }
  s <- start
  out <- matrix(0, n + 200, 6)
  for (t in seq_len(n + 200)) {
    for (k in seq_len(round(every / 0.005))) s <- s + 0.005 * slope(s + 0.0025 * slope(s))
    out[t, ] <- s
  }
  data.frame(time = seq_len(n), x = out[200 + seq_len(n), 1], y = out[200 + seq_len(n), 4])
}

test_that("a link of slow series is told in their own steps, which the summary names", {
  skip_on_cran()
  for (every in c(0.04, 0.08)) {
    x <- two_flows(1000, 3, every)
    set.seed(1)
    found <- ccm(x, "y", "x", E = 3, lib_sizes = Inf, threads = 2)
    used <- attr(found, "parameters")
    rows <- c(series_memory(x$x, list(first = rep(1L, 1000), last = rep(1000L, 1000))),
              series_memory(x$y, list(first = rep(1L, 1000), last = rep(1000L, 1000))))
    expect_identical(used$tau, -as.integer(round(sqrt(prod(rows)))))
    expect_identical(used$exclusion_radius, as.integer(3 * max(rows)))
    said <- summary(found)
    expect_identical(said$supported[[1]], TRUE)
    expect_false(said$supported[[2]] %in% TRUE)
    expect_match(attr(said, "closing"), "`exclusion_radius = .*` was taken", all = FALSE)
    # What is given is what is used.
    set.seed(1)
    given <- ccm(x, "y", "x", E = 3, lib_sizes = Inf, tau = used$tau, threads = 2,
                 exclusion_radius = used$exclusion_radius)
    expect_equal(as.data.frame(given), as.data.frame(found))
    expect_false(any(grepl("was taken", attr(summary(given), "closing"))))
  }
})

test_that("slow series without a link do not get one, and the half of a recording does not", {
  skip_on_cran()
  for (seed in 1:3) {
    x <- two_flows(1000, 3, 0.05, c(1, 2, 20, 3, 1, 25) + seed / 10)
    alone <- two_flows(1000, 0, 0.05, c(1, 2, 20, 3, 1, 25) + seed / 10)
    shifted <- transform(x, x = x[c(501:1000, 1:500)])
    for (one in list(alone, shifted)) {
      set.seed(seed)
      expect_false(any(verdict_of(one)$supported %in% TRUE))
    }
  }
})

test_that("rows for which a series is alike are those of its autocorrelation", {
  ends <- \(n) list(first = rep(1L, n), last = rep(n, n))
  wave <- sin(2 * pi * 1:600 / 40)
  # cos(2 pi k / 40) is above 0.6 up to k = 5.
  expect_identical(series_memory(wave, ends(600L)), 5)
  expect_identical(series_memory(coupled_maps(300)$x, ends(300L)), 1)
  expect_identical(series_memory(seq(0, 1, length.out = 300), ends(300L)), 30)
  expect_identical(series_memory(rep(c(NA, 1), 30), ends(60L)), 1)
  maps <- ccm(coupled_maps(200), "y", "x", E = 2, lib_sizes = Inf, threads = 2)
  expect_identical(unlist(attr(maps, "parameters")[c("tau", "exclusion_radius")]),
                   c(tau = -1L, exclusion_radius = 0L))
})
