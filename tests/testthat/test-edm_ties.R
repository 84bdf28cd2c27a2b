# What must not change a forecast: the unit of measure, how numbers are written, and, where
# rows are at equal distance, their place in time.

slow_series <- function(n, seed, memory = 0.95) {
  withr::with_seed(seed, as.numeric(stats::filter(stats::rnorm(n), memory, "recursive")))
}

# Counts in bins of units that fire by themselves.
spike_counts <- function(rate, units, n = 800) {
  matrix(stats::rpois(n * units, rate), n)
}

test_that("counts of independent units predict neither each other nor slow series", {
  withr::local_seed(1)
  for (rate in c(0.2, 1, 4)) {
    counts <- spike_counts(rate, 12)
    slow <- vapply(1:8, \(seed) slow_series(800, seed), double(800))
    colnames(counts) <- paste0("unit", 1:12)
    colnames(slow) <- paste0("slow", 1:8)
    expect_message(map <- as.matrix(causal_map(cbind(counts, slow), E_max = 4, threads = 1)),
                   class = "synfire_message_slow")
    expect_lt(abs(mean(map[1:12, 1:12][diag(12) == 0], na.rm = TRUE)), 0.03)
    expect_lt(abs(mean(map[1:12, 13:20], na.rm = TRUE)), 0.03)
  }
})

test_that("tenths give the same as the numbers of tenths", {
  withr::local_seed(2)
  whole <- vapply(1:6, \(seed) round(6 * slow_series(400, seed, 0.7)), double(400))
  colnames(whole) <- letters[1:6]
  slow_map <- function(x) {
    suppressMessages(as.matrix(causal_map(x, E_max = 5, threads = 1)),
                     classes = "synfire_message_slow")
  }
  tenths <- whole / 10
  scaled <- scale(whole)[, ]
  for (other in list(tenths, scaled, whole * 1e-6 / 3)) {
    expect_equal(slow_map(other), slow_map(whole), tolerance = 1e-6)
  }
  frame <- \(x) data.frame(time = 1:400, x[, 1:2])
  drive <- \(x, ...) {
    withr::with_seed(3, ccm(frame(x), "a", "b", E = 3, lib_sizes = c(20, 100, 390),
                            samples = 20, threads = 1))
  }
  expect_equal(as.data.frame(drive(tenths)), as.data.frame(drive(whole)), tolerance = 1e-10)
  same <- \(f, ...) {
    expect_equal(10 * f(frame(tenths), ...)$Predictions, f(frame(whole), ...)$Predictions,
                 tolerance = 1e-10)
  }
  same(simplex, "a", E = 3, threads = 1)
  same(simplex, "a b", "b", E = 2, knn = 7, exclusion_radius = 4, threads = 1)
  same(\(...) smap(...)$predictions, "a", E = 3, theta = 2, knn = 30, threads = 1)
  expect_equal(embed_dimension(frame(tenths), "a", threads = 1)$rho,
               embed_dimension(frame(whole), "a", threads = 1)$rho, tolerance = 1e-10)
})

test_that("skill does not depend on the unit of measure", {
  x <- coupled_maps(300, 0.1, 0.02)
  for (by in c(1e-6, 1e-3, 1e6, 7)) {
    y <- x
    y[-1] <- x[-1] * by
    expect_equal(as.matrix(causal_map(as.matrix(y[-1]), E_max = 4, threads = 1)),
                 as.matrix(causal_map(as.matrix(x[-1]), E_max = 4, threads = 1)), tolerance = 1e-5)
    drive <- \(x) withr::with_seed(1, ccm(x, "x", "y", E = 2, lib_sizes = c(30, 290),
                                          samples = 20, threads = 1))
    both <- c("x:y", "y:x")
    expect_equal(as.data.frame(drive(y))[both], as.data.frame(drive(x))[both],
                 tolerance = 1e-8)
    expect_equal(simplex(y, "x", E = 2, threads = 1)$Predictions / by,
                 simplex(x, "x", E = 2, threads = 1)$Predictions, tolerance = 1e-8)
  }
})

test_that("values that lie on no grid keep every digit", {
  x <- coupled_maps(300, 0.1, 0.02)
  points <- oracle_embed(x$x, 3)
  rows <- 3:299
  found <- .Call(r_edm_simplex, points, rows, rows, cbind(c(x$x[-1], NA)),
                 list(k = 4, exclusion = 0, gpus = NULL, threads = 1))
  expect_equal(as.double(found$predictions),
               oracle_simplex(points, rows, rows, c(x$x[-1], NA))$predictions,
               tolerance = 1e-13)
})
