# Recordings among other tables: what comes back, and what becomes a plain data frame.

# A recording of any kind: trials or none, further columns, silent units, other clocks.
any_recording <- function() {
  n <- sample(c(0, 1, 5, 60), 1)
  resolution <- sample(c(1e-6, 1e-3, 1 / 30000, 0.25), 1)
  cuts <- sort(sample(0:90, 8))
  trials <- if (runif(1) < 0.6) data.frame(
    condition = sample(letters, 4), start = cuts[c(1, 3, 5, 7)] * resolution,
    end = cuts[c(2, 4, 6, 8)] * resolution
  )
  if (!is.null(trials) && runif(1) < 0.5) trials$trial <- sample(c("p", "q", "r", "s"))
  units <- if (runif(1) < 0.5) data.frame(unit = 1:9, depth = runif(9), area = "CA1")
  suppressMessages(spike_trains(
    sample(0:100, n, TRUE) * resolution, sample(1:9, n, TRUE), start = -5 * resolution,
    end = 100 * resolution, resolution = resolution, trials = trials, unit_table = units
  ))
}

sound <- function(x) {
  if (inherits(x, "spike_trains")) as_spike_trains(x) else expect_s3_class(x, "data.frame")
  expect_false(inherits(x, "spike_trains") && !identical(names(x), c("time", "unit")))
}

test_that("a recording comes back from its data frame as it was", {
  set.seed(1)
  for (k in cases(60)) {
    x <- any_recording()
    expect_identical(as_spike_trains(as.data.frame(x)), x)
    expect_identical(as_spike_trains(as.data.frame(x), like = x), x)
  }
  x <- spikes_outside(spike_trains(
    c(0.1, 0.9, 1.2), c("a", "b", "b"), start = 0, end = 2,
    trials = data.frame(trial = c("k", "l"), start = c(0, 1), end = c(0.5, 2))
  ))
  y <- as.data.frame(x)
  expect_identical(y$trial, c("k", NA, "l"))
  # What is said goes before what the table carries.
  expect_identical(attr(as_spike_trains(y, end = 5), "end"), 5)
  expect_null(trial_table(as_spike_trains(y, trials = NULL, trial_column = NA)))
  # A spike that no longer lies in the trial that it names.
  y$time[1] <- 1.1
  expect_error(as_spike_trains(y), "trial", class = "synfire_error_argument")
  expect_silent(as_spike_trains(y, trial_column = NA))
})

test_that("as.data.frame takes its usual arguments", {
  x <- spike_trains(1:2, c("a", "b"))
  expect_identical(row.names(as.data.frame(x, row.names = c("p", "q"))), c("p", "q"))
  expect_identical(as.data.frame(x, stringsAsFactors = FALSE, optional = TRUE), as.data.frame(x))
  expect_identical(class(data.frame(x, z = 1)), "data.frame")
})

test_that("base R keeps a recording sound or gives a plain data frame", {
  set.seed(2)
  for (k in cases(20)) {
    x <- any_recording()
    if (nrow(x) == 0) next
    sound(x[1:min(2, nrow(x)), ])
    sound(x[["time"]] |> data.frame())
    sound(merge(x, data.frame(unit = factor(1:9), area = "V1")))
    sound(cbind(x, n = 1))
    sound(transform(x, time = time + 1))
    sound(within(x, rm(unit)))
    sound(subset(x, time > 0))
    sound(do.call(rbind, split(x, x$unit)))
    sound(head(x, 1))
    sound(unique(x))
  }
})

test_that("recordings of one session are put together with what they share", {
  x <- spike_trains(c(0.1, 0.2, 0.3), c("a", "b", "c"), start = 0, end = 1,
                    unit_table = data.frame(unit = c("a", "b", "c"), depth = 1:3))
  both <- rbind(x[unit = c("c", "a")], x[unit = "b"])
  expect_identical(class(both), "data.frame")
  expect_identical(as_spike_trains(both), x[unit = c("c", "a", "b")])
  apart <- rbind(x[time = c(0, 0.15)], x[time = c(0.15, 1)])
  expect_null(attr(apart, "start"))
  # Contradicting tables of units are dropped.
  y <- x
  unit_table(y)$depth <- 4:6
  expect_null(attr(rbind(x, y), "unit_table"))
  expect_identical(nrow(rbind(x, NULL)), 3L)
})

test_that("dplyr's verbs keep a recording sound or give a plain data frame", {
  skip_if_not_installed("dplyr")
  set.seed(3)
  for (k in 1:10) {
    x <- any_recording()
    kept <- dplyr::filter(x, time > 0)
    expect_identical(kept, x[x$time > 0, ])
    expect_identical(class(dplyr::mutate(x, time = time * 2)), "data.frame")
    expect_identical(as_spike_trains(dplyr::mutate(x, n = dplyr::n())), x)
    expect_identical(as_spike_trains(dplyr::arrange(x, dplyr::desc(time))), x)
    expect_identical(dplyr::arrange(x, time), x)
    sound(dplyr::select(x, unit))
    sound(dplyr::rename(x, t = time))
    sound(dplyr::group_by(x, unit))
    sound(dplyr::summarise(dplyr::group_by(x, unit), n = dplyr::n()))
    sound(dplyr::count(x, unit))
    sound(dplyr::bind_rows(x, x))
    sound(dplyr::left_join(x, data.frame(unit = factor(1:9), area = "V1"), by = "unit"))
    sound(dplyr::distinct(x, unit))
    sound(dplyr::transmute(x, time))
    sound(dplyr::slice(x, seq_len(min(2, nrow(x)))))
    sound(dplyr::mutate(dplyr::group_by(x, unit), n = dplyr::n()))
  }
})

test_that("tibbles and data.tables are plain, and lead back", {
  set.seed(4)
  for (k in cases(10)) {
    x <- any_recording()
    if (requireNamespace("tibble", quietly = TRUE)) {
      y <- tibble::as_tibble(x)
      expect_identical(class(y), c("tbl_df", "tbl", "data.frame"))
      expect_identical(nrow(y), nrow(x))
      expect_identical(as_spike_trains(y), x)
    }
    if (requireNamespace("data.table", quietly = TRUE)) {
      y <- data.table::as.data.table(x)
      expect_identical(class(y), c("data.table", "data.frame"))
      expect_identical(as_spike_trains(y), x)
    }
  }
})
