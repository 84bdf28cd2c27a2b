# The tables of units and trials that a recording carries.

with_tables <- function() {
  spike_trains(
    c(0.1, 0.2, 1.1, 1.2), c("b", "a", "b", "n10"), start = 0, end = 2,
    trials = data.frame(start = c(1, 0), end = c(1.5, 0.5), condition = c("go", "stop")),
    unit_table = data.frame(area = c("V1", "V2", "V1", "V4"), unit = c("n10", "a", "b", "n2"))
  )
}

test_that("units without spikes in the table are silent, and rows follow the levels", {
  x <- with_tables()
  expect_identical(levels(x$unit), c("a", "b", "n2", "n10"))
  expect_identical(unit_table(x), data.frame(
    unit = factor(levels(x$unit), levels(x$unit)), area = c("V2", "V1", "V4", "V1")
  ))
  expect_identical(trial_table(x), data.frame(
    trial = 2:1, start = c(0, 1), end = c(0.5, 1.5), condition = c("stop", "go")
  )[c("trial", "start", "end", "condition")])
  expect_null(unit_table(spike_trains(1, "a")))
  expect_null(trial_table(spike_trains(1, "a")))
  # A factor keeps the order of its levels.
  y <- spike_trains(1:2, factor(c("z", "b")[1:2], c("z", "b")),
                    unit_table = data.frame(unit = c("a", "b", "z")))
  expect_identical(levels(y$unit), c("z", "b", "a"))
  # Numbers name units as they do in `unit`.
  z <- spike_trains(1:2, c(1, 100000), unit_table = data.frame(unit = c(1e5, 3, 1), depth = 1:3))
  expect_identical(levels(z$unit), c("1", "3", "100000"))
  expect_identical(unit_table(z)$depth, c(3L, 2L, 1L))
})

test_that("both tables stay with what is taken of a recording", {
  x <- with_tables()
  by_unit <- x[unit = c("n2", "b")]
  expect_identical(as.character(unit_table(by_unit)$unit), c("n2", "b"))
  expect_identical(unit_table(by_unit)$area, c("V4", "V1"))
  expect_identical(trial_table(by_unit), trial_table(x))
  by_time <- x[time = c(1, 2)]
  expect_identical(trial_table(by_time)$condition, "go")
  expect_identical(unit_table(by_time), unit_table(x))
  expect_identical(unit_table(x[1:2, ]), unit_table(x))
  expect_identical(unit_table(x[c("unit", "time")]), unit_table(x))
  expect_identical(as_spike_trains(as.data.frame(x), like = x), x)
  one <- surrogate_trains(x, 1, "train_shift", dither = 0.1)[[1]]
  expect_identical(unit_table(one), unit_table(x))
  expect_identical(trial_table(one), trial_table(x))
})

test_that("a table of units can be set, and a wrong one is refused", {
  x <- with_tables()
  unit_table(x)$depth <- 1:4
  expect_identical(unit_table(x[unit = "n10"])$depth, 4L)
  y <- x
  unit_table(y) <- NULL
  expect_null(unit_table(y))
  unit_table(y) <- data.frame(unit = c("new", "a", "b", "n10", "n2"))
  expect_identical(levels(y$unit), c("a", "b", "n2", "n10", "new"))
  expect_identical(y$time, x$time)
  expect_snapshot(error = TRUE, unit_table(y) <- 1)
  expect_snapshot(error = TRUE, unit_table(y) <- data.frame(id = 1))
  expect_snapshot(error = TRUE, unit_table(y) <- data.frame(unit = c("a", "a")))
  expect_snapshot(error = TRUE, unit_table(y) <- data.frame(unit = c("a", NA)))
  expect_snapshot(error = TRUE, spike_trains(1:2, 1:2, unit_table = data.frame(unit = 1)))
  attr(x, "unit_table") <- unit_table(x)[4:1, ]
  expect_snapshot(error = TRUE, format(x))
  unit_table(x) <- attr(x, "unit_table")
  expect_identical(nlevels(x$unit), 4L)
})
