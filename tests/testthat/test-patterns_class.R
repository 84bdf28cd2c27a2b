argument_error <- "synfire_error_argument"

test_that("patterns have columns of their own", {
  x <- five_patterns()
  expect_identical(x$size, c(2L, 2L, 3L, 3L, 4L))
  expect_identical(x$count, c(9L, 12L, 5L, 7L, 3L))
  expect_identical(x$n_units, c(2L, 2L, 2L, 3L, 3L))
  expect_identical(x$duration, c(0.015, 0.010, 0.020, 0.025, 0.035))
  expect_identical(format(x), c("A@0 B@3", "B@0 A@2", "A@0 A@1 C@4", "C@0 B@1 A@5",
                                "A@0 B@0 C@0 A@7"))
  expect_identical(as.list(x)[[4L]], c(C = 0L, B = 1L, A = 5L))
  expect_error(x$support, class = argument_error)
})

test_that("durations are on the clock of the recording", {
  # 7 * 0.005 > 0.035 as floating point numbers.
  expect_identical(nrow(as.data.frame(subset(five_patterns(), duration <= 0.035))), 5L)
  x <- spike_trains(c(0, 1), c("A", "B"), resolution = 1e-4)
  found <- hand_patterns(list(c(A = 0, B = 3)), 1, c("A", "B"), bin_size = 0.0007,
                         recording = x)
  expect_identical(found$duration, 0.0021)
})

test_that("sort and subset know the columns of patterns", {
  x <- five_patterns()
  expect_identical(sort(x)$count, c(12L, 9L, 7L, 5L, 3L))
  expect_identical(sort(x, by = "duration", decreasing = FALSE)$count,
                   c(12L, 9L, 5L, 7L, 3L))
  expect_identical(sort(x, by = c("n_units", "count"))$count,
                   c(7L, 3L, 12L, 9L, 5L))
  expect_identical(subset(x, n_units == 3 & count > 3)$count, 7L)
  expect_identical(subset(x, units = "C")$count, c(5L, 7L, 3L))
  expect_identical(subset(x, units = c("B", "C"))$count, c(7L, 3L))
  expect_length(subset(x, units = c("B", "C"), match = "any"), 5L)
  expect_identical(subset(x, size > 2, units = "B")$count, c(7L, 3L))
  expect_error(subset(x, units = "D"), class = argument_error)
  expect_error(subset(x, items = "A"))
})

test_that("units with numbers for names can be asked for by number", {
  x <- hand_patterns(list(c("7" = 0, "12" = 2), c("12" = 0, "3" = 1)), 2:3, c("3", "7", "12"))
  expect_identical(subset(x, units = 7)$count, 2L)
})

test_that("as.data.frame gives units and lags, and times where asked", {
  x <- spike_trains(c(0.001, 0.016, 0.101, 0.116), c("A", "B", "A", "B"), start = 0, end = 1)
  found <- hand_patterns(list(c(A = 0, B = 3), c(B = 0)), c(2, 2), c("A", "B"), recording = x)
  table <- as.data.frame(found)
  expect_named(table, c("pattern", "size", "units", "lags", "count", "duration"))
  expect_identical(table$pattern, c("A@0 B@3", "B@0"))
  expect_identical(table$units, list(c("A", "B"), "B"))
  expect_identical(table$lags, list(c(0L, 3L), 0L))
  expect_identical(table$duration, c(0.015, 0))
  expect_identical(as.data.frame(found, times = TRUE)$times,
                   list(c(0, 0.1), c(0.015, 0.115)))
  expect_identical(dim(as.data.frame(found[0], times = TRUE)), c(0L, 7L))
  expect_error(as.data.frame(five_patterns(), times = TRUE), class = argument_error)
  expect_error(as.data.frame(found, times = 1), class = argument_error)
})

test_that("print and summary fit a screen", {
  expect_snapshot(five_patterns())
  expect_snapshot(print(five_patterns(), n = 2))
  expect_snapshot(summary(five_patterns()))
  expect_output(str(five_patterns()[1]), "\\$ items *: int \\[1:2\\] 0 10")
})

test_that("what the miner finds can be looked at in all ways", {
  set.seed(3)
  x <- simulate_patterns(duration = 10, units = 6, patterns = list(
    list(units = c(2, 5, 6), lags = c(0, 0.010, 0.020), count = 30)
  ))
  found <- mine_patterns(x, bin_size = 0.005, window_bins = 8, min_spikes = 2, min_count = 3,
                         threads = 2)
  expect_gt(length(found), 10L)
  best <- sort(subset(found, size == 3), by = "count")[1]
  expect_identical(as.list(best)[[1L]][["u02"]], 0L)
  expect_setequal(names(as.list(best)[[1L]]), c("u02", "u05", "u06"))
  expect_identical(length(unique(found)), length(found))
  expect_true(all(found$count >= 3L))
  expect_identical(found$n_units, lengths(lapply(as.list(found), \(p) unique(names(p)))))
})
