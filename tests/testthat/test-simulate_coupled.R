test_that("set.seed() decides the simulation", {
  simulate <- function() {
    set.seed(7)
    simulate_coupled_maps(50, series = 5, noise = 0.1)
  }
  x <- simulate()
  expect_identical(simulate(), x)
  expect_false(identical(c(simulate_coupled_maps(50, series = 5, noise = 0.1)), c(x)))
  expect_identical(dim(x), c(50L, 5L))
  expect_true(all(is.finite(x)))
  expect_identical(dimnames(attr(x, "truth")), list(colnames(x), colnames(x)))
  expect_true(all(diag(attr(x, "truth")) == 0))
})

test_that("coupled maps go on as their equation says", {
  set.seed(1)
  wiring <- matrix(c(0, 0.1, 0, 0, 0, 0.2, 0.05, 0, 0), 3,
                   dimnames = rep(list(c("a", "b", "c")), 2))
  r <- c(3.9, 3.8, 3.95)
  x <- simulate_coupled_maps(40, wiring, r = r)
  expect_identical(attr(x, "truth"), wiring)
  for (t in 1:39) {
    f <- r * x[t, ] * (1 - x[t, ])
    for (j in 1:3) {
      into <- sum(wiring[, j])
      expect_equal(x[[t + 1, j]], (1 - into) * f[[j]] + sum(wiring[, j] * f))
    }
  }
  expect_true(all(x > 0 & x < 1))
})

test_that("a random wiring has so many causes of each series, of the same strength", {
  set.seed(2)
  x <- simulate_coupled_maps(10, series = 12, causes = 3, strength = 0.07)
  truth <- attr(x, "truth")
  expect_identical(dim(truth), c(12L, 12L))
  expect_true(all(colSums(truth > 0) == 3))
  expect_true(all(truth %in% c(0, 0.07)))
  # Drawn anew, and from all others.
  expect_false(identical(attr(simulate_coupled_maps(10, series = 12, causes = 3,
                                                    strength = 0.07), "truth"), truth))
  expect_true(all(rowSums(attr(simulate_coupled_maps(5, series = 4, causes = 3), "truth") > 0)
                  == 3))
})

test_that("noise is so large a share of the series and leaves what it is added to", {
  quiet <- function(noise) {
    set.seed(3)
    simulate_coupled_maps(2000, series = 3, noise = noise)
  }
  x <- quiet(0)
  noise <- quiet(0.2) - x
  expect_equal(unname(apply(noise, 2, sd) / apply(x, 2, sd)), rep(0.2, 3), tolerance = 0.05)
  expect_lt(max(abs(cor(noise)[upper.tri(diag(3))])), 0.08)
})

test_that("series without chance in their wiring are those of earlier versions", {
  set.seed(11)
  x <- simulate_coupled_maps(3, series = 3, noise = 0.1, transient = 10)
  expect_identical(which(attr(x, "truth") > 0), c(2L, 3L, 4L, 6L, 7L, 8L))
  expect_equal(c(x), c(
    0.88301090942804139, 0.33344015313573172, 0.89392628390104401,
    0.30924219553513094, 0.84230599794525529, 0.71131583944812071,
    0.798389987579051, 0.5870275655459628, 0.97188282186773645
  ), tolerance = 1e-10)
})

# Coupled maps with delays, one number after the other; before the first step all series are as
# at the start. The matrix steps x series.
slow_maps <- function(wiring, delay, r, start, steps, transient) {
  past <- matrix(start, 1L)
  before <- function(j, delay) past[[max(1, nrow(past) + 1 - delay), j]]
  f <- function(j, delay) r[[j]] * before(j, delay) * (1 - before(j, delay))
  for (t in seq_len(transient + steps)) {
    now <- vapply(seq_along(start), function(j) {
      from <- which(wiring[, j] > 0)
      sent <- vapply(from, \(i) wiring[[i, j]] * f(i, delay[[i, j]]), 0)
      (1 - sum(wiring[, j])) * f(j, 1) + sum(sent)
    }, 0)
    past <- rbind(past, now, deparse.level = 0)
  }
  past[1 + transient + seq_len(steps), , drop = FALSE]
}

test_that("series with delays go on as the slow ones, and know strength and delay", {
  set.seed(12)
  for (case in 1:4) {
    n <- 5
    wiring <- matrix(rbinom(n^2, 1, 0.4) * (1 - diag(n)) * runif(n^2, 0, 0.2), n)
    delay <- matrix(sample(4, n^2, TRUE), n)
    r <- runif(n, 3.5, 4)
    # The same seed draws the same start.
    set.seed(case)
    start <- 0.1 + 0.8 * random_uniform(n, random_key(), sim_stream(3))
    set.seed(case)
    x <- simulate_coupled_maps(21, wiring, delay, r = r, transient = case)
    expect_equal(unname(x[, ]), slow_maps(wiring, delay, r, start, 21, case), tolerance = 1e-8)
    expect_identical(unname(attr(x, "truth")), wiring)
    expect_equal(unname(attr(x, "delay")), delay * (wiring > 0))
  }
  x <- simulate_coupled_maps(5, wiring, delay = 2)
  expect_identical(unname(attr(x, "delay")), 2 * (wiring > 0))
})

test_that("arguments that cannot be are refused by name", {
  expect_error(simulate_coupled_maps(0), "`steps` must be", class = "synfire_error_argument")
  expect_error(simulate_coupled_maps(10, matrix(0.1, 2, 2)), "`wiring` must be")
  expect_error(simulate_coupled_maps(10, matrix(0, 2, 3)), "`wiring` must be")
  expect_error(simulate_coupled_maps(10, matrix(c(0, 1.5, 0, 0), 2)), "sums to 1.5")
  expect_error(simulate_coupled_maps(10, series = 3, causes = 3), "`causes` must be")
  expect_error(simulate_coupled_maps(10, series = 3, r = c(3.8, 3.9)), "`r` must be")
  expect_error(simulate_coupled_maps(10, series = 3, r = 4.1), "`r` must be")
  pair <- rbind(c(0, 0.1), 0)
  expect_error(simulate_coupled_maps(10, pair, delay = 0), "`delay` must be")
  expect_error(simulate_coupled_maps(10, pair, delay = 1:2), "`delay` must be")
  expect_error(simulate_coupled_maps(10, pair, delay = 1.5), "`delay` must be")
  same <- `colnames<-`(pair, c("a", "a"))
  expect_error(simulate_coupled_maps(10, same), "a name of its own")
  expect_error(simulate_coupled_maps(10, -pair), "negative strength")
})

test_that("defaults fit any number of series, and what is too much is refused", {
  set.seed(1)
  expect_identical(dim(simulate_coupled_maps(5, series = 2)), c(5L, 2L))
  expect_identical(dim(simulate_coupled_maps(5, series = 1)), c(5L, 1L))
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(simulate_coupled_maps(2^31), "at most 2 GB")
  refused(simulate_coupled_maps(series = 2^31), "`series` must")
  refused(simulate_coupled_maps(transient = 2^31), "`transient` must")
  refused(simulate_coupled_maps(r = structure(3.9, class = "integer64")), "`r` must")
})
