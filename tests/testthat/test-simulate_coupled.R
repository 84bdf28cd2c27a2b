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

test_that("series with delays and hidden drivers go on as the slow ones", {
  set.seed(12)
  for (case in 1:4) {
    n <- 5
    w <- wiring(matrix(rbinom(n^2, 1, 0.4) * (1 - diag(n)) * runif(n^2, 0, 0.2), n),
                delay = matrix(sample(4, n^2, TRUE), n), hidden = case)
    r <- runif(n, 3.5, 4)
    # The same seed draws the same start.
    key_of <- function() {
      set.seed(case)
      random_key()
    }
    start <- 0.1 + 0.8 * random_uniform(n, key_of(), sim_stream(3))
    set.seed(case)
    x <- simulate_coupled_maps(21, w, r = r, transient = case)
    slow <- slow_maps(w, "logistic", r, start, 21, case)
    expect_equal(unname(x[, ]), slow[, -case], tolerance = 1e-8)
    expect_identical(colnames(x), sprintf("x%02d", 1:n)[-case])
    # Whether a series is seen changes no other.
    set.seed(case)
    seen <- simulate_coupled_maps(21, wiring(as.data.frame(w)[1:4], series = w$series), r = r,
                                  transient = case)
    expect_identical(seen[, -case], x[, ])
  }
})

test_that("a result knows strength and delay of its links", {
  w <- wiring(c(chain = 2, hidden_driver = 1), delay = 2)
  x <- simulate_coupled_maps(10, w, strength = 0.07)
  truth <- matrix(0, 8, 8, dimnames = rep(list(sprintf("x%02d", 1:8)), 2))
  truth[cbind(c(1, 2, 4, 5), c(2, 3, 5, 6))] <- 0.07
  expect_identical(attr(x, "truth"), truth)
  expect_identical(attr(x, "delay"), 2 * (truth > 0))
  expect_identical(as.data.frame(attr(x, "wiring"))$strength, rep(0.07, 6))
  # Strengths that a wiring has stay.
  x <- simulate_coupled_maps(10, wiring("pair", strength = 0.3), strength = 0.1)
  expect_identical(attr(x, "truth")[["x01", "x02"]], 0.3)
  # What wiring() takes may be given in its place.
  set.seed(1)
  one <- simulate_coupled_maps(10, c(chain = 2))
  set.seed(1)
  expect_identical(simulate_coupled_maps(10, wiring(c(chain = 2))), one)
  expect_error(simulate_coupled_maps(10, wiring("fan_in", strength = 0.6)),
               "what drives \"x03\" sums to 1.2", class = "synfire_error_argument")
  expect_error(simulate_coupled_maps(10, "ring"), "`wiring` must be names of motifs",
               class = "synfire_error_argument")
})

test_that("many series are wired without a dense matrix", {
  skip_if_not_installed("Matrix")
  set.seed(2)
  x <- simulate_coupled_maps(10, c(chain = 2000), transient = 10)
  expect_identical(dim(x), c(10L, 6000L))
  expect_true(all(is.finite(x)))
  expect_s4_class(attr(x, "truth"), "dgCMatrix")
  expect_identical(sum(attr(x, "truth") == 0.05), 4000L)
  expect_identical(sum(attr(x, "delay")), 4000)
  expect_identical(attr(x, "truth")["x0004", "x0005"], 0.05)
  again <- wiring(attr(x, "truth"))
  expect_identical(as.data.frame(again)[1:4], as.data.frame(attr(x, "wiring"))[1:4])
  expect_identical(dim(truth_links(x)), c(6000L, 10L))
  expect_error(truth_links(x, as = "matrix"), "`as` must be \"table\"")
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
