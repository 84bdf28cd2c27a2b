test_that("coefficients are those of the definition, in trials and without", {
  set.seed(1)
  for (case in cases(30)) {
    x <- small_recording()
    r <- ticks_of_recording(x)
    if (all(r$end == r$start)) next
    reach <- sample(0:30, 1)
    ours <- sttc(x, reach / 1000, threads = sample(1:2, 1))
    slow <- slow_sttc(x, reach)
    expect_equal(as.matrix(ours), slow, tolerance = 1e-12)
  }
})

test_that("Elephant finds the same", {
  # python: elephant 1.2.1, elephant.spike_train_correlation.spike_time_tiling_coefficient(
  # i, j, dt) of (a, b), (a, c), (b, c), trains from 0 to 0.2 s
  x <- spike_trains(
    c(0.011, 0.032, 0.033, 0.071, 0.120, 0.1215, 0.183, 0.190,
      0.014, 0.036, 0.075, 0.118, 0.121, 0.160, 0.186, 0.002, 0.095, 0.199),
    rep(c("a", "b", "c"), c(8, 7, 3)), start = 0, end = 0.2
  )
  pairs <- rbind(c("a", "b"), c("a", "c"), c("b", "c"), c("a", "a"))
  elephant <- rbind(
    c(0.13912978964322037, -0.09375, -0.095, 1),
    c(0.8755992329817832, -0.20625, -0.215, 1),
    c(0.5176240208877283, -0.23154056453145255, 0.5082536924413553, 1),
    c(1, 1, 1, 1)
  )
  dt <- c(0.002, 0.005, 0.02, 0.1)
  for (k in seq_along(dt)) expect_equal(sttc(x, dt[k])[pairs], elephant[k, ], tolerance = 1e-14)
})

test_that("units without spikes have none, and what cannot be is refused", {
  x <- spike_trains(c(1, 2), factor("a", c("a", "b")), start = 0, end = 3)
  expect_identical(sttc(x)["a", "b"], NA_real_)
  expect_identical(sttc(x)["a", "a"], 1)
  expect_error(sttc(x, dt = -1), "dt", class = "synfire_error_argument")
  expect_error(sttc(x, dt = 1e-8), "dt", class = "synfire_error_argument")
  many <- spike_trains(1, factor(1, 1:300))
  expect_error(sttc(many, max_memory = 1e6), class = "synfire_error_budget")
})

test_that("parts and arithmetic are plain, and print names the tiles", {
  set.seed(2)
  x <- spike_trains(runif(300, 0, 10), sample(12, 300, TRUE), start = 0, end = 10)
  found <- sttc(x, 0.01)
  expect_identical(class(found[1:2, 1:2]), c("matrix", "array"))
  expect_identical(class(1 - found), c("matrix", "array"))
  expect_identical(1 - found, 1 - as.matrix(found))
  expect_identical(found > 0.5, as.matrix(found) > 0.5)
  expect_identical(-found, -as.matrix(found))
  expect_output(print(found), "12 units, tiles of 0.01 s")
  expect_output(print(found, n = 2), "and 10 more units")
})

test_that("the picture has a square for each pair", {
  skip_if_not_installed("ggplot2")
  set.seed(3)
  x <- spike_trains(runif(300, 0, 10), sample(c("a", "b", "c"), 300, TRUE), start = 0, end = 10)
  found <- sttc(x, 0.01)
  p <- ggplot2::autoplot(found)
  expect_identical(p$data$value[p$data$row == 2 & p$data$column == 3], found["b", "c"])
  expect_true(all(is.na(p$data$value[p$data$row == p$data$column])))
  # Of many units a square is a mean.
  many <- synfire:::pair_image(matrix(1:1210^2 + 0, 1210), as.character(1:1210), "z")
  expect_identical(nrow(many$data), 404L * 404L)
  expect_equal(many$data$value[[1L]], mean(outer(1:3, 0:2 * 1210, "+")))
  expect_match(many$labels$caption, "3 x 3 pairs")
  expect_message(ggplot2::autoplot(sttc(x[unit = "a"])), "no two units")
})
