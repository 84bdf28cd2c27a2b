# Units of 5 Hz with a refractory period of 4 ms, from 0 to `duration` s.
sound_spikes <- function(units = 8, duration = 120, rate = 5) {
  do.call(rbind, lapply(seq_len(units), \(u) {
    t <- cumsum(0.004 + stats::rexp(ceiling(2 * rate * duration), rate))
    data.frame(time = round(t[t < duration], 6), unit = sprintf("u%d", u))
  }))
}

recording_of <- function(table, ..., start = 0, end = 120) {
  spike_trains(table$time, table$unit, start = start, end = end, ...)
}

found <- function(x, ...) unique(as.data.frame(check_recording(x, threads = 1, ...))$check)

test_that("nothing is found in a sound recording", {
  set.seed(1)
  for (units in c(1, 2, 30)) {
    report <- check_recording(recording_of(sound_spikes(units)), threads = 1)
    expect_identical(nrow(report$findings), 0L)
    expect_output(print(report), "Nothing seems wrong")
    expect_identical(as.character(report$units$unit), levels(recording_of(sound_spikes(units))$unit))
  }
  expect_setequal(report$looked_for, c(
    "columns", "time unit", "time step", "silent units", "rates", "refractory",
    "shared spikes", "synchrony", "presence", "drift", "gaps"
  ))
  expect_equal(mean(report$rates), mean(report$units$rate))
  expect_identical(sum(report$intervals$count), sum(report$units$intervals))
})

test_that("times in milliseconds or too short are found", {
  set.seed(2)
  table <- sound_spikes(4)
  ms <- suppressWarnings(spike_trains(table$time * 1000, table$unit))
  expect_identical(found(ms), "time unit")
  expect_output(print(check_recording(ms)), "`time_unit = \"ms\"`")
  short <- spike_trains(table$time / 1000, table$unit, resolution = 1e-9)
  expect_true("time unit" %in% found(short))
})

test_that("columns that were swapped are found", {
  set.seed(3)
  x <- suppressWarnings(spike_trains(runif(200), paste("u", c(1:150, 1:50))))
  expect_true("columns" %in% found(x))
})

test_that("a neuron that was sorted twice, and spikes in common, are found with their units", {
  set.seed(4)
  table <- sound_spikes(6)
  twin <- table[table$unit == "u2", ]
  twin$time <- pmin(120, pmax(0, round(twin$time + stats::runif(nrow(twin), -8e-5, 8e-5), 6)))
  twin$unit <- "twin"
  report <- check_recording(recording_of(rbind(table, twin)), threads = 1)
  expect_identical(report$findings$check, "shared spikes")
  expect_identical(report$findings$severity, "problem")
  expect_setequal(report$findings$units[[1L]], c("u2", "twin"))
  expect_gt(report$units$shared[report$units$unit == "twin"], 0.95)
  expect_identical(as.character(report$units$shares_with[report$units$unit == "u2"]), "twin")
  some <- twin[seq_len(150), ]
  other <- table[table$unit == "u5", ]
  other$time <- round(other$time / 120 * 119.9 + 0.05, 6)
  other$unit <- "twin"
  report <- check_recording(recording_of(rbind(table, some, other)), threads = 1)
  expect_identical(report$findings$severity, "warning")
  expect_identical(report$findings$check, "shared spikes")
})

test_that("each other fault is found alone", {
  set.seed(5)
  table <- sound_spikes(20)
  last <- \(t) recording_of(t)
  with <- \(...) last(rbind(table, data.frame(...)))
  # Within 2 ms of one of the same unit's.
  near <- table$time[table$unit == "u3"][seq(1, 300, 10)] + 0.001
  expect_identical(found(with(time = near, unit = "u3")), "refractory")
  expect_identical(found(with(time = rep(c(20.5, 60.25), each = 15), unit = paste0("u", 1:15))),
                   "synchrony")
  expect_identical(found(last(table[!(table$unit == "u7" & table$time > 70), ])), "presence")
  expect_identical(found(last(table[table$time < 50 | table$time > 60, ])), "gaps")
  expect_identical(found(recording_of(table, end = 300)), "gaps")
})

test_that("silent units, fast ones, drift and spikes outside of trials are found", {
  set.seed(6)
  table <- sound_spikes(12)
  silent <- recording_of(transform(table, unit = factor(unit, c(unique(unit), "none"))))
  expect_identical(found(silent), "silent units")
  fast <- data.frame(time = seq(0, 119.997, 0.003), unit = "hum")
  expect_identical(sort(found(recording_of(rbind(table, fast)))), c("rates"))
  thin <- table[!(table$unit %in% c("u1", "u2")) | stats::runif(nrow(table)) < 1 - table$time / 125, ]
  report <- check_recording(recording_of(thin), threads = 1)
  expect_identical(report$findings$check, "drift")
  expect_setequal(report$findings$units[[1L]], c("u1", "u2"))
  trials <- data.frame(start = c(0, 60), end = c(50, 120))
  expect_identical(found(suppressMessages(recording_of(table, trials = trials))), "trials")
})

test_that("coarse times are no fault, and what they hide is not looked for", {
  set.seed(7)
  table <- sound_spikes(10)
  table$time <- round(table$time / 0.025) * 0.025
  report <- check_recording(recording_of(unique(table)), threads = 1)
  expect_identical(report$findings$check, "time step")
  expect_false(any(c("refractory", "synchrony") %in% report$looked_for))
  expect_output(print(report), "grid of 25 ms")
})

test_that("few spikes, none and no length are reported on as well", {
  empty <- spike_trains(numeric(), factor(character(), c("a", "b")), start = 0, end = 2)
  expect_identical(found(empty), "silent units")
  expect_identical(found(spike_trains(1, "a")), "silent units")
  expect_identical(found(spike_trains(numeric(), character(), start = 0, end = 1)), character())
})

test_that("the page has its panels and its findings", {
  skip_if_not_installed("ggplot2")
  set.seed(8)
  report <- check_recording(recording_of(sound_spikes(3), end = 300), threads = 1)
  page <- ggplot2::autoplot(report)
  expect_match(page$labels$subtitle, "The observation interval has no spike")
  # Panels are in rows: rate of all, of each unit; intervals, rates of units.
  panels <- ggplot2::ggplot_build(page)$layout$panel_params
  labels <- lapply(panels, \(panel) lapply(panel[c("x", "y")], \(axis) {
    label <- axis$get_labels()
    label[!is.na(axis$get_breaks())]
  }))
  expect_identical(labels[[2L]]$y, as.character(report$units$unit))
  expect_true(all(c("0", "100", "200", "300") %in% labels[[1L]]$x))
  seconds <- as.numeric(labels[[3L]]$x)
  expect_equal(log10(seconds), round(log10(seconds)))
  expect_true(all(c("0.01", "0.1", "1") %in% labels[[3L]]$x))
  expect_identical(labels[[4L]]$y[[1L]], "0")
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  expect_no_warning(print(page))
  expect_no_warning(plot(check_recording(spike_trains(1, "a"))))
  empty <- spike_trains(numeric(), character(), start = 0, end = 1)
  expect_no_warning(plot(check_recording(empty)))
  report$rates <- NULL
  expect_error(print(report), class = "synfire_error_argument")
})

test_that("real recordings give no false alarm", {
  retina <- hdf5r::H5File$new(shared_data("recordings/retina-1152.h5"), "r")
  withr::defer(retina$close_all())
  x <- spike_trains(retina[["spikes"]][], rep(retina[["names"]][], retina[["sCount"]][]))
  expect_setequal(found(x), c("shared spikes", "refractory", "drift"))
  mouse <- suppressMessages(read_spikes(shared_data("recordings/mouse-A8604.nwb")))
  expect_identical(found(mouse), "refractory")
  song <- suppressMessages(read_spikes(shared_data("recordings/songbird.txt")))
  expect_setequal(found(song), c("time step", "silent units"))
  axion <- utils::read.csv(gzfile(shared_data("episodes/axion_B3.csv.gz")))
  expect_identical(found(spike_trains(axion$time / 1000, axion$neuron)), "silent units")
})
