walk <- function() data.frame(time = c(0, 1, 2, 3, 10), place = c(5, 15, 15, 25, 5))

test_that("spikes and time are counted by the value that holds", {
  x <- spike_trains(c(0.5, 1.5, 1.6, 2.5, 3.5, 9, 10.5), "a", start = 0, end = 12)
  found <- tuning_curve(x, walk(), breaks = c(0, 10, 20, 30))
  # Values are a second apart at the median: the last one holds a second, none more than ten.
  expect_identical(found$count, c(2L, 3L, 2L))
  expect_equal(found$seconds, c(2, 2, 7))
  expect_equal(found$rate, c(1, 1.5, 2 / 7))
  expect_equal(attr(found, "left_out"), 1)
  short <- tuning_curve(x, walk(), breaks = c(0, 10, 20, 30), max_gap = 1)
  expect_identical(short$count, c(2L, 3L, 1L))
  expect_equal(short$seconds, c(2, 2, 1))
  expect_equal(attr(short, "left_out"), 7)
})

test_that("counts and occupancy are those of a search tick by tick, in trials and without", {
  set.seed(11)
  for (case in cases(40)) {
    x <- small_recording()
    r <- ticks_of_recording(x)
    if (any(r$end == r$start)) next
    n <- sample(2:10, 1)
    ticks <- min(r$start) + sample(-5:5, 1) + cumsum(sample(40, n, TRUE))
    value <- sample(c(-2:2, 0.5, NA), n, TRUE)
    edges <- c(-2, -1, 0, 0.5, 2)
    most <- sample(50, 1)
    slow <- slow_tuning(x, ticks, value, edges, most)
    behaviour <- data.frame(time = ticks * r$resolution, v = value)
    if (sum(slow$ticks) == 0 || all(is.na(value))) {
      expect_error(tuning_curve(x, behaviour, edges, max_gap = most * r$resolution),
                   class = "synfire_error_argument")
      next
    }
    ours <- tuning_curve(x, behaviour, edges, max_gap = most * r$resolution)
    expect_identical(ours$count, slow$count)
    expect_equal(ours$seconds, rep(slow$ticks * r$resolution, r$units))
  }
})

test_that("smoothing weighs spikes and time alike", {
  x <- spike_trains(c(0.5, 0.6, 2.5), "a", start = 0, end = 4)
  v <- data.frame(time = 0:3, v = c(0.5, 2.5, 1.5, 3.5))
  found <- tuning_curve(x, v, breaks = c(0, 1, 2, 3, 4), sigma = 1)
  weight <- exp(-0.5 * outer(1:4, 1:4, `-`)^2)
  expect_equal(found$rate, as.vector(weight %*% c(2, 1, 0, 0) / weight %*% rep(1, 4)))
  # Where the behaviour never was, neighbours do not make a rate.
  gap <- tuning_curve(x, v[1:2, ], breaks = c(0, 1, 2, 3), sigma = 1, max_gap = 1)
  expect_identical(is.na(gap$rate), c(FALSE, TRUE, FALSE))
})

test_that("the table keeps its class and prints", {
  x <- spike_trains(c(0.5, 1.5, 1.6, 2.5), c("a", "b", "a", "b"), start = 0, end = 12)
  found <- tuning_curve(x, walk(), breaks = 2)
  expect_output(print(found), "2 units by place, 2 ranges from 5 to 25")
  expect_output(print(found), "1 s of the recording without a known value")
  expect_s3_class(found[found$unit == "a", ], "tuning_curve")
  found$rate <- 1
  expect_identical(class(found), "data.frame")
})

test_that("pictures have a panel a unit and the occupancy, or a row a unit by its best value", {
  skip_if_not_installed("ggplot2")
  set.seed(12)
  place <- data.frame(time = 0:400 / 10, place = 0:400 %% 40)
  at <- function(middle) place$time[abs(place$place - middle) < 2] + 0.01
  times <- lapply(c(c = 30, a = 5, b = 20), at)
  x <- as_spike_trains(times)
  found <- tuning_curve(x, place, breaks = 10)
  curves <- ggplot2::autoplot(found, unit = c("a", "b"))
  expect_identical(levels(curves$data$panel), c("a (Hz)", "b (Hz)", "Time at the value (s)"))
  expect_equal(sum(curves$data$height[curves$data$kind]), sum(found$seconds[1:10]))
  image <- ggplot2::autoplot(found, type = "image")
  axis <- ggplot2::ggplot_build(image)$layout$panel_params[[1L]]$y
  expect_identical(axis$get_labels(), c("a", "b", "c"))
  expect_equal(max(image$data$share), 1)
  expect_error(ggplot2::autoplot(found, type = "image", unit = "a"), "`unit`",
               class = "synfire_error_argument")
  silent <- spike_trains(numeric(), factor(character(), "a"), start = 0, end = 10)
  quiet <- tuning_curve(silent, place)
  expect_message(ggplot2::autoplot(quiet), "No spike is at a known value")
})

test_that("what cannot be is refused with the remedy", {
  x <- spike_trains(c(0.5, 1.5), "a", start = 0, end = 2)
  bad <- function(...) expect_snapshot(error = TRUE, tuning_curve(x, ...))
  bad(1:3)
  bad(data.frame(time = 0:2, x = 1, y = 2))
  bad(data.frame(time = c(0, 1, 1), v = 1:3))
  bad(data.frame(time = 0:2, v = NA_real_))
  bad(data.frame(time = 0:2, v = 1))
  bad(data.frame(time = 100:102, v = 1:3))
  bad(data.frame(time = 0:2, v = 1:3), breaks = c(2, 1))
  bad(data.frame(time = 0:2, v = 1:3), sigma = 0)
})
