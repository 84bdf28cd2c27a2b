test_that("counts and errors are those of a slow count of single events", {
  set.seed(1)
  for (case in cases(40)) {
    x <- small_recording()
    events <- sample(0:300, sample(1:12, 1), TRUE)
    bin <- sample(1:10, 1)
    from <- sample(-20:20, 1)
    to <- from + bin * sample(1:6, 1)
    condition <- sample(c("b", "a", NA), length(events), TRUE)
    slow <- slow_psth(x, events, from, to, bin)
    keep <- slow$keep & !is.na(condition)
    table <- data.frame(time = events / 1000, tone = condition)
    call <- quote(psth(x, table, from / 1000, to / 1000, bin / 1000, by = "tone"))
    if (!any(keep)) {
      expect_error(eval(call), class = "synfire_error_argument")
      next
    }
    ours <- eval(call)
    expect_identical(attr(ours, "left_out"), sum(!keep))
    for (tone in unique(condition[keep])) {
      these <- slow$counts[keep & condition %in% tone, , , drop = FALSE]
      n <- dim(these)[[1L]]
      mine <- as.data.frame(ours)[ours$tone == tone, ]
      sums <- apply(these, 2:3, sum)
      expect_identical(mine$count, as.vector(sums))
      expect_equal(mine$rate, as.vector(sums) / n / bin * 1000)
      se <- apply(these, 2:3, stats::sd) / sqrt(n) / bin * 1000
      expect_equal(mine$se, as.vector(se))
      expect_identical(unique(mine$events), n)
      expect_equal(unique(mine$time), (from + bin * (seq_len(dim(sums)[[1L]]) - 1)) / 1000)
    }
  }
})

test_that("without events it goes through the trials", {
  x <- spike_trains(c(0.05, 0.15, 1.05, 1.25, 2.02), "a", start = 0, end = 3,
                    trials = data.frame(start = 0:2, end = c(0.3, 1.35, 2.3)))
  p <- psth(x, bin_size = 0.1)
  expect_identical(p$count, c(3L, 1L, 1L))
  expect_identical(p$time, c(0, 0.1, 0.2))
  expect_identical(attr(p, "event_table")$time, c(0, 1, 2))
  expect_identical(attr(p, "spikes")$event, c(1L, 1L, 2L, 2L, 3L))
  expect_equal(attr(p, "spikes")$time, c(0.05, 0.15, 0.05, 0.25, 0.02))
})

test_that("a column of the trials is a condition", {
  x <- spike_trains(c(0.05, 1.05, 1.15, 2.05), "a", trials = data.frame(
    start = 0:2, end = c(0.2, 1.2, 2.2), cue = factor(c("right", "left", "right"))
  ))
  p <- psth(x, bin_size = 0.1, by = "cue")
  expect_identical(as.character(p$cue), c("left", "left", "right", "right"))
  expect_identical(p$count, c(1L, 1L, 2L, 0L))
  expect_identical(p$events, c(1L, 1L, 2L, 2L))
  expect_equal(p$rate, c(10, 10, 10, 0))
})

test_that("the table and print say what was left out", {
  x <- spike_trains(c(1.1, 1.15, 2.1), "a", start = 0, end = 3)
  p <- psth(x, c(1, 2, 2.9), 0, 0.4, bin_size = 0.2)
  expect_output(print(p), "1 event left out")
  expect_output(print(p), "1 unit, 2 events, 0 to 0.4 s in bins of 0.2 s")
  expect_identical(class(as.data.frame(p)), "data.frame")
  expect_s3_class(p[2:1, ], "psth")
  p$rate <- 1
  expect_identical(class(p), "data.frame")
})

test_that("the picture shows every spike and every bin", {
  skip_if_not_installed("ggplot2")
  set.seed(2)
  x <- spike_trains(runif(500, 0, 20), sample(6, 500, TRUE), start = 0, end = 20)
  events <- data.frame(time = 1:18, tone = c("low", "high"))
  p <- psth(x, events, -0.5, 1, 0.1, by = "tone")
  picture <- ggplot2::autoplot(p, unit = c("3", "5"))
  expect_identical(nrow(picture$layers[[1L]]$data), sum(attr(p, "spikes")$unit %in% c("3", "5")))
  expect_identical(sort(unique(picture$layers[[1L]]$data$row)), 1:18)
  expect_identical(nrow(picture$layers[[3L]]$data), 2L * 2L * 2L * 15L)
  # A step a bin: 14 inner edges of 15 bins are there twice, on exactly the same time.
  line <- picture$layers[[3L]]$data
  edges <- table(table(line$time[line$unit == "3" & line$condition == "low"]))
  expect_identical(as.integer(edges[c("1", "2")]), c(2L, 14L))
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  expect_no_warning(print(picture))
  expect_no_warning(plot(psth(x, 1:18, 0, 1, 0.1)))
  expect_no_warning(plot(psth(x, 5, 0, 1, 0.1)))
  expect_error(ggplot2::autoplot(p, unit = "nobody"), "nobody")
  shaded <- ggplot2::autoplot(p, stimulus = c(0, 0.2))
  expect_identical(unlist(ggplot2::layer_data(shaded, 1L)[1L, c("xmin", "xmax")]),
                   c(xmin = 0, xmax = 0.2))
  expect_match(shaded$labels$caption, "Shaded: the stimulus.")
  expect_error(ggplot2::autoplot(p, stimulus = c(1, 0)), "`stimulus` must be",
               class = "synfire_error_argument")
})

test_that("a slow unit beside a fast one has its own axis of rates", {
  skip_if_not_installed("ggplot2")
  set.seed(5)
  x <- spike_trains(c(runif(6000, 0, 100), runif(20, 0, 100)), rep(c("fast", "slow"), c(6000, 20)),
                    start = 0, end = 100)
  p <- psth(x, seq(1, 98, by = 1), 0, 1, 0.1)
  picture <- ggplot2::autoplot(p)
  built <- ggplot2::ggplot_build(picture)
  limits <- lapply(built$layout$panel_params, \(panel) panel$y$limits)
  expect_identical(as.character(built$layout$layout$panel),
                   c("events fast", "events slow", "rate fast", "rate slow"))
  # All events are there for each unit, and rates begin at 0.
  expect_identical(limits[[1L]], limits[[2L]])
  expect_identical(c(limits[[3L]][[1L]], limits[[4L]][[1L]]), c(0, 0))
  high <- tapply(p$rate + p$se, p$unit, max)
  expect_equal(limits[[3L]][[2L]], high[["fast"]])
  expect_equal(limits[[4L]][[2L]], high[["slow"]])
  expect_match(picture$labels$caption, "Each unit has its own axis of rates.")
})

test_that("of many conditions those with the most events are drawn", {
  skip_if_not_installed("ggplot2")
  set.seed(4)
  x <- spike_trains(runif(3000, 0, 100), sample(2, 3000, TRUE), start = 0, end = 100)
  kinds <- sprintf("a condition of number %02d", 1:12)
  events <- data.frame(time = seq(2, 97, by = 1), kind = kinds)
  # The last four have fewer events.
  events <- events[events$kind %in% kinds[1:8] | events$time < 50, ]
  p <- psth(x, events, -0.5, 0.5, 0.1, by = "kind")
  picture <- ggplot2::autoplot(p, unit = "1")
  drawn <- kinds[1:8]
  expect_setequal(as.character(picture$layers[[3L]]$data$condition), drawn)
  expect_match(picture$labels$caption, "8 of 12 conditions")
  held <- attr(p, "event_table")
  spikes <- attr(p, "spikes")
  shown <- spikes$unit == "1" & held$condition[spikes$event] %in% drawn
  expect_identical(nrow(picture$layers[[1L]]$data), sum(shown))
  expect_lte(max(picture$layers[[1L]]$data$row), sum(held$condition %in% drawn))
  rates <- as.data.frame(p)[p$unit == "1" & p$kind == drawn[[2L]], "rate"]
  line <- picture$layers[[3L]]$data
  expect_identical(line$rate[line$condition == drawn[[2L]]], rep(rates, each = 2L))
  # Bands of so many would hide each other.
  expect_identical(nrow(picture$layers[[2L]]$data), 0L)
  expect_identical(synfire:::legend_columns(strrep("x", c(3, 24)))$ncol, 2)
  expect_identical(synfire:::legend_columns(strrep("x", rep(24, 5)))$ncol, 3)
})

test_that("a recording without a unit has an empty histogram that can be drawn", {
  none <- psth(spike_trains(numeric(), character(), start = 0, end = 9), 1:3, -0.5, 0.5, 0.1)
  expect_identical(typeof(none$se), "double")
  skip_if_not_installed("ggplot2")
  expect_message(ggplot2::autoplot(none), "There is no unit")
})

test_that("what cannot be is refused with the remedy", {
  x <- spike_trains(c(0.1, 0.2), "a", start = 0, end = 1)
  expect_snapshot(error = TRUE, psth(x))
  expect_snapshot(error = TRUE, psth(x, 0.5))
  expect_snapshot(error = TRUE, psth(x, 500, -0.1, 0.1))
  expect_snapshot(error = TRUE, psth(x, 0.5, 0, 0.105))
  expect_snapshot(error = TRUE, psth(x, data.frame(onset = 1), 0, 0.1))
  expect_snapshot(error = TRUE, psth(x, data.frame(time = 0.5), 0, 0.1, by = "tone"))
})

test_that("the caption says what the line and the band are", {
  skip_if_not_installed("ggplot2")
  x <- spike_trains(c(1.1, 1.15, 2.1, 2.3, 3.1), "A", start = 0, end = 4)
  said <- function(...) ggplot2::autoplot(psth(x, bin_size = 0.1, ...))$labels$caption
  expect_match(said(events = 1:3, from = -0.5, to = 0.5), "Dotted line: the event.\nBand",
               fixed = TRUE)
  expect_match(said(events = 1:3, from = 0, to = 0.5), "^Band: one standard error")
  expect_null(said(events = 1, from = 0, to = 0.5))
})
