# Assemblies beyond the responses to events.

# Units that respond to events one after the other, 20 ms apart, with `spikes` on the mean; the
# response has a standard deviation of 10 ms. `order` says for each event at which place a unit
# responds. The units of `together` fire in sequence `count` times, whatever the events.
responders <- function(seed, events = 100, units = 12, order = rep(list(seq_len(units)), events),
                       together = NULL, count = 80, rate = 4, spikes = 1) {
  set.seed(seed)
  at <- round(cumsum(runif(events, 0.8, 1.6)), 3)
  end <- ceiling(max(at) + 1)
  own <- lapply(seq_len(units), \(u) {
    latency <- 0.05 + 0.02 * vapply(order, \(o) o[[u]] + 0, 0)
    c(runif(rpois(1, rate * end), 0, end), rep(at + latency, rpois(events, spikes)))
  })
  own <- lapply(own, \(t) t + rnorm(length(t), 0, 0.01))
  start <- runif(count, 0.1, end - 0.2)
  for (k in seq_along(together)) {
    own[[together[[k]]]] <- c(own[[together[[k]]]], start + 0.03 * k + runif(count, 0, 0.004))
  }
  time <- unlist(own)
  unit <- rep(sprintf("u%02d", seq_len(units)), lengths(own))
  inside <- time >= 0 & time <= end
  list(x = spike_trains(time[inside], unit[inside], start = 0, end = end), events = at)
}

find_locked <- function(made, locked_to = made$events, ...) {
  set.seed(1)
  find_assemblies(made$x, max_lag = 0.3, n_surrogates = 19, locked_to = locked_to, ...)
}

test_that("responses one after the other are no assembly, and one on top of them is", {
  made <- responders(1)
  expect_gte(nrow(find_locked(made, NULL, threads = 1)), 1L)
  none <- find_locked(made, threads = 1)
  expect_identical(nrow(none), 0L)
  expect_gt(attr(none, "best")[["p"]], 0.05)
  expect_output(print(none), "beyond the response of each unit to 100 events")
  planted <- responders(2, together = c(3, 7, 11, 5))
  found <- find_locked(planted, threads = 1)
  expect_identical(found$units, list(c("u03", "u07", "u11", "u05")))
  expect_equal(found$lags[[1L]], c(0, 0.03, 0.06, 0.09), tolerance = 0.05)
  expect_gt(found$count, 60)
  expect_lt(found$expected, 15)
  expect_identical(attr(found, "locked_to"),
                   data.frame(time = planted$events, condition = factor(rep("all", 100))))
  expect_identical(as.data.frame(find_locked(planted, threads = 2)), as.data.frame(found))
})

test_that("trials are events at their starts", {
  made <- responders(3, together = c(2, 4, 9, 12))
  ends <- c(made$events[-1L], attr(made$x, "end"))
  trials <- data.frame(start = made$events, end = ends - 0.01)
  x <- spike_trains(made$x$time, as.character(made$x$unit), start = 0, end = attr(made$x, "end"),
                    trials = trials) |> suppressMessages()
  of <- function(locked_to) {
    found <- find_locked(list(x = x), locked_to, threads = 1) |> suppressMessages()
    as.data.frame(found)
  }
  expect_identical(of("trials"), of(trials$start))
  expect_identical(of("trials")$units, list(c("u02", "u04", "u09", "u12")))
})

test_that("spikes stay with events of their condition", {
  kind <- rep(c("go", "stop"), 60)
  set.seed(4)
  order <- list(go = sample(12), stop = sample(12))
  made <- responders(5, events = 120, order = order[kind], spikes = 2)
  events <- data.frame(time = made$events, condition = kind)
  mixed <- find_locked(made, made$events, threads = 1)
  none <- find_locked(made, events, threads = 1)
  expect_lt(attr(none, "best")[["score"]], attr(mixed, "best")[["score"]])
  expect_identical(nrow(none), 0L)
  expect_output(print(none), "to 120 events in 2 conditions")
})

test_that("responses of all units are no population bursts, and bursts at other times are", {
  made <- responders(6, units = 14, order = rep(list(rep(1, 14)), 100))
  expect_lt(attr(find_locked(made, threads = 1), "left_out"), 0.01)
  time <- c(made$x$time, rep(seq(1.37, 60, by = 7), each = 28) + runif(252, 0, 0.03))
  unit <- c(as.character(made$x$unit), rep(levels(made$x$unit), 18))
  burst <- spike_trains(time, unit, start = 0, end = attr(made$x, "end"))
  found <- find_locked(list(x = burst, events = made$events), threads = 1)
  expect_gte(nrow(attr(found, "bursts")), 5L)
})

test_that("a recording begins with an event or a mark, and marks cut long times", {
  x <- spike_trains(1, "a", start = 0, end = 100)
  events <- locked_events(c(20, 10, 12, 14.5, 18), x)
  expect_identical(events$table$time, c(10, 12, 14.5, 18, 20))
  expect_identical(events$kind[events$tick %in% (c(10, 12, 14.5, 18, 20) * 1e6)], rep(1L, 5))
  expect_identical(events$tick[[1L]], 0)
  expect_identical(events$kind[[1L]], 2L)
  expect_true(all(diff(c(events$tick, 1e8)) < 2 * 2.5e6))
  expect_true(all(diff(events$tick) > 0))
  of <- locked_events(data.frame(time = 1:7, condition = c("a", NA, "b", "a", "a", "a", "a")), x)
  expect_identical(of$table, data.frame(time = c(1, 4:7), condition = factor(rep("a", 5))))
})

test_that("summaries name events that activations follow", {
  made <- responders(7, events = 200)
  # The sequence follows three in ten events, after 0.3 s.
  at <- rep(made$events[runif(200) < 0.3] + 0.3, 4)
  lag <- rep(0.03 * 0:3, each = length(at) / 4)
  time <- c(made$x$time, at + lag + runif(length(at), 0, 0.003))
  unit <- c(as.character(made$x$unit), rep(c("u03", "u07", "u11", "u05"), each = length(at) / 4))
  x <- spike_trains(time, unit, start = 0, end = attr(made$x, "end"))
  found <- find_locked(list(x = x, events = made$events), threads = 1)
  expect_gte(nrow(found), 1L)
  words <- gsub(" +", " ", paste(capture.output(print(summary(found))), collapse = " "))
  expect_match(words, "at some times after an event more than at others")
})

test_that("wrong events are named", {
  x <- responders(8)$x
  wrong <- function(locked_to, what) {
    expect_error(find_assemblies(x, locked_to = locked_to), what, class = "synfire_error_argument")
  }
  wrong("trials", "`locked_to` must be times of events, as the recording has no trials")
  wrong("trial", "`locked_to` must be NULL, \"trials\", or times of events")
  wrong(c(1, NA, 3:9), "`locked_to` must be finite times in seconds")
  wrong(1:4, "at least five events of a condition in the recording")
  wrong(1e6 + 1:100, "0 of 100 events in it")
  wrong(TRUE, "`locked_to`")
})
