test_that("counts are those of a slow count, in trials and without", {
  set.seed(1)
  for (case in cases(60)) {
    x <- small_recording()
    bin <- sample(c(1:20, 50), 1)
    slow <- slow_bins(x, bin)
    if (nrow(slow) == 0L) {
      expect_error(bin_spikes(x, bin / 1000), class = "synfire_error_argument")
      next
    }
    ours <- bin_spikes(x, bin / 1000, gap = sample(0:3, 1))
    rows <- !is.na(attr(ours, "time"))
    expect_identical(unname(as.matrix(ours)[rows, , drop = FALSE]), slow)
    expect_true(all(is.na(as.matrix(ours)[!rows, ])))
    expect_identical(colnames(ours), levels(x$unit))
    expect_identical(attr(ours, "left_out"), nrow(x) - sum(slow))
    expect_equal(diff(unique(attr(ours, "time")[rows]))[1] %in% NA, nrow(slow) == 1L)
  }
})

test_that("bins have exact bounds and the last one its end", {
  x <- spike_trains(c(0, 0.1, 0.2, 0.3, 0.7, 1), "a", start = 0, end = 1)
  expect_identical(as.vector(bin_spikes(x, 0.1)), c(1L, 1L, 1L, 1L, 0L, 0L, 0L, 1L, 0L, 1L))
  # 1 s is three bins of 0.3 s; what comes after is left out.
  y <- bin_spikes(x, 0.3)
  expect_identical(as.vector(as.matrix(y)), c(3L, 1L, 1L))
  expect_identical(attr(y, "left_out"), 1L)
  expect_identical(attr(y, "time"), c(0, 0.3, 0.6))
  expect_output(print(y), "1 spike is in no bin")
})

test_that("trials follow one another with rows of NA between", {
  x <- spike_trains(c(0.05, 0.25, 2.1), c("a", "b", "a"), start = 0, end = 3, trials = data.frame(
    trial = c("x", "short", "y"), start = c(0, 1, 2), end = c(0.3, 1.05, 2.2)
  ))
  y <- bin_spikes(x, 0.1, gap = 2)
  expect_identical(attr(y, "trial"), c("x", "x", "x", NA, NA, "y", "y"))
  expect_identical(attr(y, "time"), c(0, 0.1, 0.2, NA, NA, 2, 2.1))
  expect_identical(y[, "a"], c(1L, 0L, 0L, NA, NA, 0L, 1L))
  table <- as.data.frame(y)
  expect_identical(names(table), c("time", "trial", "a", "b"))
  expect_identical(nrow(table), 5L)
  expect_identical(nrow(bin_spikes(x, 0.1, gap = 0)), 5L)
})

test_that("smoothing is a weighted mean within the trial", {
  set.seed(2)
  x <- spikes_outside(spike_trains(
    round(runif(200, 0, 10), 3), "a", resolution = 1e-3, start = 0, end = 10,
    trials = data.frame(start = c(0, 4), end = c(3.5, 10))
  ))
  raw <- bin_spikes(x, 0.1)
  for (sigma in c(0.01, 0.25, 50)) {
    smooth <- bin_spikes(x, 0.1, sigma = sigma)
    first <- 1:35
    second <- 37:96
    for (rows in list(first, second)) {
      expect_equal(as.vector(as.matrix(smooth)[rows, 1]),
                   slow_smooth(as.matrix(raw)[rows, 1], sigma / 0.1), tolerance = 1e-12)
    }
  }
  # A steady rate stays what it is, also at the ends.
  steady <- bin_spikes(spike_trains(seq(0.05, 9.95, 0.1), "a", start = 0, end = 10), 0.1, sigma = 0.3)
  expect_equal(as.vector(as.matrix(steady)), rep(1, 100))
})

test_that("a sparse matrix holds the same counts", {
  skip_if_not_installed("Matrix")
  set.seed(3)
  x <- small_recording(TRUE, 60)
  dense <- bin_spikes(x, 0.005, gap = 0)
  sparse <- bin_spikes(x, 0.005, sparse = TRUE)
  expect_s4_class(sparse, "dgCMatrix")
  expect_equal(as.matrix(sparse), as.matrix(dense))
  expect_identical(attr(sparse, "trial"), attr(dense, "trial"))
  expect_error(bin_spikes(x, 0.005, sigma = 1, sparse = TRUE), class = "synfire_error_argument")
})

test_that("causal maps and models of a few series take it as it is", {
  set.seed(4)
  x <- spikes_outside(spike_trains(
    runif(600, 0, 20), sample(c("a", "b"), 600, TRUE), start = 0, end = 20,
    trials = data.frame(trial = 1:2, start = c(0, 10), end = c(9, 20))
  ))
  y <- bin_spikes(x, 0.1, sigma = 0.1)
  plain <- as.matrix(y)
  map <- \(counts) suppressMessages(as.data.frame(causal_map(counts, E = 2, threads = 1)),
                                    classes = "synfire_message_slow")
  expect_identical(map(y), map(plain))
  expect_error(causal_map(y, E = 2, tau = -2), "gap = 2", class = "synfire_error_argument")
  expect_error(causal_map(y, E = 2, Tp = c(0, 3)), "gap = 3", class = "synfire_error_argument")
  expect_error(embed_dimension(y, Tp = 2), "gap = 2", class = "synfire_error_argument")
  expect_no_error(causal_map(bin_spikes(x, 0.1, gap = 2), E = 2, tau = -2, threads = 1))
  same <- \(f, ...) {
    ours <- f(y, ...)
    theirs <- f(as.data.frame(y), ..., segments = "trial")
    expect_identical(as.data.frame(ours), as.data.frame(theirs))
  }
  same(simplex, "a", "b", E = 2)
  set.seed(5)
  ours <- ccm(y, "a", "b", E = 2, lib_sizes = c(20, 100), samples = 3, threads = 1)
  set.seed(5)
  theirs <- ccm(as.data.frame(y), "a", "b", E = 2, lib_sizes = c(20, 100), samples = 3, threads = 1,
                segments = "trial")
  expect_identical(as.data.frame(ours), as.data.frame(theirs))
  expect_identical(
    multiview(y, c("a", "b"), "a", D = 2, threads = 1)$view,
    multiview(as.data.frame(y), c("a", "b"), "a", D = 2, segments = "trial", threads = 1)$view
  )
})

test_that("parts of the matrix keep what belongs to them", {
  x <- spike_trains(1:5 / 10, c("a", "b", "c", "a", "b"), start = 0, end = 1)
  y <- bin_spikes(x, 0.1)
  z <- y[2:4, c("a", "c")]
  expect_s3_class(z, "binned_spikes")
  expect_identical(attr(z, "time"), c(0.1, 0.2, 0.3))
  expect_identical(dim(z), c(3L, 2L))
  expect_identical(y[2, "a"], as.matrix(y)[2, "a"])
  expect_identical(dim(t(y)), c(3L, 10L))
  expect_null(attr(t(y), "time"))
  expect_output(print(y), "10 bins of 0.1 s, 3 units, spike counts")
  expect_output(print(y, n = 2), "and 8 rows more")
})

test_that("what cannot be is refused with the remedy", {
  x <- spike_trains(c(0.1, 0.2), "a", start = 0, end = 1)
  expect_snapshot(error = TRUE, bin_spikes(x))
  expect_snapshot(error = TRUE, bin_spikes(x, 2))
  expect_snapshot(error = TRUE, bin_spikes(x, 1e-7))
  expect_snapshot(error = TRUE, bin_spikes(x, 0.1, sigma = 0))
  expect_snapshot(error = TRUE, bin_spikes(x, 0.1, gap = -1))
  expect_error(bin_spikes(x, 1e-6, max_memory = 1e6), class = "synfire_error_budget")
  empty <- spike_trains(numeric(), factor(character(), "a"), start = 0, end = 1)
  expect_identical(as.vector(as.matrix(bin_spikes(empty, 0.5))), c(0L, 0L))
})

test_that("tibbles and tables of data.table are made from it", {
  x <- spike_trains(1:5 / 10, c("a", "b", "c", "a", "b"), start = 0, end = 1)
  results <- list(bin_spikes(x, 0.1), cross_correlogram(x, 0.1, 0.2), check_recording(x))
  for (result in results) {
    plain <- as.data.frame(result)
    expect_identical(class(plain), "data.frame")
    if (rlang::is_installed("tibble")) {
      expect_identical(as.data.frame(tibble::as_tibble(result)), plain)
    }
    if (rlang::is_installed("data.table")) {
      expect_identical(names(data.table::as.data.table(result)), names(plain))
    }
    expect_error(as.data.frame(result, wrong = 1), class = "synfire_error_argument")
  }
})

test_that("the picture shows the mean of the bins of each of its cells", {
  skip_if_not_installed("ggplot2")
  set.seed(5)
  x <- spike_trains(runif(5000, 0, 30), sample(3, 5000, TRUE), start = 0, end = 30)
  bins <- bin_spikes(x, 0.01)
  cells <- ggplot2::autoplot(bins)$data
  expect_identical(nrow(cells), 3000L)
  expect_equal(cells$value[1:2], c(mean(bins[1:3, 1]), mean(bins[4:6, 1])))
  expect_equal(cells$time[1:2], c(0.015, 0.045))
  trials <- spike_trains(c(0.1, 5.1, 5.2), "a", trials = data.frame(trial = c("one", "two"),
                                                                   start = c(0, 5), end = c(1, 6)))
  p <- ggplot2::autoplot(bin_spikes(trials, 0.5))
  expect_identical(p$data$value, c(1, 0, NA, 2, 0))
  above <- ggplot2::ggplot_build(p)$layout$panel_params[[1L]]$x.sec
  expect_identical(above$get_labels(), c("one", "two"))
  withr::with_pdf(withr::local_tempfile(fileext = ".pdf"), expect_no_warning(print(p)))
})
