# Spikes that name their trial, and rates over trials.

# Twenty trials of a second at 20 Hz, on the clock of each trial.
twenty_trials <- function() {
  set.seed(5)
  do.call(rbind, lapply(1:20, \(k) data.frame(
    time = sort(round(runif(40), 4)), neuron = rep(c("a", "b"), 20), trial = k
  )))
}

test_that("times from the start of each trial are laid out one after the other", {
  d <- twenty_trials()
  expect_message(x <- as_spike_trains(d), class = "synfire_message")
  expect_match(format(x), "20 Hz per unit in trials")
  expect_equal(summary(x)$rate, c(20, 20))
  expect_identical(trial_table(x), data.frame(trial = 1:20, start = seq(0, 38, 2) + 0,
                                              end = seq(1, 39, 2) + 0))
  expect_silent(y <- spike_trains(d$time, d$neuron, trial = d$trial, trial_clock = "trial"))
  expect_identical(x, y)
  # Each trial holds its own spikes.
  expect_equal(sort(x$time - trial_table(x)$start[synfire:::trial_of(x)]), sort(d$time))
  # In another order, with a trial that has no spikes, and a window of its own.
  o <- sample(nrow(d))
  z <- spike_trains(d$time[o], d$neuron[o], trial = factor(d$trial[o], 1:21),
                    trial_clock = "trial", trial_window = c(-0.5, 1))
  expect_identical(trial_table(z)$trial, as.character(1:21))
  expect_equal(diff(trial_table(z)$start), rep(2.5, 20))
  # Trials with conditions but no times.
  w <- spike_trains(d$time, d$neuron, trial = d$trial, trial_clock = "trial",
                    trials = data.frame(trial = 20:1, go = TRUE))
  expect_identical(trial_table(w)[1, ], data.frame(trial = 20L, start = 0, end = 1, go = TRUE))
  expect_equal(sum(w$time < 1.5), 40)
})

test_that("times on one clock stay, and trials reach over their spikes", {
  d <- twenty_trials()
  d$time <- d$time + 3 * d$trial
  expect_message(x <- as_spike_trains(d), "clock of the recording", class = "synfire_message")
  expect_equal(x$time, sort(d$time))
  expect_equal(trial_table(x)$start, as.double(tapply(d$time, d$trial, min)))
  expect_equal(trial_table(x)$end, as.double(tapply(d$time, d$trial, max)))
  expect_silent(spike_trains(d$time, d$neuron, trial = d$trial, trial_clock = "recording"))
})

test_that("a table of trials says on which clock times count", {
  d <- twenty_trials()
  trials <- data.frame(trial = 1:20, start = 3 * 1:20, end = 3 * 1:20 + 1)
  expect_message(x <- spike_trains(d$time, d$neuron, trial = d$trial, trials = trials),
                 "from the start of each trial", class = "synfire_message")
  expect_silent(y <- spike_trains(d$time + 3 * d$trial, d$neuron, trial = d$trial,
                                  trials = trials))
  expect_identical(x, y)
  # A label that differs from the table's time is never passed over.
  wrong <- replace(d$trial, 7, 9)
  expect_error(spike_trains(d$time + 3 * d$trial, d$neuron, trial = wrong, trials = trials),
               class = "synfire_error_argument")
  # NA is outside of all trials, and only there.
  expect_message(z <- spike_trains(c(d$time + 3 * d$trial, 100), c(d$neuron, "a"),
                                   trial = c(d$trial, NA), trials = trials), "1 of 801 spikes")
  expect_identical(sum(is.na(synfire:::trial_of(z))), 1L)
  expect_error(spike_trains(d$time + 3 * d$trial, d$neuron, trial = replace(d$trial, 7, NA),
                            trials = trials), class = "synfire_error_argument")
})

test_that("what is not clear is an error that says what to do", {
  skip_on_cran()
  t <- c(0.1, 0.2, 0.3, 1.4)
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 1, 2, 2)))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = 1:2))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = list(1)))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial_clock = "trial"))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 2, NA, 1), trial_clock = "trial"))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = 1:4, trial_clock = "epoch"))
  table <- data.frame(start = c(0, 1), end = c(0.5, 2))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 1, 1, 3), trials = table))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 1, 2, 1), trials = table))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 1, 2, 2), trials = table,
                                             trial_clock = "recording"))
  expect_snapshot(error = TRUE, spike_trains(t, 1, trial = c(1, 1, 1, 2), trials = table,
                                             trial_window = c(0, 1)))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(time = t, unit = 1, sweep = 1:4)))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(
    time = t, unit = 1, trial = c(1, 2, 1, 2), block = c(1, 1, 2, 2)
  )))
})

test_that("columns of trials are found, chosen, ruled out, or of no account", {
  d <- twenty_trials()
  want <- suppressMessages(as_spike_trains(d))
  sweeps <- data.frame(time_ms = d$time * 1000, unit = d$neuron, Sweep_Nr = d$trial)
  expect_identical(suppressMessages(as_spike_trains(sweeps, trial_column = "Sweep_Nr")), want)
  # Without trials, a clock that restarts is still worth a warning.
  expect_warning(x <- as_spike_trains(sweeps, trial_column = NA), class = "synfire_warning")
  expect_null(trial_table(x))
  expect_warning(x <- as_spike_trains(transform(sweeps, Sweep_Nr = 1)), class = "synfire_warning")
  expect_null(trial_table(x))
  blocks <- transform(d, block = (trial - 1) %/% 10, trial = (trial - 1) %% 10)
  y <- suppressMessages(as_spike_trains(blocks, trial_column = c("block", "trial")))
  expect_identical(y$time, want$time)
  expect_identical(trial_table(y)$trial[c(1, 11)], c("0_0", "1_0"))
})

test_that("units of time are converted with whole factors", {
  expect_identical(spike_trains(1380.56, "a", time_unit = "ms"), spike_trains(1.38056, "a"))
  expect_identical(spike_trains(7L, "a", time_unit = "us"), spike_trains(7e-6, "a"))
  x <- spike_trains(c(30000L, 3L), "a", time_unit = "samples", sampling_rate = 30000,
                    resolution = 1 / 30000)
  expect_identical(synfire:::train_ticks(x), c(3, 30000))
  expect_identical(as_spike_trains(list(a = c(1, 2.5)), time_unit = "ms")$time, c(0.001, 0.0025))
  expect_error(spike_trains(1, "a", sampling_rate = 3), class = "synfire_error_argument")
  expect_error(spike_trains(1, "a", time_unit = "samples"), class = "synfire_error_argument")
  expect_error(spike_trains(1, "a", time_unit = "min"), class = "synfire_error_argument")
})

test_that("rates are over the time of trials, and what lies outside is said once", {
  trials <- data.frame(start = c(0, 10), end = c(1, 11), condition = c("go", "stop"))
  expect_message(x <- spike_trains(c(0.5, 5, 5.5, 10.5, 10.6), c(1, 1, 2, 1, 2), trials = trials),
                 "2 of 5 spikes lie outside of all trials", class = "synfire_message")
  expect_match(format(x), "5 spikes (2 outside of trials)", fixed = TRUE)
  expect_identical(summary(x)$rate, c(1, 0.5))
  expect_identical(summary(x)$spikes, c(3L, 2L))
  expect_silent(x[time = c(0, 10.5)][unit = "1"][1:2, ])
})

test_that("trials and units are chosen by name, by number and by condition", {
  skip_on_cran()
  x <- suppressMessages(spike_trains(
    c(0.5, 5, 10.5, 10.6, 20), c("a", "b", "a", "b", "c"),
    trials = data.frame(trial = c("p", "q", "r"), start = c(0, 10, 20), end = c(1, 11, 21),
                        go = c(TRUE, FALSE, NA), reward = c(1, 2, 3)),
    unit_table = data.frame(unit = c("a", "b", "c"), area = c("V1", "V1", "V4"), depth = 3:1)
  ))
  expect_identical(x[trial = c("q", "p")]$time, c(0.5, 10.5, 10.6))
  expect_identical(x[trial = 2:3], x[trial = reward > 1])
  expect_identical(trial_table(x[trial = go])$trial, "p")
  expect_identical(c(attr(x[trial = "q"], "start"), attr(x[trial = "q"], "end")), c(10, 11))
  expect_identical(levels(x[unit = area == "V1"]$unit), c("a", "b"))
  expect_identical(x[unit = c("c", "a")], x[unit = unit_table(x)$unit[c(3, 1)]])
  # A column's name is no trap for a vector of names.
  unit <- "c"
  trial <- 3
  expect_identical(levels(x[unit = unit]$unit), "c")
  expect_identical(trial_table(x[trial = trial])$trial, "r")
  threshold <- 1
  f <- \(y, least) y[unit = depth > least, trial = reward < 3]
  expect_identical(levels(f(x, threshold)$unit), c("a", "b"))
  expect_identical(f(x, 1), x[trial = 1:2][unit = c("a", "b")])
  expect_snapshot(error = TRUE, x[trial = "nobody"])
  expect_snapshot(error = TRUE, x[trial = reward > 7])
  expect_snapshot(error = TRUE, x[trial = rewrad > 7])
  expect_snapshot(error = TRUE, x[unit = depth > 7])
  expect_snapshot(error = TRUE, x[trial = TRUE])
  expect_snapshot(error = TRUE, spike_trains(1, "a")[trial = 1])
  expect_snapshot(error = TRUE, spike_trains(1, "a")[unit = area == "V1"])
})

test_that("units without spikes are named in print", {
  x <- spike_trains(1, factor("a", levels = c("a", "b", "c")))
  expect_output(print(x), "Units without spikes: b, c")
})

test_that("a trial is chosen by its label, wherever it stands", {
  x <- suppressMessages(spike_trains(c(0.5, 1.5, 2.5), "a", trials = data.frame(
    trial = c("10", "20", "2"), start = 0:2, end = 1:3 - 0.1)))
  expect_identical(x[trial = 2]$time, 2.5)
  expect_identical(x[trial = c(20, 10)]$time, c(0.5, 1.5))
  expect_error(x[trial = 3], "among the 3 trials", class = "synfire_error_argument")
  # One label that is a number is enough for numbers to be labels.
  y <- suppressMessages(spike_trains(c(0.5, 1.5), "a", trials = data.frame(
    trial = c("go", "1"), start = 0:1, end = 1:2 - 0.1)))
  expect_identical(y[trial = 1]$time, 1.5)
})

test_that("bounds beside trials whose times overlap are those of each trial", {
  time <- c(0.1, 0.9, 0.2, 0.4)
  trial <- c(1L, 1L, 2L, 2L)
  want <- suppressMessages(spike_trains(time, 1, trial = trial, trial_window = c(0, 1)))
  expect_identical(suppressMessages(spike_trains(time, 1, 0, 1, trial = trial)), want)
  expect_identical(suppressMessages(spike_trains(time, 1, end = 1, trial = trial)), want)
  expect_equal(trial_table(want)$end - trial_table(want)$start, c(1, 1))
  file <- csv_file("time,unit,trial", paste(time, 1, trial, sep = ","))
  expect_identical(suppressMessages(read_spikes(file, start = 0, end = 1)), want)
  expect_error(suppressMessages(spike_trains(time, 1, 0, 0.5, trial = trial)), "`start` must be wide",
               class = "synfire_error_argument")
  # Where times count on one clock, they are the recording's.
  one <- suppressMessages(spike_trains(time + trial, 1, 0, 5, trial = trial, trial_clock = "recording"))
  expect_identical(attr(one, "end"), 5)
})

test_that("a range may end between two ticks, and its halves share no spike", {
  x <- spike_trains(c(0, 4, 5, 9) * 1e-6, "a")
  middle <- mean(c(attr(x, "start"), attr(x, "end")))
  first <- x[time = c(0, middle)]
  second <- x[time = c(middle, Inf)]
  expect_identical(c(first$time, second$time), x$time)
  expect_identical(c(attr(first, "end"), attr(second, "start")), c(4e-6, 5e-6))
  expect_identical(x[time = c(0.2, 4) * 1e-6]$time, 4e-6)
  # What rounding does to a double is no half tick.
  y <- spike_trains(c(0.1, 0.3), "a", start = 0, end = 1)
  expect_identical(nrow(y[time = c(0, 0.1 + 0.2)]), 2L)
  expect_error(x[time = c(4.2, 4.8) * 1e-6], "at least a tick", class = "synfire_error_argument")
  file <- csv_file("time,unit", paste(format(x$time, scientific = FALSE), "a", sep = ","))
  expect_identical(read_spikes(file, to = middle)$time, first$time)
})
