test_that("set.seed() decides every simulation", {
  simulators <- list(
    \() simulate_coupled_maps(50, series = 5, noise = 0.1),
    \() simulate_lorenz96(50, series = 5, noise = 0.1),
    \() simulate_calcium(50, neurons = 12)
  )
  for (simulate in simulators) {
    set.seed(7)
    x <- simulate()
    set.seed(7)
    expect_identical(simulate(), x)
    expect_false(identical(c(simulate()), c(x)))
    expect_identical(nrow(x), 50L)
    expect_true(all(is.finite(x)))
    expect_identical(dimnames(attr(x, "truth")), list(colnames(x), colnames(x)))
    expect_true(all(diag(attr(x, "truth")) == 0))
  }
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

test_that("a Lorenz ring goes on as its equation says", {
  set.seed(4)
  n <- 6
  x <- simulate_lorenz96(10, series = n, forcing = 8, interval = 0.05)
  # Euler's method with steps so small that it needs no order.
  euler <- function(x, time, h = 1e-5) {
    for (k in seq_len(round(time / h))) {
      slope <- vapply(seq_len(n), \(j) {
        at <- \(k) x[[(k - 1) %% n + 1]]
        (at(j + 1) - at(j - 2)) * at(j - 1) - at(j) + 8
      }, 0)
      x <- x + h * slope
    }
    x
  }
  expect_equal(unname(x[2, ]), euler(unname(x[1, ]), 0.05), tolerance = 1e-3)
  truth <- attr(x, "truth")
  expect_identical(unname(truth[, 1]), c(0, 1, 0, 0, 1, 1))
  expect_identical(unname(truth[, 5]), c(0, 0, 1, 1, 0, 1))
})

test_that("both conditions of a calcium recording differ in the links that were said", {
  condition <- function(which, ...) {
    set.seed(5)
    simulate_calcium(60, neurons = 20, condition = which, ...)
  }
  rest <- condition("rest")
  stimulus <- condition("stimulus")
  region <- attr(rest, "region")
  hubs <- attr(rest, "hubs")
  expect_identical(attr(stimulus, "region"), region)
  expect_identical(as.vector(table(region)), rep(5L, 4))
  expect_identical(hubs, c("n01", "n06", "n11", "n16"))
  at_rest <- attr(rest, "truth")
  expected <- at_rest
  expected["n01", setdiff(colnames(rest)[region == "hindbrain"], hubs)] <- 0.2
  expected["n06", region != "habenula"] <- 0
  expect_identical(attr(stimulus, "truth"), expected)
  expect_true(all(at_rest[, hubs] == 0))
  # Every other neuron has one cause in its region, besides the hubs.
  local <- at_rest[!rownames(at_rest) %in% hubs, !colnames(at_rest) %in% hubs]
  expect_true(all(colSums(local > 0) == 1))
  expect_false(any(rest == stimulus))
})

test_that("calcium decays with its time constant", {
  set.seed(6)
  plain <- \(decay) {
    set.seed(6)
    simulate_calcium(200, neurons = 8, regions = c("a", "b"), decay = decay, noise = 0)
  }
  # Undo the decay: what is left is the activity, the same for both but for its scale.
  activity <- \(x, decay) x[-1, 1] - exp(-0.5 / decay) * x[-200, 1]
  expect_equal(cor(activity(plain(1), 1), activity(plain(3), 3)), 1)
  expect_lt(cor(activity(plain(1), 1), activity(plain(3), 1)), 0.999)
})

test_that("two neurons of the last region turn the fish, as the equation says", {
  set.seed(8)
  x <- simulate_calcium(300, neurons = 9, regions = c("a", "b"), strength = 0, noise = 0)
  turned_by <- attr(x, "turned_by")
  expect_identical(turned_by, c(left = "n07", right = "n08"))
  # Activity but for its scale: the calcium that a frame adds to what is left of the last.
  added <- 1 + x[-1, turned_by] - exp(-0.5 / 1.5) * (1 + x[-300, turned_by])
  # The scale: without links the logarithm of growth is r - r a.
  activity <- apply(added, 2, \(u) {
    line <- coef(lm(log(u[-1] / u[-length(u)]) ~ u[-length(u)]))
    -u * line[[2]] / line[[1]]
  })
  turning <- attr(x, "turning")
  expect_identical(turning[[1]], 0)
  # Frames 3 on: activity is that of frames 2 on.
  expect_equal(turning[3:300],
               turning[2:299] / 2 + tanh(activity[-299, "n07"] - activity[-299, "n08"]))
  expect_true(any(turning > 0.5) && any(turning < -0.5))
})

test_that("turning has noise of its own, and both conditions other turns", {
  made <- function(noise, condition = "rest") {
    set.seed(9)
    simulate_calcium(2000, neurons = 12, noise = noise, condition = condition)
  }
  quiet <- made(0)
  noisy <- made(0.2)
  noise <- attr(noisy, "turning") - attr(quiet, "turning")
  expect_equal(sd(noise) / sd(attr(quiet, "turning")), 0.2, tolerance = 0.05)
  expect_lt(max(abs(cor(noise, c(noisy) - c(quiet) |> matrix(2000)))), 0.08)
  expect_false(any(attr(made(0.2, "stimulus"), "turning") == attr(noisy, "turning")))
  expect_identical(attr(simulate_calcium(1), "turning"), 0)
})

test_that("arguments that cannot be are refused by name", {
  expect_error(simulate_coupled_maps(0), "`steps` must be", class = "synfire_error_argument")
  expect_error(simulate_coupled_maps(10, matrix(0.1, 2, 2)), "`wiring` must be")
  expect_error(simulate_coupled_maps(10, matrix(0, 2, 3)), "`wiring` must be")
  expect_error(simulate_coupled_maps(10, matrix(c(0, 1.5, 0, 0), 2)), "sums to 1.5")
  expect_error(simulate_coupled_maps(10, series = 3, causes = 3), "`causes` must be")
  expect_error(simulate_coupled_maps(10, series = 3, r = c(3.8, 3.9)), "`r` must be")
  expect_error(simulate_coupled_maps(10, series = 3, r = 4.1), "`r` must be")
  expect_error(simulate_lorenz96(10, series = 3), "`series` must be")
  expect_error(simulate_lorenz96(10, interval = 0), "`interval` must be")
  expect_error(simulate_calcium(10, regions = "all"), "`regions` must be")
  expect_error(simulate_calcium(10, neurons = 11), "`neurons` must be")
  expect_error(simulate_calcium(10, condition = "sleep"), "`condition` must be")
})

test_that("defaults fit any number of series, and what is too much is refused", {
  set.seed(1)
  expect_identical(dim(simulate_coupled_maps(5, series = 2)), c(5L, 2L))
  expect_identical(dim(simulate_coupled_maps(5, series = 1)), c(5L, 1L))
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  refused(simulate_lorenz96(interval = 2^31 - 1), "`interval` must be at most 2000")
  refused(simulate_lorenz96(forcing = 1e6), "`forcing` must be so small")
  refused(simulate_coupled_maps(2^31), "at most 2 GB")
  refused(simulate_coupled_maps(series = 2^31), "`series` must")
  refused(simulate_calcium(neurons = 2^31), "`neurons` must")
  refused(simulate_lorenz96(transient = 2^31), "`transient` must")
  refused(simulate_calcium(decay = 1e300), "`decay` must")
  refused(simulate_coupled_maps(r = structure(3.9, class = "integer64")), "`r` must")
  expect_false(anyNA(simulate_calcium(1)))
})
