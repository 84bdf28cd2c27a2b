said <- function(w, ...) {
  found <- truth_links(w, ...)
  paste(found$cause, found$effect, found$link)
}

test_that("links of motifs are told apart", {
  expect_identical(said(wiring("chain")),
                   c("x01 x02 direct", "x01 x03 mediated", "x02 x03 direct"))
  expect_identical(said(wiring("common_driver")), c(
    "x01 x02 direct", "x03 x02 common driver", "x01 x03 direct", "x02 x03 common driver"
  ))
  expect_identical(said(wiring("fan_in")), c("x01 x03 direct", "x02 x03 direct"))
  found <- truth_links(wiring("triangle", delay = 2, strength = 0.1))
  expect_identical(found$through, c(NA, NA, "x02", NA))
  expect_identical(found$drivers, c(NA, "x01", NA, "x01"))
  expect_identical(found$delay, c(2, NA, 2, 2))
  expect_identical(found$strength, c(0.1, NA, 0.1, 0.1))
  # In a loop each drives each, and none two others past each other.
  loop <- truth_links(wiring("loop", size = 4))
  expect_identical(as.vector(table(loop$link)), c(4L, 8L, 0L))
  expect_identical(loop$through[loop$cause == "x01" & loop$effect == "x04"], "x02, x03")
  expect_identical(nrow(truth_links(wiring(matrix(0, 3, 3)))), 0L)
})

test_that("what goes on through hidden series is marked", {
  chain <- wiring("chain", hidden = "x02", delay = 2)
  found <- truth_links(chain)
  expect_identical(said(chain), "x01 x03 mediated")
  expect_identical(found$through, "x02")
  expect_identical(found$delay, 4)
  expect_identical(found$length, 2L)
  expect_true(found$hidden_path)
  found <- truth_links(wiring("hidden_driver"))
  expect_identical(found$hidden_driver, c(TRUE, TRUE))
  expect_identical(found$drivers, c("h01", "h01"))
  # A hidden driver of a driver that is seen can be taken into account.
  w <- wiring(data.frame(cause = c("h", "a", "a"), effect = c("a", "b", "c")), hidden = "h")
  found <- truth_links(w)
  expect_false(any(found$hidden_driver))
})

test_that("all columns are those of the slow search", {
  set.seed(4)
  kinds <- character()
  for (case in cases(60)) {
    n <- sample(2:9, 1)
    m <- matrix(rbinom(n^2, 1, runif(1, 0.05, 0.4)) * (1 - diag(n)), n)
    w <- wiring(m, delay = matrix(sample(4, n^2, TRUE), n), hidden = sample(n, sample(0:(n - 1), 1)))
    longest <- sample(c(1, 2, 3, Inf), 1)
    found <- truth_links(w, longest)
    expect_identical(found, slow_pairs(w, longest))
    kinds <- c(kinds, as.character(found$link), if (any(found$hidden_path)) "path",
               if (any(found$hidden_driver)) "driver")
  }
  expect_setequal(kinds, c("direct", "mediated", "common driver", "path", "driver"))
})

test_that("paths are followed as far as one likes", {
  w <- wiring("chain", size = 6)
  expect_identical(sum(truth_links(w)$link == "mediated"), 10L)
  expect_identical(sum(truth_links(w, max_length = 2)$link == "mediated"), 4L)
  expect_identical(unique(said(w, max_length = 1)), sprintf("x%02d x%02d direct", 1:5, 2:6))
})

test_that("a matrix says the same of each pair", {
  w <- wiring(c("triangle", "hidden_driver"))
  found <- truth_links(w)
  m <- truth_links(w, as = "matrix")
  expect_identical(dimnames(m), rep(list(sprintf("x%02d", 1:5)), 2))
  expect_true(all(is.na(diag(m))))
  expect_identical(m[cbind(found$cause, found$effect)], as.character(found$link))
  expect_identical(sum(m == "none", na.rm = TRUE), 20L - nrow(found))
})

test_that("every simulation knows its wiring, and says when it was lost", {
  set.seed(1)
  x <- simulate_calcium(5)
  found <- truth_links(x)
  direct <- found[found$link == "direct", ]
  expect_identical(nrow(direct), sum(attr(x, "truth") > 0))
  expect_identical(attr(x, "truth")[cbind(direct$cause, direct$effect)], direct$strength)
  ring <- truth_links(simulate_lorenz96(5, 6))
  expect_identical(sum(ring$link == "direct"), 18L)
  expect_true(all(is.na(ring$delay)))
  expect_error(truth_links(x[1:3, ]), "takes the wiring away", class = "synfire_error_argument")
  expect_error(truth_links(x, max_length = 0), "`max_length` must be",
               class = "synfire_error_argument")
  expect_error(truth_links(x, as = "list"), "`as` must be", class = "synfire_error_argument")
})

test_that("more pairs than there is room for are refused", {
  w <- wiring("fan_in", size = 40)
  call <- rlang::current_env()
  expect_error(wired_pairs(w, Inf, call, most = 38), "max_length", class = "synfire_error")
  expect_identical(length(wired_pairs(w, Inf, call, most = 39)$cause), 39L)
})
