test_that("statistics are those of a slow computation, within trials", {
  set.seed(1)
  for (case in cases(40)) {
    x <- small_recording()
    refractory <- sample(c(0, 0.002, 0.01), 1)
    ours <- isi_statistics(x, refractory)
    expect_identical(as.character(ours$unit), levels(x$unit))
    for (u in seq_len(nlevels(x$unit))) {
      trials <- slow_intervals(x, u)
      isi <- unlist(trials)
      r <- ticks_of_recording(x)
      expect_identical(ours$spikes[u], sum(r$unit == u & !is.na(r$trial)))
      expect_identical(ours$intervals[u], length(isi))
      pairs <- do.call(rbind, lapply(trials, \(i) cbind(i[-length(i)], i[-1])))
      ratio <- abs(pairs[, 1] - pairs[, 2]) / rowSums(pairs)
      or_na <- \(v, ok) if (ok) v else NA_real_
      expect_equal(ours$mean[u], or_na(mean(isi), length(isi) > 0))
      expect_equal(ours$median[u], or_na(stats::median(isi), length(isi) > 0))
      expect_equal(ours$cv[u], or_na(stats::sd(isi) / mean(isi), length(isi) > 1))
      expect_equal(ours$cv2[u], or_na(mean(2 * ratio), nrow(pairs) > 0))
      expect_equal(ours$lv[u], or_na(mean(3 * ratio^2), nrow(pairs) > 0))
      expect_identical(ours$violations[u], sum(round(isi * 1000) < refractory * 1000))
      expect_equal(ours$violation_share[u], or_na(ours$violations[u] / length(isi), length(isi) > 0))
    }
  }
})

test_that("Elephant finds the same", {
  # python: elephant 1.2.1, elephant.statistics: numpy's mean, median and std(ddof=1) / mean of
  # isi(), cv2(isi) and lv(isi)
  x <- spike_trains(c(0.011, 0.032, 0.033, 0.071, 0.120, 0.1215, 0.183, 0.190), "a")
  ours <- isi_statistics(x)
  expect_equal(ours$mean, 0.02557142857142857, tolerance = 1e-14)
  expect_equal(ours$median, 0.021, tolerance = 1e-14)
  expect_equal(ours$cv, 0.9503161130430645, tolerance = 1e-14)
  expect_equal(ours$cv2, 1.5576136963870502, tolerance = 1e-14)
  expect_equal(ours$lv, 2.0836284156482185, tolerance = 1e-14)
})

test_that("an interval of exactly the refractory period is no violation", {
  x <- spike_trains(c(0, 0.002, 0.0039, 0.3), "a")
  expect_identical(isi_statistics(x, 0.002)$violations, 1L)
})

test_that("bursts are those of a search spike by spike", {
  set.seed(2)
  for (case in cases(80)) {
    x <- small_recording()
    max_start <- sample(0:15, 1)
    how <- c(max_start, max_start + sample(0:10, 1), sample(0:40, 1), sample(0:10, 1))
    min_spikes <- sample(2:4, 1)
    ours <- bursts(x, how[1] / 1000, how[2] / 1000, how[3] / 1000, how[4] / 1000, min_spikes)
    r <- ticks_of_recording(x)
    slow <- do.call(rbind, lapply(seq_len(r$units), \(u) {
      do.call(rbind, lapply(seq_along(r$start), \(k) {
        t <- r$tick[r$unit == u & r$trial %in% k]
        found <- slow_bursts(t, how[1], how[2], how[3], how[4], min_spikes)
        do.call(rbind, lapply(found, \(b) data.frame(u, start = t[b[1]], end = t[b[2]],
                                                     spikes = diff(b) + 1)))
      }))
    }))
    expect_identical(nrow(ours), if (is.null(slow)) 0L else nrow(slow))
    if (is.null(slow)) next
    expect_identical(as.integer(ours$unit), slow$u)
    expect_equal(ours$start, slow$start / 1000)
    expect_equal(ours$end, slow$end / 1000)
    expect_equal(ours$spikes, slow$spikes)
    expect_equal(ours$rate, (slow$spikes - 1) / (slow$end - slow$start) * 1000)
  }
})

test_that("bounds that are ticks within rounding are these ticks", {
  # 0.00024 s is 6 ticks, and 0.00024 / 4e-5 is more.
  x <- spike_trains(c(0, 3, 6) * 4e-5, "a", resolution = 4e-5)
  expect_identical(nrow(bursts(x, 0.00012, 0.00012, 0, min_duration = 0.00024)), 1L)
  expect_identical(isi_statistics(x, 0.00012)$violations, 0L)
})

test_that("silent and single spikes give rows of NA and no bursts", {
  x <- spike_trains(1, factor("a", c("a", "b")), start = 0, end = 2)
  expect_identical(isi_statistics(x)$spikes, c(1L, 0L))
  expect_true(all(is.na(isi_statistics(x)[, c("mean", "median", "cv", "cv2", "lv")])))
  expect_identical(nrow(bursts(x)), 0L)
  expect_error(bursts(x, max_start = 0.2, max_within = 0.1), "max_within",
               class = "synfire_error_argument")
  expect_error(isi_statistics(), "recording", class = "synfire_error_argument")
})

test_that("pictures show every interval, rate and burst", {
  skip_if_not_installed("ggplot2")
  set.seed(9)
  x <- spike_trains(runif(900, 0, 30), sample(30, 900, TRUE), start = 0, end = 30)
  found <- isi_statistics(x)
  held <- attr(found, "histogram")
  expect_identical(as.integer(colSums(held$count)), found$intervals)
  bars <- ggplot2::autoplot(found, unit = c("3", "7"))$data
  expect_identical(as.integer(tapply(bars$count, bars$unit, sum)),
                   found$intervals[match(c("3", "7"), found$unit)])
  many <- ggplot2::autoplot(found)
  expect_equal(as.vector(tapply(many$data$share, many$data$row, sum)), rep(1, 30))
  rates <- ggplot2::autoplot(found, type = "rates")
  expect_equal(rates$data$rate, sort(found$spikes / 30))
  expect_identical(nrow(ggplot2::autoplot(found, type = "regularity")$data), 30L)
  expect_error(ggplot2::autoplot(found, type = "rates", unit = "3"), "`unit`",
               class = "synfire_error_argument")
  expect_message(ggplot2::autoplot(isi_statistics(spike_trains(1, "a"))), "no interval to draw")
  none <- isi_statistics(spike_trains(numeric(), character(), start = 0, end = 9))
  expect_identical(vapply(none[c("mean", "cv2", "lv", "violation_share")], typeof, ""),
                   c(mean = "double", cv2 = "double", lv = "double", violation_share = "double"))
  expect_message(ggplot2::autoplot(none), "no interval to draw")

  all <- bursts(x, max_start = 0.5, max_within = 0.5)
  bars <- ggplot2::autoplot(all)
  expect_identical(bars$data[c("start", "end", "spikes")],
                   as.data.frame(all)[c("start", "end", "spikes")])
  expect_identical(bars$coordinates$limits$x, c(0, 30))
  expect_output(print(all), "bursts of [0-9]+ of 30 units")
  expect_output(print(found, n = 2), "and 28 more units")
  expect_message(ggplot2::autoplot(all[0, ]), "nothing to draw")
  withr::with_pdf(withr::local_tempfile(fileext = ".pdf"), {
    for (p in list(many, rates, bars)) expect_no_warning(print(p))
  })
})
