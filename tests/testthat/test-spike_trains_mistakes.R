# Mistakes that everybody makes are met by an error or a warning that names the remedy.

# Ten units at about 5 Hz for a minute.
a_minute <- function() {
  set.seed(8)
  spike_trains(runif(3000, 0, 60), sample(10, 3000, TRUE), start = 0, end = 60)
}

unlikely <- function(expr) expect_warning(expr, class = "synfire_warning_unlikely")

test_that("milliseconds taken for seconds are noticed when a recording is made", {
  x <- expect_silent(a_minute())
  w <- unlikely(spike_trains(x$time * 1000, x$unit))
  expect_match(conditionMessage(w), "time_unit = \"ms\"", fixed = TRUE)
  expect_silent(spike_trains(x$time * 1000, x$unit, time_unit = "ms"))
  expect_silent(as_spike_trains(as.data.frame(x)))
})

test_that("bounds in the unit of the times are noticed", {
  ms <- seq(5, 1990, by = 5)
  w <- unlikely(spike_trains(ms, "A", time_unit = "ms", end = 2000))
  expect_match(conditionMessage(w), "did you mean `end = 2`?", fixed = TRUE)
  w <- unlikely(spike_trains(ms, "A", time_unit = "ms", start = 0, end = 1990))
  expect_match(conditionMessage(w), "did you mean `start = 0`, `end = 1.99`?", fixed = TRUE)
  w <- unlikely(spike_trains(30 * ms, "A", time_unit = "samples", sampling_rate = 30000,
                             end = 60000))
  expect_match(conditionMessage(w), "`end = 2`", fixed = TRUE)
  unlikely(as_spike_trains(list(A = ms), time_unit = "ms", end = 2000))
  file <- withr::local_tempfile(fileext = ".csv", lines = c("time,unit", paste0(ms, ",A")))
  unlikely(read_spikes(file, time_unit = "ms", end = 2000))
  expect_silent(read_spikes(file, time_unit = "ms", end = 2))

  # Bounds in seconds, a silent end, an interval that would not hold the spikes, one spike.
  expect_silent(spike_trains(ms, "A", time_unit = "ms", start = 0, end = 2))
  expect_silent(spike_trains(ms, "A", time_unit = "ms", end = 150))
  expect_silent(spike_trains(ms, "A", time_unit = "ms", end = 1980))
  expect_silent(spike_trains(5, "A", time_unit = "ms", start = 0, end = 2000))
  expect_silent(spike_trains(ms / 1000, "A", end = 2000))
})

test_that("times and units that were swapped are noticed", {
  x <- a_minute()
  expect_error(spike_trains(as.integer(x$unit), x$time), "`spike_trains(time, unit)`",
               fixed = TRUE, class = "synfire_error_argument")
  unlikely(spike_trains(rep(1:6, 10), sample(1e5, 60)))
  unlikely(spike_trains(sample(1e5, 1000), 1:1000))
  # Numbers of units may have decimals, and each unit may fire once.
  expect_silent(spike_trains(x$time, as.integer(x$unit) / 2))
  expect_silent(spike_trains(runif(500), 1:500))
})

test_that("a clock that restarts is noticed, and no other order of spikes is", {
  x <- a_minute()
  folded <- x$time %% 5
  w <- unlikely(spike_trains(folded, x$unit))
  expect_match(conditionMessage(w), "give `trial`", fixed = TRUE)
  o <- order(x$unit, x$time)
  unlikely(spike_trains(folded[o], x$unit[o]))
  expect_silent(spike_trains(folded, x$unit, trial = x$time %/% 5, trial_clock = "trial"))
  blocks <- order(c(3, 1, 4, 2, 6, 5)[x$time %/% 10 + 1])
  for (o in list(sample(nrow(x)), order(x$unit), order(-x$time), blocks)) {
    expect_silent(spike_trains(x$time[o], x$unit[o], start = 0, end = 60))
  }
})

test_that("delays and bins in milliseconds are noticed", {
  skip_on_cran()
  x <- a_minute()
  unlikely(mine_episodes(x, 300, c(5, 10), threads = 1))
  expect_snapshot(error = TRUE, mine_episodes(x, 5, c(500, 1000)))
  expect_snapshot(error = TRUE, mine_patterns(x, 1, 5))
  expect_error(spade(x, 1, 5), "bin_size = 0.001", class = "synfire_error_argument")
  expect_error(pvalue_spectrum(x, 1, 5), "bin_size = 0.001", class = "synfire_error_argument")
  # A search that ends is only unlikely to be meant.
  unlikely(mine_patterns(x, 1, 5, min_count = 60, threads = 1))
  expect_silent(mine_episodes(x, 300, c(0, 0.01), threads = 1))
  expect_silent(mine_patterns(x, 0.005, 5, min_count = 5, threads = 1))
})

test_that("real recordings raise no false alarm", {
  expect_silent(tc89 <- read_spikes(shared_data("episodes/tc89.csv.gz"), time_unit = "ms"))
  expect_silent(read_spikes(shared_data("episodes/axion_B3.csv.gz"), time_unit = "ms"))
  bird <- utils::read.table(shared_data("recordings/songbird.txt"))
  expect_silent(bird <- spike_trains(bird[[2]], bird[[1]]))
  for (x in list(tc89, bird)) {
    expect_silent(mine_episodes(x, nrow(x), c(0.5, 1), threads = 1))
    expect_silent(mine_patterns(x, 0.1, 5, min_count = nrow(x), threads = 1))
  }
})
