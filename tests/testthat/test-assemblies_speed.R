# A sequence whose members are in the middle of their windows at speed 1, and others that fire at
# random times; and the table of that sequence.
played <- function(speed, lags = seq(0, 0.15, length.out = 6), width = 0.08, jitter = 0.002,
                   rate = 2, part = 1) {
  n <- length(speed)
  units <- sprintf("m%d", seq_along(lags))
  at <- round(cumsum(runif(n, 0.9, 1.3)), 4)
  end <- ceiling(max(at)) + 2
  fires <- matrix(runif(n * length(lags)) < part, n)
  time <- (at + width / 2 + outer(1 / speed, lags) + rnorm(length(fires), 0, jitter))[fires]
  other <- runif(rpois(1, rate * end * length(lags)), 0, end)
  x <- spike_trains(c(time, other), c(units[col(fires)[fires]],
                                      sample(units, length(other), TRUE)), start = 0, end = end)
  attr(x, "truth") <- list(
    assemblies = data.frame(width = width, units = I(list(units)), lags = I(list(lags))),
    activations = data.frame(assembly = 1L, time = at)
  )
  x
}

speeds_in <- function(a) as.data.frame(a, what = "activations")[c("speed", "order")]

test_that("planted speeds are found, also those that leave the windows", {
  set.seed(1)
  speed <- exp(runif(150, log(0.7), log(1.4)))
  a <- made_assemblies(played(speed))
  got <- speeds_in(a)$speed
  known <- !is.na(got)
  expect_gt(mean(known), 0.95)
  expect_gt(cor(log(got), log(speed), use = "complete.obs"), 0.97)
  expect_equal(unname(coef(lm(log(got) ~ log(speed)))), c(0, 1), tolerance = 0.03)
  # Without jitter and other spikes they are exact.
  got <- speeds_in(made_assemblies(played(speed, jitter = 0, rate = 0)))$speed
  expect_equal(got, speed, tolerance = 2e-3)
  # Members need not all take part, and may fire at the same lag.
  got <- speeds_in(made_assemblies(played(speed, c(0, 0, 0.05, 0.1, 0.1, 0.15, 0.15),
                                          part = 0.8)))$speed
  expect_gt(cor(log(got), log(speed), use = "complete.obs"), 0.95)
})

test_that("one speed is near 1, with little spread, and nothing is said", {
  set.seed(2)
  for (jitter in c(0.002, 0.01)) {
    a <- made_assemblies(played(rep(1, 150), jitter = jitter, part = 0.8))
    log_speed <- log(speeds_in(a)$speed)
    expect_lt(abs(median(log_speed, na.rm = TRUE)), 0.02)
    # What jitter gives a slope, and a third more.
    sd <- jitter / sqrt(0.8 * 5 * var(a$lags[[1]]))
    expect_lt(mad(log_speed, na.rm = TRUE), 1.35 * sd)
    expect_no_match(paste(summary(a)$words, collapse = " "), "times as fast")
  }
  a <- made_assemblies(played(exp(runif(150, log(0.7), log(1.4)))))
  expect_match(paste(summary(a)$words, collapse = " "),
               "Eight in ten activations are played 0\\.7[0-9]* to 1\\.3[0-9]* times as fast as")
})

test_that("moments without an activation rarely have a speed", {
  set.seed(3)
  x <- played(exp(runif(100, log(0.7), log(1.4))), rate = 4)
  truth <- attr(x, "truth")
  truth$activations <- rbind(truth$activations, data.frame(
    assembly = 1L, time = truth$activations$time + 0.45))
  got <- speeds_in(made_assemblies(x, truth))$speed
  real <- rep(c(TRUE, FALSE), 100)
  expect_gt(mean(!is.na(got[real])), 0.95)
  expect_lt(mean(!is.na(got[!real])), 0.2)
})

test_that("order is Kendall's rank correlation of first spikes and lags", {
  set.seed(4)
  x <- played(rep(1, 60), seq(0, 0.1, length.out = 6), 0.2, jitter = 0.03, part = 0.5, rate = 0.5)
  a <- made_assemblies(x)
  half <- a$widths[[1]] / 2
  slow <- vapply(a$times[[1]], \(t) {
    first <- vapply(1:6, \(m) {
      own <- x$time[x$unit == a$units[[1]][[m]]] - t - a$lags[[1]][[m]]
      own <- own[own >= -half[[m]] & own < half[[m]]]
      if (length(own)) min(own) + a$lags[[1]][[m]] else NA_real_
    }, 0)
    there <- !is.na(first)
    if (sum(there) < 3) NA_real_ else
      cor(first[there], a$lags[[1]][there], method = "kendall")
  }, 0)
  expect_true(anyNA(slow) && min(slow, na.rm = TRUE) < 0.5)
  expect_equal(speeds_in(a)$order, slow)
})

test_that("the same members backwards, in wide windows, have the opposite order", {
  set.seed(5)
  x <- played(rep(c(1, -1), 30), lags = c(-0.06, -0.02, 0.02, 0.06), width = 0.3, rate = 0)
  got <- speeds_in(made_assemblies(x))
  expect_equal(got$order, rep(c(1, -1), 30))
  # The span is shorter than the windows, so that no speed can be known.
  expect_true(all(is.na(got$speed)))
})

test_that("nothing is known of few members or lags", {
  set.seed(6)
  together <- speeds_in(made_assemblies(played(rep(1, 30), rep(0, 5))))
  expect_true(all(is.na(unlist(together))))
  two_lags <- speeds_in(made_assemblies(played(rep(1, 30), c(0, 0, 0.15, 0.15))))
  expect_true(all(is.na(unlist(two_lags))))
  three <- made_assemblies(played(rep(1, 60), c(0, 0.1, 0.2), rate = 0, part = 0.7))
  got <- speeds_in(three)
  all_there <- rowSums(three$spikes[[1]] > 0) == 3
  expect_true(any(all_there) && !all(all_there))
  expect_identical(!is.na(got$speed), all_there)
  expect_identical(!is.na(got$order), all_there)
  expect_identical(speeds_in(three[0, ]), data.frame(speed = double(), order = double()))
})

test_that("spikes of other trials are no part of an activation", {
  set.seed(7)
  x <- played(rep(c(0.8, 1.25), 40), rate = 0)
  at <- attr(x, "truth")$activations$time
  cut <- suppressMessages(spike_trains(
    x$time, as.character(x$unit), start = 0, end = attr(x, "end"), resolution = 1e-6,
    trials = data.frame(start = at, end = at + 0.17)
  ))
  # The last two members of slow ones are beyond the end of the trial.
  got <- speeds_in(suppressMessages(made_assemblies(cut, attr(x, "truth"))))$speed
  expect_equal(got[c(FALSE, TRUE)], rep(1.25, 40), tolerance = 0.05)
  expect_equal(got[c(TRUE, FALSE)], rep(0.8, 40), tolerance = 0.1)
})

test_that("an assembly that is played faster in another recording has a higher speed there", {
  set.seed(8)
  x <- played(exp(rnorm(150, 0, 0.02)), jitter = 0.004)
  y <- played(1.08 * exp(rnorm(100, 0, 0.02)), jitter = 0.004)
  found <- find_assemblies(x, max_lag = 0.3, n_surrogates = 19, threads = 1)
  elsewhere <- assembly_activations(y, found[1, ])
  before <- speeds_in(found[1, ])$speed
  there <- as.data.frame(elsewhere, what = "activations")
  expect_gt(nrow(there), 50)
  expect_equal(median(there$speed, na.rm = TRUE) / median(before, na.rm = TRUE), 1.08,
               tolerance = 0.02)
  expect_gt(median(there$order, na.rm = TRUE), 0.9)
  silent <- spike_trains(numeric(), factor(character(), levels(x$unit)), start = 0, end = 10)
  nothing <- assembly_activations(silent, found[1, ])
  expect_identical(speeds_in(nothing), data.frame(speed = double(), order = double()))
  expect_output(print(summary(nothing)), "0 activations")
})
