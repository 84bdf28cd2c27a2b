ticks_of <- function(x) synfire:::train_ticks(x)

test_that("spikes are sorted by time and unit, and kept once", {
  x <- spike_trains(c(3, 1, 2, 1, 3), c("b", "b", "a", "a", "b"))
  expect_s3_class(x, c("spike_trains", "data.frame"), exact = TRUE)
  expect_identical(x$time, c(1, 1, 2, 3))
  expect_identical(as.character(x$unit), c("a", "b", "a", "b"))
  expect_identical(attr(x, "start"), 1)
  expect_identical(attr(x, "end"), 3)
  expect_identical(attr(x, "resolution"), 1e-6)
  expect_null(attr(x, "trials"))
})

test_that("the order of the input means nothing", {
  set.seed(1)
  for (k in cases(20)) {
    time <- sample(-5:5, 30, TRUE)
    unit <- sample(c("n2", "n10", "n1"), 30, TRUE)
    o <- sample(30)
    expect_identical(spike_trains(time, unit), spike_trains(time[o], unit[o]))
    # Oracle: distinct pairs.
    expect_identical(nrow(spike_trains(time, unit)), nrow(unique(data.frame(time, unit))))
  }
})

# What spike_trains() does, in the plainest way.
plain_spikes <- function(ticks, unit, levels) {
  code <- match(as.character(unit), levels)
  rows <- unique(data.frame(ticks, code))
  rows[order(rows$ticks, rows$code), ]
}

test_that("many spikes in any order, with units of any kind, are sorted and kept once", {
  skip_on_cran()
  set.seed(7)
  for (n in c(0, 1, 2, 1000, 3e5)) for (spread in c(3, 1e5, 1e13)) {
    ticks <- floor(runif(n, -spread, spread))
    unit <- sample(c(7L, -3L, 100000L, 12L), n, TRUE)
    want <- plain_spikes(ticks, unit, c("-3", "7", "12", "100000"))
    for (given in list(unit, unit + 0, as.character(unit), factor(unit))) {
      x <- spike_trains(ticks, given, resolution = 1, start = -1e14, end = 1e14)
      expect_identical(x$time, want$ticks)
      expect_identical(as.character(x$unit), levels(factor(unit))[
        match(c("-3", "7", "12", "100000")[want$code], levels(factor(unit)))])
    }
    # Sorted ones take another way.
    expect_identical(spike_trains(want$ticks, x$unit, resolution = 1, start = -1e14, end = 1e14), x)
  }
})

test_that("times and units that do not fit a word together are sorted as well", {
  time <- c(2^52, 5, -2^52, 5, 5)
  unit <- factor(c("b", "b", "a", "a", "b"), levels = c("a", "b", paste0("u", 1:5000)))
  x <- spike_trains(time, unit, resolution = 1)
  expect_identical(x$time, c(-2^52, 5, 5, 2^52))
  expect_identical(as.character(x$unit), c("a", "a", "b", "b"))
})

test_that("distinct values are numbered in the order in which they come", {
  distinct <- \(x) .Call(synfire:::r_distinct, x)
  expect_identical(distinct(c(0, -0, NaN, NA, 1)), list(values = c(0, NA, 1),
                                                        code = c(1L, 1L, 2L, 2L, 3L)))
  expect_identical(distinct(c(NA, 5L, NA)), list(values = c(NA, 5L), code = c(1L, 2L, 1L)))
  many <- sample(1e5)
  expect_identical(distinct(many), list(values = many, code = seq_along(many)))
  expect_identical(distinct(character()), list(values = character(), code = integer()))
})

test_that("times become the nearest tick and come back unchanged", {
  x <- spike_trains(c(1.38056, 1.3805604, 1.3805606, -0.1), "a")
  expect_identical(ticks_of(x), c(-100000, 1380560, 1380561))
  expect_identical(x$time, c(-0.1, 1.38056, 1.380561))

  # Half way: the even tick.
  expect_identical(ticks_of(spike_trains(c(0.5, 1.5, 2.5), "a", resolution = 1)), c(0, 2))

  set.seed(2)
  for (resolution in c(1e-6, 1e-9, 1 / 30000, 1 / 24414.0625, 0.5, 1, 3, 7e-4)) {
    ticks <- sort(unique(round(runif(1000, -1, 1) * 10^sample(1:14, 1000, TRUE))))
    time <- synfire:::ticks_to_seconds(ticks, resolution)
    # A unit that is this slow is unlikely.
    x <- suppressWarnings(spike_trains(time, "a", resolution = resolution))
    expect_identical(ticks_of(x), ticks)
  }
})

test_that("milliseconds and samples are converted with whole factors", {
  expect_identical(synfire:::round_to_ticks(1380.56, 1e-6, 1000), 1380560)
  ms <- c(1:99999) / 100
  expect_identical(synfire:::round_to_ticks(ms, 1e-6, 1000), (1:99999) * 10)
  expect_identical(synfire:::round_to_ticks(c(1, 12345), 1 / 30000, 30000), c(1, 12345))
  expect_identical(synfire:::round_to_ticks(c(3, 30000), 1e-6, 30000), c(100, 1e6))
})

test_that("bounds must be whole ticks", {
  to_ticks <- synfire:::seconds_to_ticks
  expect_identical(to_ticks(c(0.005, 0.1 + 0.2, -1, 0), 1e-6), c(5000, 300000, -1e6, 0))
  expect_identical(to_ticks(0.3 - 0.2 - 0.1, 1e-6), 0)
  expect_error(to_ticks(5e-7, 1e-6), class = "synfire_error_argument")
  # Far from zero a relative bound alone would let half a tick pass.
  expect_error(to_ticks(911.0000005, 1e-6), class = "synfire_error_argument")
  expect_identical(to_ticks(911.000001, 1e-6), 911000001)
  expect_error(to_ticks(NaN, 1e-6), class = "synfire_error_argument")
  expect_error(to_ticks(Inf, 1e-6), class = "synfire_error_argument")
  expect_identical(to_ticks(2^53 - 1, 1), 2^53 - 1)
  expect_error(to_ticks(2^53, 1), class = "synfire_error_argument")
})

test_that("units become levels in an order that no locale changes", {
  levels_of <- \(u) levels(spike_trains(seq_along(u), u)$unit)
  expect_identical(levels_of(c(10, 2, 1e5, -1)), c("-1", "2", "10", "100000"))
  expect_identical(levels_of(c(2L, 10L)), c("2", "10"))
  expect_identical(levels_of(c(0.5, 0.25)), c("0.25", "0.5"))
  expect_identical(levels_of(c("ch10", "ch2", "ch02", "Ch3", "a")),
                   c("Ch3", "a", "ch02", "ch2", "ch10"))
  expect_identical(levels_of(c("10", "9", "-2", "-10")), c("-10", "-2", "9", "10"))
  expect_identical(levels_of(c("b1a2", "b1a10", "b01a3")), c("b1a2", "b01a3", "b1a10"))
  expect_identical(levels_of(factor(c("z", "a"), levels = c("z", "silent", "a"))),
                   c("z", "silent", "a"))
  expect_identical(levels_of(c("\u00e9", "z", "e")), c("e", "z", "\u00e9"))
})

test_that("an empty train needs its interval", {
  expect_error(spike_trains(numeric(), character()), class = "synfire_error_argument")
  x <- spike_trains(numeric(), factor(character(), levels = c("a", "b")), start = 0, end = 2)
  expect_identical(nrow(x), 0L)
  expect_identical(nlevels(x$unit), 2L)
  expect_output(print(x), "2 units, 0 spikes, 2 s")
  expect_identical(summary(x)$spikes, c(0L, 0L))
  expect_identical(summary(spike_trains(numeric(), character(), start = 0, end = 1))$rate,
                   numeric())
})

test_that("trials are sorted, checked and widen the default interval", {
  x <- spike_trains(c(0.5, 1, 2.5), "a", trials = data.frame(
    trial = c("late", "early"), start = c(2, 0), end = c(3, 1), extra = 1
  ))
  expect_identical(attr(x, "trials"),
                   data.frame(trial = c("early", "late"), start = c(0, 2), end = c(1, 3),
                              extra = 1))
  expect_identical(c(attr(x, "start"), attr(x, "end")), c(0, 3))
  expect_identical(synfire:::trial_of(x), c(1L, 1L, 2L))

  touching <- data.frame(start = c(0, 1), end = c(1, 2))
  y <- spikes_outside(spike_trains(c(-1, 0, 1, 2, 3), "a", trials = touching))
  expect_identical(synfire:::trial_of(y), c(NA, 1L, 2L, 2L, NA))
  expect_identical(synfire:::trial_of(spike_trains(1:2, "a")), c(1L, 1L))
})

test_that("trial_of() agrees with a slow search", {
  set.seed(3)
  for (k in cases(50)) {
    cuts <- sort(sample(0:40, 8))
    trials <- data.frame(start = cuts[c(1, 3, 5, 7)], end = cuts[c(2, 4, 6, 8)])
    x <- spikes_outside(spike_trains(sample(-5:45, 20, TRUE), sample(2, 20, TRUE), trials = trials))
    slow <- vapply(x$time, \(t) {
      hit <- which(trials$start <= t & t <= trials$end)
      if (length(hit)) max(hit) else NA_integer_
    }, integer(1))
    expect_identical(synfire:::trial_of(x), slow)
  }
})

test_that("bad input is an error that says what is wrong", {
  skip_on_cran()
  expect_snapshot(error = TRUE, spike_trains(c(1, NA, NaN), "a"))
  expect_snapshot(error = TRUE, spike_trains(c(1, -Inf), "a"))
  expect_snapshot(error = TRUE, spike_trains(c("1", "2"), "a"))
  expect_snapshot(error = TRUE, spike_trains(as.difftime(1, units = "mins"), "a"))
  expect_snapshot(error = TRUE, spike_trains(unit = "a"))
  expect_snapshot(error = TRUE, spike_trains(1:3, c("a", NA, NA)))
  expect_snapshot(error = TRUE, spike_trains(1:3, c(1, NaN, 2)))
  expect_snapshot(error = TRUE, spike_trains(1:2, factor(c("a", NA), exclude = NULL)))
  expect_snapshot(error = TRUE, spike_trains(1:3, c("a", "b")))
  expect_snapshot(error = TRUE, spike_trains(1, TRUE))
  expect_snapshot(error = TRUE, spike_trains(1, "a", resolution = 0))
  expect_snapshot(error = TRUE, spike_trains(1, "a", resolution = -1e-6))
  expect_snapshot(error = TRUE, spike_trains(1, "a", start = 2, end = 1))
  expect_snapshot(error = TRUE, spike_trains(1, "a", start = 2))
  expect_snapshot(error = TRUE, spike_trains(1:4, "a", start = 2, end = 3))
  expect_snapshot(error = TRUE, spike_trains(1, "a", start = 1e-7))
  expect_snapshot(error = TRUE, spike_trains(1, "a", start = "0"))
  expect_snapshot(error = TRUE, spike_trains(c(0, 1e10), "a"))
  expect_snapshot(error = TRUE, spike_trains(1, "a", start = -1e10))
  expect_snapshot(error = TRUE, spike_trains(numeric(), character()))
})

test_that("bad trials are an error that says what is wrong", {
  with_trials <- \(...) spike_trains(1, "a", trials = data.frame(...), start = 0, end = 9)
  expect_snapshot(error = TRUE, with_trials(start = c(0, 1), end = c(2, 3)))
  expect_snapshot(error = TRUE, with_trials(start = c(0, 0), end = c(0, 1)))
  expect_snapshot(error = TRUE, with_trials(start = c(0, 5), end = c(1, 4)))
  expect_snapshot(error = TRUE, with_trials(start = 0, end = 10))
  expect_snapshot(error = TRUE, with_trials(from = 0, to = 10))
  expect_snapshot(error = TRUE, with_trials(start = numeric(), end = numeric()))
  expect_snapshot(error = TRUE, with_trials(trial = c(1, 1), start = c(0, 2), end = c(1, 3)))
  expect_snapshot(error = TRUE, with_trials(start = NA_real_, end = 1))
  expect_snapshot(error = TRUE, spike_trains(1, "a", trials = 1))
})

test_that("two ticks that one double of seconds would merge are refused", {
  ticks <- 2^53 - c(3, 2, 1)
  expect_identical(ticks_of(spike_trains(ticks, "a", resolution = 1)), ticks)
  expect_error(spike_trains(c(2^53 - 3, 2^53) / 1e6, "a"), class = "synfire_error_argument")
})

test_that("`[` keeps a closed range of time", {
  skip_on_cran()
  x <- spike_trains(c(0, 1, 2, 3), c("a", "b", "a", "b"), start = -1, end = 5)
  y <- x[time = c(1, 2)]
  expect_identical(y$time, c(1, 2))
  expect_identical(c(attr(y, "start"), attr(y, "end")), c(1, 2))
  expect_identical(levels(y$unit), c("a", "b"))
  expect_identical(x[time = c(-Inf, Inf)], x)
  expect_identical(attr(x[time = c(-9, 1)], "start"), -1)
  expect_identical(nrow(x[time = c(0.5, 0.6)]), 0L)
  expect_identical(x[time = c(1, 2), unit = "a"]$time, 2)
  # A range that ends between two ticks ends on the last one inside.
  expect_identical(attr(x[time = c(0, 2.5e-6)], "end"), 2e-6)
  expect_snapshot(error = TRUE, x[time = c(2, 1)])
  expect_snapshot(error = TRUE, x[time = 1])
  expect_snapshot(error = TRUE, x[time = c(6, 7)])
  expect_snapshot(error = TRUE, x[time = c(0, NA)])
  expect_snapshot(error = TRUE, x[1, time = c(0, 1)])
})

test_that("`[` narrows trials with the range", {
  x <- spike_trains(0:9, "a", trials = data.frame(start = c(0, 3, 6), end = c(3, 5, 9)))
  y <- x[time = c(2, 4)]
  expect_identical(attr(y, "trials"), data.frame(trial = 1:2, start = c(2, 3), end = c(3, 4)))
  # Range that begins on the tick two trials share: it belongs to the later one.
  expect_identical(attr(x[time = c(3, 4)], "trials")$trial, 2L)
  expect_identical(synfire:::trial_of(x[time = c(3, 4)]), c(1L, 1L))
  expect_error(x[time = c(5.2, 5.8)], class = "synfire_error_argument")
})

test_that("`[` keeps units, in the order asked for", {
  skip_on_cran()
  x <- spike_trains(c(0, 0, 1, 2), c("a", "b", "c", "a"), start = 0, end = 3)
  y <- x[unit = c("b", "a")]
  expect_identical(levels(y$unit), c("b", "a"))
  expect_identical(as.character(y$unit), c("b", "a", "a"))
  expect_identical(attr(y, "end"), 3)
  z <- spike_trains(1:2, c(2, 10))
  expect_identical(levels(z[unit = 10]$unit), "10")
  expect_snapshot(error = TRUE, x[unit = c("a", "nobody")])
  expect_snapshot(error = TRUE, x[unit = character()])
  expect_snapshot(error = TRUE, x[unit = TRUE])
})

test_that("rows and columns work as in a data frame, and stay sound", {
  x <- spike_trains(c(0, 1, 2), c("a", "b", "a"), start = 0, end = 3)
  expect_s3_class(x[1:2, ], "spike_trains")
  expect_identical(x[c(3, 1, 1), ]$time, c(0, 2))
  expect_identical(attr(x[1, ], "end"), 3)
  expect_identical(x[x$unit == "a", ]$time, c(0, 2))
  expect_identical(x[["time"]], c(0, 1, 2))
  expect_identical(x[, "time"], c(0, 1, 2))
  expect_identical(class(x["time"]), "data.frame")
  expect_identical(x[], x)
  expect_identical(x[, ], x)
  expect_identical(names(x[c("unit", "time")]), c("unit", "time"))
  expect_s3_class(x[c("unit", "time")], "spike_trains")
  expect_identical(nrow(head(x, 2)), 2L)
  expect_s3_class(subset(x, time > 0), "spike_trains")
  expect_error(x[9, ], class = "synfire_error_argument")
})

test_that("what may break the class gives a plain data frame", {
  x <- spike_trains(c(0, 1), c("a", "b"))
  y <- x
  y$time <- rev(y$time)
  expect_identical(class(y), "data.frame")
  y <- x
  y[["extra"]] <- 1:2
  expect_identical(class(y), "data.frame")
  y <- x
  y[1, "time"] <- 9
  expect_equal(y, data.frame(time = c(9, 1), unit = factor(c("a", "b"))),
               ignore_attr = c("start", "end", "resolution"))
  y <- x
  names(y) <- c("t", "u")
  expect_identical(class(y), "data.frame")
  expect_identical(class(rbind(x, x)), "data.frame")
  expect_identical(nrow(rbind(x, x)), 4L)
  expect_identical(class(as.data.frame(x)), "data.frame")
})

test_that("a train changed by hand is noticed", {
  skip_on_cran()
  x <- spike_trains(c(0, 1), c("a", "b"))
  broken <- structure(list(time = c(1, 0), unit = x$unit), class = class(x),
                      row.names = 1:2, start = 0, end = 1, resolution = 1e-6)
  expect_snapshot(error = TRUE, summary(broken))
  check <- \(x) synfire:::check_spike_trains(x)
  expect_snapshot(error = TRUE, check(data.frame(time = 1)))
  expect_identical(check(x), x)
})

test_that("print and format say what is there", {
  x <- spike_trains(c(0, 0.001, 0.5, 0.2, 1380.56e-3), c("A", "A", "A", "B", "B"), start = 0,
                    end = 2, trials = data.frame(start = c(0, 1), end = c(0.6, 2)))
  expect_snapshot(print(x))
  expect_snapshot(print(x, n = 2))
  expect_identical(format(x), paste(
    "2 units, 5 spikes, 2 s (0 to 2), 2 trials (1.6 s together), 1.56 Hz per unit in trials"
  ))
  expect_snapshot(print(summary(x)))
  expect_identical(format(spike_trains(1, "a")), "1 unit, 1 spike, 0 s (1 to 1)")
})

test_that("summary agrees with the plain definitions", {
  set.seed(4)
  x <- spike_trains(cumsum(rexp(300, 200)), sample(c("a", "b", "c"), 300, TRUE))
  x <- x[unit = c("c", "a")]
  s <- summary(x)
  expect_s3_class(s, c("summary.spike_trains", "data.frame"), exact = TRUE)
  expect_identical(as.character(s$unit), c("c", "a"))
  for (k in 1:2) {
    time <- x$time[x$unit == s$unit[k]]
    isi <- diff(time)
    expect_identical(s$spikes[k], length(time))
    expect_identical(s$first[k], min(time))
    expect_identical(s$last[k], max(time))
    expect_equal(s$rate[k], length(time) / (attr(x, "end") - attr(x, "start")))
    expect_equal(s$cv_isi[k], sd(isi) / mean(isi))
    expect_equal(s$short_isi[k], mean(isi < 0.002))
  }
})

test_that("summary: two milliseconds are not short, silent units and trials count", {
  x <- spike_trains(c(0, 0.002, 0.003), factor("a", levels = c("a", "silent")))
  s <- summary(x)
  expect_identical(s$short_isi, c(0.5, NA))
  expect_identical(s$spikes, c(3L, 0L))
  expect_identical(s$first, c(0, NA))

  # Only intervals within a trial: 1 and 3.
  y <- spikes_outside(spike_trains(c(0, 1, 10, 13, 20), "a",
                                   trials = data.frame(start = c(0, 10), end = c(5, 15))))
  expect_equal(summary(y)$cv_isi, sd(c(1, 3)) / 2)
  expect_identical(summary(spike_trains(1, "a"))$rate, NA_real_)
})

test_that("data frames and lists are converted", {
  expect_identical(as_spike_trains(data.frame(neuron = c(2, 10), x = 0, Time = c(1, 2))),
                   spike_trains(c(1, 2), c(2, 10)))
  expect_identical(
    as_spike_trains(data.frame(when = 1, who = "a"), time_column = "when", unit_column = 2),
    spike_trains(1, "a")
  )
  expect_identical(
    levels(as_spike_trains(data.frame(time = 1:2, channel = c(10, 9), unit = 1),
                           unit_column = c("channel", "unit"))$unit),
    c("9_1", "10_1")
  )
  x <- as_spike_trains(list(z = c(2, 1), silent = numeric(), a = 3), start = 0)
  expect_identical(levels(x$unit), c("z", "silent", "a"))
  expect_identical(x$time, c(1, 2, 3))
  expect_identical(as_spike_trains(x), x)
  expect_identical(as_spike_trains(as.data.frame(x), start = 0), x)
})

test_that("STAR's classes are converted", {
  skip_on_cran()
  train <- \(v) structure(v, class = "spikeTrain")
  expect_identical(as_spike_trains(train(c(1, 2)), unit = "n"), spike_trains(c(1, 2), "n"))
  expect_identical(as_spike_trains(list(n = train(c(1, 2)), m = train(3))),
                   as_spike_trains(list(n = c(1, 2), m = 3)))

  repeated <- \(...) structure(list(...), class = "repeatedTrain")
  x <- as_spike_trains(repeated(train(c(0.5, 3.2)), train(1)), unit = "n")
  expect_identical(attr(x, "trials"), data.frame(trial = 1:2, start = c(0, 5), end = c(4, 9)))
  expect_identical(x$time, c(0.5, 3.2, 6))
  expect_identical(synfire:::trial_of(x), c(1L, 1L, 2L))
  y <- as_spike_trains(list(n = repeated(train(1), train(2)), m = repeated(train(3), train(1))),
                       trial_window = c(0.5, 3))
  expect_identical(y$time, c(1, 3, 5.5, 4.5)[order(c(1, 3, 5.5, 4.5))])
  expect_identical(as.character(y$unit), c("n", "m", "m", "n"))
  expect_snapshot(error = TRUE, as_spike_trains(repeated(train(9)), trial_window = c(0, 1)))
  expect_snapshot(error = TRUE, {
    as_spike_trains(list(n = repeated(train(1)), m = repeated(train(3), train(1))))
  })
  # STAR keeps when the stimulus was on.
  one <- repeated(structure(c(0.1, 0.3), class = "spikeTrain"), 0.6)
  attr(one, "stimTimeCourse") <- c(0.25, 0.5)
  expect_identical(trial_table(as_spike_trains(one))[c("stimulus_start", "stimulus_end")],
                   data.frame(stimulus_start = c(0.25, 2.25), stimulus_end = c(0.5, 2.5)))
  attr(one, "stimTimeCourse") <- "on"
  expect_named(trial_table(as_spike_trains(one)), c("trial", "start", "end"))
})

test_that("what cannot be converted is an error", {
  skip_on_cran()
  expect_snapshot(error = TRUE, as_spike_trains(1:3))
  expect_snapshot(error = TRUE, as_spike_trains(list(1, 2)))
  expect_snapshot(error = TRUE, as_spike_trains(list(a = 1, a = 2)))
  expect_snapshot(error = TRUE, as_spike_trains(list(a = 1, b = "2")))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(a = 1, b = 2)))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(time = 1, unit = 1, channel = 2)))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(time = "1", unit = 1)))
  expect_snapshot(error = TRUE, as_spike_trains(data.frame(time = 1, unit = 1), time_column = "t"))
})

# ---- What other code may do to the data frame --------------------------------------

sound_train <- function() {
  spike_trains(c(0.1, 0.2, 0.2, 0.3, 0.5), c("A", "A", "B", "B", "A"), start = 0, end = 1,
               trials = data.frame(trial = c("x", "y"), start = c(0, 0.25), end = c(0.2, 1)))
}

# As code does that knows nothing of the class.
tampered <- function(x, ..., time = .subset2(x, "time"), unit = .subset2(x, "unit")) {
  about <- attributes(x)
  changed <- list(...)
  about[names(changed)] <- changed
  about$row.names <- .set_row_names(length(time))
  out <- list(time = time, unit = unit)
  attributes(out) <- about[lengths(about) > 0L]
  out
}

entries <- list(
  mine_episodes = \(x) mine_episodes(x, 1, c(0, 0.2), threads = 1),
  count_episodes = \(x) count_episodes(x, episode(c("A", "B"), 0, 0.2)),
  occurrences = \(x) episode_occurrences(x, episode(c("A", "B"), 0, 0.2)),
  mine_patterns = \(x) mine_patterns(x, 0.005, 3, threads = 1),
  surrogates = \(x) surrogate_trains(x, 1, "train_shift", dither = 0.1),
  summary = summary, format = format, rows = \(x) x[1, ], time = \(x) x[time = c(0, 0.1)],
  as = as_spike_trains
)

test_that("an object that was changed is refused everywhere, with what is wrong", {
  skip_on_cran()
  x <- sound_train()
  far <- 1e17
  changed <- list(
    order = tampered(x, time = rev(x$time)),
    ties = tampered(x, unit = factor(x$unit, levels = c("B", "A"))),
    missing = tampered(x, time = c(0.1, 0.2, 0.2, 0.3, NA)),
    infinite = tampered(x, time = c(0.1, 0.2, 0.2, 0.3, Inf)),
    far = tampered(x, time = c(0.1, 0.2, 0.2, 0.3, far)),
    between = tampered(x, time = c(0.1, 0.2, 0.2, 0.3, 0.5 + 1e-8)),
    text = tampered(x, unit = as.character(x$unit)),
    no_level = tampered(x, unit = structure(c(1L, 1L, 2L, 7L, 1L), levels = c("A", "B"),
                                            class = "factor")),
    no_levels = tampered(x, unit = structure(as.integer(x$unit), class = "factor")),
    no_unit = tampered(x, unit = replace(x$unit, 2, NA)),
    shorter = tampered(x, unit = x$unit[1:3]),
    whole = tampered(x, time = 1:5),
    bounds = tampered(x, end = 0.4),
    reversed = tampered(x, start = 2),
    no_bound = tampered(x, end = NULL),
    clock = tampered(x, resolution = -1),
    no_clock = tampered(x, resolution = "1 ms"),
    trial_list = tampered(x, trials = list(1, 2)),
    trials_apart = tampered(x, trials = data.frame(trial = 1:2, start = c(0, 0.1),
                                                   end = c(0.3, 1))),
    trials_out = tampered(x, trials = data.frame(trial = 1, start = 0, end = 2)),
    trials_same = tampered(x, trials = data.frame(trial = c(1, 1), start = c(0, 0.3),
                                                  end = c(0.2, 1)))
  )
  for (name in names(changed)) for (entry in some_of(names(entries), match(name, names(changed)))) {
    expect_error(entries[[!!entry]](changed[[!!name]]), class = "synfire_error_argument")
  }
  expect_error(print(changed$order), class = "synfire_error_argument")
  says <- \(name) cat(conditionMessage(tryCatch(as_spike_trains(changed[[name]]),
                                                error = identity)), "\n")
  expect_snapshot(for (name in names(changed)) says(name))

  # The advice does what it says.
  for (name in c("order", "ties", "between", "text")) {
    broken <- changed[[name]]
    mended <- as_spike_trains(as.data.frame(broken), like = broken)
    honest <- spike_trains(as.data.frame(broken)$time, as.data.frame(broken)$unit, start = 0,
                           end = 1, trials = attr(x, "trials"))
    expect_identical(mended, honest)
  }
  broken <- changed$missing
  expect_identical(as_spike_trains(subset(as.data.frame(broken), is.finite(time)), like = broken),
                   x[1:4, ])
})

test_that("a spike that is there twice is counted once", {
  x <- spike_trains(c(0.1, 0.2, 0.3, 0.4), c("A", "B", "A", "B"), start = 0, end = 1)
  twice <- tampered(x, time = rep(x$time, each = 2), unit = rep(x$unit, each = 2))
  expect_identical(as_spike_trains(twice), x)
  expect_identical(twice[unit = "A"], x[unit = "A"])
  want <- mine_episodes(x, 1, rbind(c(0, 0.1), c(0, 0.2)), threads = 1)
  expect_identical(mine_episodes(twice, 1, rbind(c(0, 0.1), c(0, 0.2)), threads = 1)$count,
                   want$count)
  expect_identical(attr(as_spike_trains(tampered(twice, truth = "kept")), "truth"), "kept")
})

test_that("a table comes back with the interval, clock and trials of its recording", {
  x <- spike_trains(c(1, 2), 1:2, start = 0, end = 10, resolution = 1e-3,
                    trials = data.frame(start = 0, end = 5))
  y <- as.data.frame(x)
  y$time <- y$time + 1e-4
  expect_identical(as_spike_trains(y, like = x), x)
  expect_error(as_spike_trains(transform(y, time = 20), like = x), class = "synfire_error_argument")
  expect_error(as_spike_trains(y, like = y), class = "synfire_error_argument")
  expect_error(as_spike_trains(y, like = tampered(x, end = NA)), class = "synfire_error_argument")
  expect_error(as_spike_trains(y, like = x, start = 0), class = "synfire_error_argument")
})

test_that("dots and missing arguments are ours to refuse", {
  x <- sound_train()
  expect_error(as_spike_trains(), class = "synfire_error_argument")
  expect_error(spike_trains(1), class = "synfire_error_argument")
  expect_snapshot(error = TRUE, summary(x, digits = 3))
  expect_snapshot(error = TRUE, x[time = c(0, 1), tiem = 3])
  expect_snapshot(error = TRUE, as_spike_trains(x, 1))
  expect_error(x[list(), ], class = "synfire_error_argument")
  expect_error(x["rate"], class = "synfire_error_argument")
  expect_error(x[-1:1, ], class = "synfire_error_argument")
})

test_that("a clock finer than doubles tell apart is refused without a warning", {
  expect_no_warning(expect_error(spike_trains(1, "a", resolution = 1e-300),
                                 class = "synfire_error_argument"))
  expect_no_warning(expect_error(synfire:::check_spike_trains(tampered(sound_train(),
                                                                        resolution = 1e-300)),
                                 class = "synfire_error_argument"))
})

test_that("names of units are UTF-8, whatever bytes they came in", {
  latin1 <- `Encoding<-`("caf\xe9", "latin1")
  for (unit in list(latin1, "caf\xe9", "caf\u00e9", factor(latin1), factor("caf\xe9"))) {
    x <- spike_trains(1, unit)
    expect_identical(levels(x$unit), "caf\u00e9")
    expect_identical(Encoding(levels(x$unit)), "UTF-8")
  }
  expect_error(spike_trains(1, "a", start = "caf\xe9\xff"), class = "synfire_error_argument")
})

test_that("ticks are the nearest whole numbers, of halves the even ones, however far", {
  set.seed(1)
  far <- c(0, 0.5, 1.5, 2.5, 2^c(49:54, 60, 1000), 2^50 + c(0.5, 1.5), 2^52 - 0.5)
  value <- c(far, -far, runif(100, -50, 50), NA, NaN, Inf, -Inf)
  for (resolution in c(1, 0.1, 1e-4, 1e-6, 3, 0.3, 1 / 3)) {
    expect_identical(round_to_ticks(value, resolution), round(raw_ticks(value, resolution)) + 0)
  }
  expect_identical(round_to_ticks(2:3, 1), c(2, 3))
  expect_identical(round_to_ticks(numeric(), 1), numeric())
})
