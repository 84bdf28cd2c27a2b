# What spikes become before they are mined: bins and windows. A window's whole content is
# a closed pattern, so that mining down to one occurrence shows it.
content <- function(x, bin, window, ..., min_spikes = 1, min_count = 1) {
  found <- mine_patterns(x, bin, window, min_spikes = min_spikes, min_count = min_count, ...)
  sort(mined_lines(found))
}

train <- function(ticks, units, ...) {
  spikes_outside(spike_trains(ticks / 1000, factor(units, LETTERS[1:3]), resolution = 1e-3, ...))
}

test_that("a bin goes from its first tick up to, and without, the next one's", {
  x <- train(c(0, 4, 5, 9, 10), c("A", "B", "A", "C", "C"), start = 0)
  expect_identical(content(x, 0.005, 1), sort(c("0 1 (1)", "0 2 (1)", "0 (2)", "2 (2)")))
  # The same spikes, counted from one tick earlier.
  x <- train(c(0, 4, 5, 9, 10), c("A", "B", "A", "C", "C"), start = -0.001)
  expect_identical(content(x, 0.005, 1), sort(c("0 1 (1)", "0 (2)", "2 (1)")))
})

test_that("several spikes of a unit in a bin are one", {
  x <- train(c(0, 1, 2, 3, 10, 14), c("A", "A", "B", "A", "A", "B"), start = 0)
  expect_identical(content(x, 0.005, 1), "0 1 (2)")
  expect_identical(content(x, 0.005, 3), sort(c("0 1 (2)", "0 1 6 7 (1)")))
})

test_that("bins need not divide the recording, which may end within one", {
  x <- train(c(0, 7, 8), c("A", "B", "C"), start = 0, end = 0.008)
  expect_identical(content(x, 0.003, 1), sort(c("0 (1)", "1 2 (1)")))
  expect_identical(content(x, 1, 1), "0 1 2 (1)")
  expect_error(content(x, 1, 2), "has 1 bin of", class = "synfire_error_argument")
})

test_that("windows open at bins with spikes only, and are cut short at the end", {
  x <- train(c(0, 2, 9), c("A", "B", "C"), start = 0, end = 0.1)
  expect_identical(content(x, 0.001, 1), sort(c("0 (1)", "1 (1)", "2 (1)")))
  # Lags of 2, 7 and 9 bins: windows of 8 bins hold the first two of them.
  expect_identical(content(x, 0.001, 8), sort(c("0 7 (1)", "1 23 (1)", "2 (1)")))
  expect_identical(content(x, 0.001, 10), sort(c("0 7 29 (1)", "1 23 (1)", "2 (1)")))
  expect_identical(content(x, 0.001, 101), content(x, 0.001, 10))
  expect_error(content(x, 0.001, 102), "has 101 bins of", class = "synfire_error_argument")
})

test_that("no window crosses from one trial into the next", {
  trials <- data.frame(start = c(0, 0.010), end = c(0.008, 0.020))
  x <- train(c(0, 8, 9, 10, 13), c("A", "B", "C", "A", "B"), trials = trials)
  # Trials of their own clock: bins begin with them. The spike between them is out.
  expect_identical(content(x, 0.003, 4), sort(c("0 7 (1)", "0 4 (1)", "0 (2)", "1 (2)")))
  expect_error(content(x, 0.003, 5), "the longest trial, which has 4 bins",
               class = "synfire_error_argument")
  expect_identical(content(x, 0.001, 11), sort(c("0 25 (1)", "0 10 (1)", "0 (2)", "1 (2)")))
  # The tick that two trials share belongs to the later one.
  trials <- data.frame(start = c(0, 0.005), end = c(0.005, 0.010))
  x <- train(c(0, 5, 6), c("A", "B", "C"), trials = trials)
  expect_identical(content(x, 0.001, 6), sort(c("0 (1)", "1 5 (1)", "2 (1)")))
  # Trials without spikes, before, between and after.
  trials <- data.frame(start = 0:5, end = 0:5 + 0.5)
  x <- train(c(1000, 1001, 4000, 4001), c("A", "B", "A", "B"), trials = trials)
  expect_identical(content(x, 0.001, 2), sort(c("0 4 (2)", "1 (2)")))
  expect_identical(content(x, 0.001, 501), sort(c("0 4 (2)", "1 (2)")))
})

test_that("times may be negative or large", {
  for (offset in c(-1e9, -7, 0, 1e9, 2^50)) {
    x <- train(offset + c(0, 3, 10, 13), c("A", "B", "A", "B"))
    expect_identical(content(x, 0.001, 5, min_count = 2), sort(c("0 10 (2)", "1 (2)")))
  }
})

test_that("silent units and recordings without spikes are fine", {
  x <- train(c(0, 1), c("C", "C"))
  expect_identical(content(x, 0.001, 2), sort(c("2 (2)", "2 5 (1)")))
  none <- train(numeric(), character(), start = 0, end = 1)
  for (engine in c("closure", "fpgrowth")) {
    found <- mine_patterns(none, 0.001, 5, engine = engine)
    expect_s3_class(found, c("patterns", "itemsets", "synfire_result"), exact = TRUE)
    expect_length(found, 0L)
    expect_identical(found$items, integer())
    expect_identical(attr(found, "units"), c("A", "B", "C"))
  }
  nobody <- spike_trains(numeric(), character(), start = 0, end = 1)
  expect_length(mine_patterns(nobody, 0.001, 1001), 0L)
  expect_length(mine_patterns(nobody, 0.001, 5, shifted_subsets = "drop"), 0L)
  outside <- train(c(100, 101), c("A", "B"), trials = data.frame(start = 0, end = 0.05),
                   end = 0.2)
  expect_length(mine_patterns(outside, 0.001, 5, min_spikes = 1, min_count = 1), 0L)
})
