# Recordings that others made, and those of a camera.

songbird <- function() {
  spikes <- utils::read.table(shared_data("recordings/songbird.txt"))
  spike_trains(spikes[[2L]], sprintf("n%02d", spikes[[1L]]), start = 0, end = 22.233333)
}

# The songbird's units are numbered in the order in which they fire, as others found it
# (Mackevicius and others 2019): 1 to 37 in a slow sequence, those from 38 on in a fast one.
numbers_of <- function(units) as.integer(sub("n", "", units))

test_that("the sequences of a songbird are found, in order", {
  x <- songbird()
  set.seed(1)
  found <- find_assemblies(x, threads = 2)
  expect_true(all(found$p <= 0.05))
  fast <- vapply(found$units, \(u) mean(numbers_of(u) >= 38), 0)
  order <- vapply(seq_len(nrow(found)), \(k) {
    stats::cor(numbers_of(found$units[[k]]), found$lags[[k]], method = "spearman")
  }, 0)
  is_fast <- which(fast >= 0.8 & found$size >= 10)
  is_slow <- which(fast <= 0.2 & found$size >= 5)
  expect_length(is_fast, 1L)
  expect_gte(length(is_slow), 1L)
  expect_gt(order[[is_fast]], 0.7)
  expect_gt(min(order[is_slow]), 0.5)  # of neurons that fire again and again
  # Renditions: moments at which 12 of units 38 to 67 fire within 0.4 s, whatever their order.
  renditions <- c(0, 0.4, 0.8, 3.9, 4.3, 4.9, 5.8, 7.6, 8, 8.6, 9.9, 12, 14.4, 15.8, 16.5, 18.2,
                  18.6, 19, 19.4, 21.6)
  active <- vapply(renditions, \(t) any(abs(found$times[[is_fast]] - t - 0.1) < 0.25), NA)
  expect_gt(mean(active), 0.8)
})

test_that("the seed of the surrogates does not choose the members", {
  maze <- utils::read.csv(gzfile(shared_data("recordings/wmaze.csv.gz")))
  maze <- maze[maze$unit != "t0u20", ]  # noise
  for (x in list(songbird(), spike_trains(maze$time, maze$unit))) {
    members <- lapply(1:4, \(seed) {
      set.seed(seed)
      found <- find_assemblies(x, threads = 1)
      lapply(found$units[order(-found$size)], sort)
    })
    expect_length(unique(members), 1L)
    expect_gt(length(members[[1L]]), 0L)
  }
})

test_that("nothing is found in a songbird whose units are shuffled by themselves", {
  x <- songbird()
  frame <- round(x$time * 30)
  segment <- frame %/% 60
  of <- paste(x$unit, segment)
  with_any <- vapply(1:8, \(seed) {
    set.seed(seed)
    by <- stats::setNames(sample.int(60, length(unique(of)), TRUE), unique(of))
    room <- pmin(60, 667 - segment * 60)
    moved <- segment * 60 + (frame - segment * 60 + by[of]) %% room
    once <- !duplicated(paste(x$unit, moved))
    y <- spike_trains(moved[once] / 30, as.character(x$unit)[once], start = 0, end = 22.233333)
    nrow(find_assemblies(y, threads = 2)) > 0
  }, NA)
  expect_lte(sum(with_any), 2L)  # alpha is 0.05: three of eight have a probability of 0.006
})

test_that("a run of frames of a unit is one event", {
  frames <- c(1, 2, 3, 7, 8, 20, 2, 3, 40)
  x <- spike_trains(frames / 30, rep(c("a", "b"), c(6, 3)), start = 0, end = 2)
  kept <- first_frames(x, round(1e6 / 30))
  expect_equal(kept$time[kept$unit == "a"], c(1, 7, 20) / 30, tolerance = 1e-5)
  expect_equal(kept$time[kept$unit == "b"], c(2, 40) / 30, tolerance = 1e-5)
  expect_identical(attributes(kept)[c("start", "end")], attributes(x)[c("start", "end")])
})

test_that("frames of a camera are told from bins of spikes and from spike times", {
  set.seed(1)
  frames <- sort(sample(3000, 600))
  unit <- sample(c("a", "b", "c"), 600, TRUE)
  at <- function(length) spike_trains(frames * length, unit, start = 0, end = 3001 * length)
  camera <- \(x) attr(find_assemblies(x, max_lag = 0.2, n_surrogates = 19, threads = 1), "camera")
  slow <- camera(at(0.04))
  expect_equal(slow$frame, 0.04)
  expect_identical(slow$spikes, 600L)
  expect_equal(camera(at(0.01))$frame, 0.01)
  expect_null(camera(at(0.005)))
  expect_null(camera(spike_trains(stats::runif(600, 0, 100), unit)))
  found <- find_assemblies(at(0.04), max_lag = 0.2, n_surrogates = 19, threads = 1)
  expect_output(print(found), "frames of 40 ms: a run of frames of a unit is one event, [0-9]+ of 600")
})

test_that("a group made of the spikes of one before is none", {
  x <- spike_trains(rep(1:40, 4) + rep(c(0, 0.01, 0.02, 0.5), each = 40),
                    rep(c("a", "b", "c", "d"), each = 40), start = 0, end = 42)
  group <- function(units, lags, tick) list(unit = units, lag = lags, width = rep(3L, length(units)),
                                            tick = tick)
  first <- group(1:3, c(0, 10, 20), 1e6 * (1:40))
  again <- group(1:3, c(0, 10, 20) + c(0, 0, 1000), 1e6 * (1:39))
  half <- group(c(1, 2, 4), c(0, 10, 500), 1e6 * (1:40))
  other <- group(c(4, 4, 4), c(0, 1000, 2000), 1e6 * (1:37) + 5e5)
  kept <- distinct_groups(list(first, again, other, half), x, 1000)
  expect_identical(kept, list(first, other))
  expect_identical(distinct_groups(list(), x, 1000), list())
})

test_that("words name a rhythm, and what is locked to trials", {
  set.seed(1)
  rhythm <- sort(c(outer(seq(0, 0.9, 0.13), seq(1, 20, 2), `+`)))
  expect_match(rhythm_text(rhythm, 0.5), "after about 130 ms: a rhythm")
  expect_identical(rhythm_text(cumsum(stats::rexp(200, 3)), 0.5), "")
  trials <- data.frame(start = 0:39 * 2, end = 0:39 * 2 + 2)
  x <- spike_trains(seq(0.5, 79.5, 1), rep("a", 80), trials = trials)
  locked <- trials$start + stats::runif(40, 0.7, 0.9)
  expect_match(locked_text(x, locked, 0.1), "some times in a trial more than at others")
  expect_identical(locked_text(x, trials$start + stats::runif(40, 0, 1.9), 0.1), "")
  expect_identical(locked_text(spike_trains(1:3, c("a", "b", "c")), 1:20, 0.1), "")
})

test_that("units of a camera that sees planes one after the other have frames of their own", {
  set.seed(1)
  volume <- 0.2
  from <- sample(2900, 240)
  length <- sample(3:10, 240, TRUE)
  unit <- rep(sample(12, 240, TRUE), length)
  frame <- unlist(Map(\(from, length) from + seq_len(length), from, length))
  unit <- unit[order(frame)]
  frame <- sort(frame)
  for (plane in list(seq(0, 10) / 60, stats::runif(12, 0, volume))) {
    x <- spike_trains(frame * volume + plane[(unit - 1) %% length(plane) + 1], unit, start = 0,
                      end = 600)
    x <- x[!duplicated(data.frame(x$time, x$unit)), ]
    found <- find_assemblies(x, n_surrogates = 19, threads = 1)
    expect_equal(attr(found, "camera")$frame, volume)
    # Events in a row are one.
    expect_true(all(tapply(attr(found, "recording")$time, attr(found, "recording")$unit,
                           \(t) min(diff(t))) > 1.5 * volume))
    expect_identical(nrow(found), 0L)
  }
})
