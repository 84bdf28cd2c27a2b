raw_counts <- function(x) array(as.vector(x[]), dim(x))

test_that("counts are those of all pairs of spikes, whatever the number of threads", {
  set.seed(1)
  for (case in cases(60)) {
    x <- small_recording()
    bin <- sample(1:20, 1)
    lags <- sample(0:12, 1)
    ours <- cross_correlogram(x, bin / 1000, lags * bin / 1000, threads = sample(c(1, 3), 1))
    expect_identical(raw_counts(ours), slow_correlogram(x, bin, lags))
    expect_equal(attr(ours, "lag"), (-lags:lags) * bin / 1000)
  }
})

test_that("many units and blocks, long histograms and bursts are counted the same", {
  set.seed(2)
  n <- 1500
  x <- spike_trains(sample(5e5, n, TRUE) / 1e6, factor(sample(60, n, TRUE), levels = 1:70),
                    start = 0, end = 0.5)
  # 700 bins a pair, so that units are counted in blocks.
  ours <- cross_correlogram(x, 0.0001, 0.07, threads = 2)
  t <- round(x$time * 1e6)
  pair <- expand.grid(i = seq_len(n), j = seq_len(n))
  lag <- t[pair$j] - t[pair$i]
  k <- sign(lag) * floor(abs(lag) / 100 + 0.5)
  keep <- abs(k) <= 700 & pair$i != pair$j
  u <- as.integer(x$unit)
  cell <- k[keep] + 701 + 1401 * (u[pair$i[keep]] - 1 + 70 * (u[pair$j[keep]] - 1))
  expect_identical(as.vector(ours[]), tabulate(cell, 1401 * 70 * 70))
})

test_that("what one unit sees in another is what the other sees, turned round", {
  set.seed(3)
  x <- small_recording(FALSE, 80)
  counts <- raw_counts(cross_correlogram(x, 0.003, 0.03))
  turned <- aperm(counts[rev(seq_len(21)), , , drop = FALSE], c(1, 3, 2))
  expect_identical(counts, turned)
})

test_that("Elephant counts the same lags where binning first moves none", {
  # python: elephant 1.2.1, both trains + 0.5 ms, BinnedSpikeTrain(bin_size=1 ms) of a and b,
  # cross_correlation_histogram(a, b, window=[-6, 6])
  a <- c(0.011, 0.032, 0.033, 0.071, 0.120, 0.122, 0.183, 0.190)
  b <- c(0.014, 0.036, 0.075, 0.118, 0.121, 0.160, 0.186)
  x <- spike_trains(c(a, b), rep(c("a", "b"), c(8, 7)), start = 0, end = 0.2)
  counts <- cross_correlogram(x, 0.001, 0.006)
  expect_identical(counts[, "a", "b"], c(0L, 0L, 2L, 0L, 1L, 1L, 0L, 1L, 0L, 3L, 2L, 0L, 0L))
})

test_that("numbers of spikes whose product is beyond the largest integer are multiplied", {
  n <- 5e4
  x <- spike_trains(rep(seq(0.001, 999.999, length.out = n), 2), rep(c("A", "B"), each = n),
                    start = 0, end = 1000)
  table <- as.data.frame(cross_correlogram(x, bin_size = 1, max_lag = 1))
  at_0 <- table$reference == "A" & table$target == "B" & table$lag == 0
  expect_equal(table$expected[at_0], n^2 / 1000)
})

test_that("what chance gives is what independent units have", {
  set.seed(4)
  trials <- data.frame(start = c(0, 50), end = c(40, 70))
  x <- spike_trains(c(runif(4000, 0, 40), runif(6000, 50, 70)), sample(c("a", "b"), 1e4, TRUE),
                    start = 0, end = 70, trials = trials)
  table <- as.data.frame(cross_correlogram(x, 0.01, 0.5))
  expect_equal(sum(table$count), sum(table$expected), tolerance = 0.01)
  z <- (table$count - table$expected) / sqrt(table$expected)
  expect_lt(abs(mean(z)), 0.5)
  n <- table(x$unit, x$time > 45)
  by_hand <- sum(n["a", ] * n["b", ] * 0.01 * (c(40, 20) - 0.3) / c(40, 20)^2)
  at <- table$reference == "a" & table$target == "b" & abs(table$lag + 0.3) < 1e-9
  expect_equal(table$expected[at], by_hand)
  expect_equal(table$rate[at], table$count[at] / sum(n["a", ]) / 0.01)
})

test_that("the table, the summary and the print say the same counts", {
  set.seed(5)
  a <- sort(runif(300, 0, 60))
  x <- spike_trains(c(a, a + 0.004, runif(300, 0, 60)), rep(c("A", "B", "C"), each = 300))
  counts <- cross_correlogram(x, 0.002, 0.02)
  table <- as.data.frame(counts, reference = "B", target = c("A", "C"))
  expect_identical(table$count[table$target == "A"], as.vector(counts[, "B", "A"]))
  expect_identical(table$count[table$target == "C"], as.vector(counts[, "B", "C"]))
  expect_identical(nrow(as.data.frame(counts)), 9L * 21L)
  found <- summary(counts)
  expect_identical(nrow(found), 3L)
  expect_identical(as.character(unlist(found[1, c("reference", "target")])), c("A", "B"))
  expect_equal(found$lag[[1]], 0.004)
  expect_identical(found$count[[1]], counts[13, "A", "B"])
  expect_snapshot(counts)
  silent <- spike_trains(numeric(), factor(character(), c("a", "b")), start = 0, end = 1)
  quiet <- cross_correlogram(silent)
  expect_true(all(quiet[] == 0L))
  expect_true(is.na(summary(quiet)$z))
  expect_identical(nrow(summary(cross_correlogram(spike_trains(1:3, "a")))), 0L)
})

test_that("pictures show the counts of pairs, or all pairs", {
  skip_if_not_installed("ggplot2")
  set.seed(6)
  x <- spike_trains(runif(400, 0, 10), sample(8, 400, TRUE))
  counts <- cross_correlogram(x, 0.01, 0.1)
  some <- ggplot2::autoplot(counts, reference = "2", target = c("3", "2"))
  expect_identical(some$data$height[some$data$target == "3"], as.vector(counts[, "2", "3"]))
  expect_identical(nlevels(some$data$pair), 2L)
  whole <- ggplot2::autoplot(counts)
  expect_identical(sum(!is.na(whole$data$value)), 8L * 7L)
  few <- ggplot2::autoplot(counts, type = "pairs", y = "rate")
  expect_identical(nlevels(few$data$pair), 25L)
  # Numbers below 5 x 5 panels have room beside each other.
  axis <- ggplot2::ggplot_build(few)$layout$panel_params[[25L]]$x
  expect_identical(axis$get_labels()[!is.na(axis$get_breaks())], c("-100", "0", "100"))
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  for (picture in list(some, whole, few)) expect_no_warning(print(picture))
  expect_error(ggplot2::autoplot(counts, type = "matrix", target = "2"), "target")
  expect_error(ggplot2::autoplot(counts, reference = "nobody"), "nobody")
})

test_that("what cannot be is refused with the remedy", {
  x <- spike_trains(c(0.1, 0.2), "a", start = 0, end = 1)
  expect_snapshot(error = TRUE, cross_correlogram())
  expect_snapshot(error = TRUE, cross_correlogram(x, 0.001, 0.0505))
  expect_snapshot(error = TRUE, cross_correlogram(x, 0, 0.05))
  expect_snapshot(error = TRUE, cross_correlogram(x, 2000, 2000))
  expect_error(cross_correlogram(x, 1e-6, 1, max_memory = 1e6), class = "synfire_error_budget")
  changed <- cross_correlogram(x)
  attr(changed, "lag") <- 1
  expect_error(print(changed), class = "synfire_error_argument")
})

test_that("Ctrl-C is an interrupt", {
  skip_on_cran()
  expect_interrupted(quote({
    n <- 4e5
    x <- spike_trains(sort(runif(n, 0, 10)), sample(200, n, TRUE))
    begin()
    cross_correlogram(x, 0.01, 2, threads = 1)
  }))
})

test_that("recordings without units, spikes or lags have correlograms that can be shown", {
  nothing <- spike_trains(numeric(), factor(character()), start = 0, end = 1)
  silent <- spike_trains(numeric(), factor(character(), "a"), start = 0, end = 1)
  for (x in list(nothing, silent)) for (lag in c(0, 0.05)) {
    counts <- cross_correlogram(x, max_lag = lag)
    expect_output(print(counts), sprintf("<cross_correlogram> %s", counted(nlevels(x$unit), "unit")))
    expect_identical(nrow(summary(counts)), 0L)
    expect_identical(nrow(as.data.frame(counts)), nlevels(x$unit) * nrow(counts))
  }
  expect_message(ggplot2::autoplot(cross_correlogram(nothing)), "There is no unit",
                 class = "synfire_message_empty")
})
