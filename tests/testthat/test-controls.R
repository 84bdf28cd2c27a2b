# The tables of tools/controls, which are in the sources and not in the package: what a
# question changes, and that its judge says no where it should.
controls <- function() {
  folder <- test_path("..", "..", "tools", "controls")
  skip_if_not(dir.exists(folder), "the sources are not here")
  names <- new.env()
  for (part in c("recordings.R", "analyses.R", "questions.R")) {
    sys.source(file.path(folder, part), names)
  }
  names
}

test_that("each recording is asked by analyses that there are, and of its own kind", {
  tables <- controls()
  for (recording in tables$recordings) {
    expect_true(all(names(recording$analyses) %in% names(tables$analyses)), recording$name)
    kinds <- vapply(tables$analyses[names(recording$analyses)], `[[`, "", "kind")
    expect_length(unique(kinds), 1L)
  }
  asked <- unique(unlist(lapply(tables$recordings, \(one) names(one$analyses))))
  expect_setequal(asked, names(tables$analyses))
})

test_that("a unit that is moved by itself keeps its spikes, and loses the others", {
  tables <- controls()
  withr::local_seed(1)
  time <- sort(sample(1e6, 300)) / 1e4
  data <- tables$as_spikes(rep(time, 2), rep(c("a", "b"), each = 300), 0, 100, grid = 1e-4)
  data$reach <- 0.2
  together <- \(x) length(intersect(x$time[x$unit == "a"], x$time[x$unit == "b"]))
  for (change in list(tables$rotated, tables$jittered)) {
    moved <- change(data, 1, 1)
    expect_gte(min(table(moved$unit)), 290)
    expect_lt(together(moved), 10)
    expect_true(all(moved$time >= 0 & moved$time <= 100))
  }
  gaps <- \(x) sort(diff(sort(x$time[x$unit == "a"])))
  expect_equal(stats::median(gaps(tables$rotated(data, 1, 1))), stats::median(gaps(data)),
               tolerance = 0.1)
  # Nor do they keep any other lag.
  moved <- tables$rotated(data, 1, 1)
  of <- \(unit) moved$time[moved$unit == unit]
  expect_lt(max(table(round(outer(of("a"), of("b"), "-"), 4))), 60)
  expect_lte(max(abs(tables$jittered(data, 1, 1)$time[1:300] - time)), 1 + 1e-9)
})

test_that("half of the series are moved, and the others stay", {
  tables <- controls()
  x <- matrix(rnorm(80), 20, dimnames = list(NULL, letters[1:4]))
  data <- tables$as_series(x)
  data$other <- matrix(rnorm(60), 30)
  for (change in list(tables$shifted, tables$reversed, tables$foreign)) {
    moved <- change(data, 1, 1)
    expect_identical(moved$moved, c("b", "d"))
    expect_identical(moved$x[, c("a", "c")], x[, c("a", "c")])
  }
  expect_identical(tables$shifted(data, 1, 1)$x[, "b"], c(x[11:20, "b"], x[1:10, "b"]))
  expect_setequal(tables$reversed(data, 1, 1)$x[, "d"], x[, "d"])
  expect_true(all(tables$foreign(data, 1, 1)$x[, "d"] %in% data$other))
})

test_that("rates above what is stated fail, and those within do not", {
  tables <- controls()
  fails <- \(...) !tables$judge_rate("claims", ...)[[1L]]$holds
  expect_false(fails(rep(0:1, c(19, 1)), rep(1, 20), 0.05))
  expect_true(fails(rep(0:1, 10), rep(1, 20), 0.05))
  # 50 tests of a draw that all go together are no 50 tests.
  together <- rep(c(0, 50), c(6, 2))
  expect_true(fails(rep(12.5, 8), rep(50, 8), 0.07))
  expect_false(fails(together, rep(50, 8), 0.07))
})

test_that("a rho above 0 and p values below 0.05 are told from none", {
  tables <- controls()
  withr::local_seed(2)
  holds <- function(rho, p) {
    draws <- lapply(1:8, \(k) data.frame(rho = rho + rnorm(32, 0, 0.05), p = p(32)))
    vapply(tables$judge_impossible(list(), draws), `[[`, NA, "holds")
  }
  expect_identical(holds(0, runif), c(TRUE, TRUE))
  expect_identical(holds(0.1, \(n) runif(n)^2), c(FALSE, FALSE))
})

test_that("answers that differ are told from the same ones", {
  tables <- controls()
  question <- list(tolerance = 1e-4, random = FALSE)
  holds <- function(after, q = question) {
    before <- list(fixed = c(a = 1, b = NA), chance = c(a = 0.5), n = 99, found = c("x", "y"))
    vapply(tables$judge_same(q, list(), before, utils::modifyList(before, after)),
           `[[`, NA, "holds")
  }
  expect_identical(holds(list()), c(TRUE, TRUE, TRUE))
  expect_identical(holds(list(fixed = c(b = NA, a = 1.001))), c(FALSE, TRUE, TRUE))
  expect_identical(holds(list(fixed = c(a = 1, b = 1))), c(FALSE, TRUE, TRUE))
  expect_identical(holds(list(chance = c(a = 0.9))), c(TRUE, FALSE, TRUE))
  expect_identical(holds(list(found = "x")), c(TRUE, TRUE, FALSE))
  silent <- holds(list(fixed = c(a = 1, b = NA, "A silent one > a" = 0.9)))
  expect_identical(silent, c(FALSE, TRUE, TRUE, TRUE))
  expect_identical(holds(list(fixed = c(a = 1, b = NA, "A silent one > a" = NA))), rep(TRUE, 3))
  other <- list(tolerance = 1e-4, random = TRUE)
  expect_identical(holds(list(chance = c(a = 0.6)), other)[[2L]], TRUE)
  expect_identical(holds(list(chance = c(a = 0.02)), other)[[2L]], FALSE)
})
