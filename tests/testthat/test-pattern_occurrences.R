argument_error <- "synfire_error_argument"

test_that("windows open at the start of a bin and hold the pattern", {
  x <- spike_trains(c(0.001, 0.002, 0.016, 0.101, 0.116, 0.999),
                    c("A", "A", "B", "A", "B", "A"), start = 0, end = 1)
  found <- hand_patterns(list(c(A = 0, B = 3), c(B = 0, A = 1), c(A = 0)), c(2, 0, 3),
                         c("A", "B"))
  o <- pattern_occurrences(x, found)
  expect_s3_class(o, c("pattern_occurrences", "synfire_table", "data.frame"), exact = TRUE)
  expect_identical(as.data.frame(o), data.frame(
    pattern = c(1L, 1L, 3L, 3L, 3L), occurrence = c(1L, 2L, 1L, 2L, 3L),
    trial = NA, time = c(0, 0.1, 0, 0.1, 0.995)
  ))
  expect_identical(attr(o, "recording"), x)
  expect_snapshot(o)
  expect_output(print(o[o$pattern == 1, ]), "# 2 of 5 occurrences of 1 pattern")
  expect_output(print(o[c("occurrence", "time")]), "5 +3 0.995")
  expect_identical(capture.output(print(o, n = 0)),
                   c("# 5 occurrences of 2 patterns", "... and 5 more"))
  # A row that is not there, as other code may ask for it.
  gone <- o
  attributes(gone) <- NULL
  gone <- lapply(gone, `[`, c(1L, NA))
  attributes(gone) <- replace(attributes(o), "row.names", list(1:2))
  expect_output(print(gone), "NA")
})

test_that("units of patterns are looked for by name in any recording", {
  x <- spike_trains(c(0.001, 0.016), c("A", "B"), start = 0, end = 1)
  found <- hand_patterns(list(c(A = 0, B = 3)), 1, c("A", "B"), recording = x)
  other <- spike_trains(c(0.004, 0.017, 0.5), c("B", "C", "A"), start = 0.002, end = 1)
  # Units are looked for by name; one that is not there never fires.
  expect_identical(nrow(pattern_occurrences(other, found)), 0L)
  expect_identical(pattern_occurrences(other, hand_patterns(list(c(B = 0, C = 2)), 1))$time,
                   numeric())
  expect_identical(pattern_occurrences(other, hand_patterns(list(c(B = 0, C = 3)), 1,
                                                            c("A", "B", "C", "D")))$time,
                   0.002)
})

test_that("windows agree with the definition on random recordings, trials and all", {
  skip_on_cran()
  set.seed(4)
  for (k in cases(60)) {
    width <- sample(c(1, 3, 7), 1L)
    units <- sample(2:5, 1L)
    n <- sample(0:120, 1L)
    start <- sample(-5:5, 1L)
    tick <- start + sample.int(150L, n, replace = TRUE)
    unit <- sample.int(units, n, replace = TRUE)
    starts <- start
    ends <- start + 151
    trials <- NULL
    if (k %% 2 == 0) {
      starts <- start + c(0, 40, 55, 100)
      ends <- start + c(40, 54, 90, 151)
      trials <- data.frame(start = starts / 1000, end = ends / 1000, trial = letters[1:4])
    }
    x <- spikes_outside(spike_trains(
      tick / 1000, factor(unit, seq_len(units)), start = start / 1000,
      end = (start + 151) / 1000, resolution = 1e-3, trials = trials
    ))
    window <- sample(c(1L, 4L, 12L), 1L)
    sets <- replicate(20, {
      lags <- c(0, sample.int(window, sample.int(3L, 1L), replace = TRUE) - 1)
      of <- sample.int(units, length(lags), replace = TRUE)
      set <- unique(data.frame(lags, of))
      stats::setNames(set$lags, set$of)
    }, simplify = FALSE)
    found <- hand_patterns(sets, rep(1L, 20), as.character(seq_len(units)), window,
                           width / 1000)
    o <- pattern_occurrences(x, found)
    for (p in seq_along(sets)) {
      expected <- oracle_opens(tick, unit, names(sets[[p]]), sets[[p]], width, starts, ends)
      expect_identical(o$time[o$pattern == p], expected / 1000)
    }
    if (!is.null(trials)) {
      # A bin begins within its trial; of two that touch the later one has the tick.
      expect_identical(o$trial, letters[findInterval(round(1000 * o$time), starts)])
    }
    expect_identical(o$occurrence, sequence(tabulate(o$pattern, 20L)))
  }
})

test_that("each pattern that was mined has its occurrences", {
  set.seed(5)
  x <- simulate_patterns(duration = 20, units = 10, rate = 20)
  trials <- data.frame(start = c(0, 7, 12), end = c(6.5, 12, 19))
  y <- spikes_outside(spike_trains(x$time, x$unit, start = 0, end = 20, trials = trials))
  for (one in list(x, y)) {
    found <- mine_patterns(one, bin_size = 0.005, window_bins = 6, min_spikes = 2, min_count = 8,
                           threads = 2)
    o <- pattern_occurrences(one, found)
    expect_gt(length(found), 100L)
    expect_identical(tabulate(o$pattern, length(found)), found$count)
  }
})

test_that("patterns of a real recording occur as often as they were counted", {
  raster <- utils::read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  x <- spike_trains(0.005 * raster[[2L]], factor(raster[[1L]], 0:149), start = 0, end = 22.32)
  found <- mine_patterns(x, bin_size = 0.005, window_bins = 20, min_spikes = 2, min_count = 88,
                         threads = 2)
  o <- pattern_occurrences(x, found)
  expect_length(found, 22709L)
  expect_identical(tabulate(o$pattern, length(found)), found$count)
})

test_that("what cannot be looked for is told of", {
  x <- spike_trains(c(0.001, 0.016), c("A", "B"), start = 0, end = 1)
  found <- hand_patterns(list(c(A = 0, B = 3)), 1)
  expect_error(pattern_occurrences(x), class = argument_error)
  expect_error(pattern_occurrences(x, four_itemsets()), class = argument_error)
  expect_error(pattern_occurrences(patterns = found), class = argument_error)
  expect_error(pattern_occurrences(1, found), class = argument_error)
  coarse <- spike_trains(0, "A", resolution = 1e-3)
  fine <- hand_patterns(list(c(A = 0)), 1, bin_size = 0.0005)
  expect_error(pattern_occurrences(coarse, fine), "bin_size", class = argument_error)
  expect_identical(nrow(pattern_occurrences(x, found[0])), 0L)
})

test_that("more occurrences than fit into a table are told of", {
  x <- spike_trains(c(0.001, 0.016, 0.3), c("A", "B", "A"), start = 0, end = 1)
  found <- hand_patterns(list(c(A = 0), c(A = 0, B = 3)), 2:1, c("A", "B"))
  find <- \(most) {
    .Call(r_pattern_windows, pattern_events(x, 5000), patterns_to_find(found), most)
  }
  expect_identical(find(3)$count, 2:1)
  expect_error(finish_status(find(2), "a test"), class = "synfire_error_too_large")
  expect_error(finish_status(find(0), "a test"), class = "synfire_error_too_large")
})

test_that("Ctrl-C is an interrupt", {
  skip_on_cran()
  expect_interrupted(quote({
    set.seed(1)
    x <- spike_trains(runif(2e5, 0, 100), sample(40L, 2e5, TRUE), start = 0, end = 100,
                      resolution = 1e-5)
    n <- 1e6
    item <- matrix(c(sample(40L, n, TRUE) - 1L, sample(40:800, n, TRUE) - 1L), 2L,
                   byrow = TRUE)
    item <- rbind(item, 40L * 20L + sample(40L, n, TRUE) - 1L, 40L * 21L)
    found <- synfire:::new_itemsets(
      c(item), list(size = 4L, n = n), rep(1L, n),
      list(units = levels(x$unit), window_bins = 22L, bin_size = 0.005), "patterns"
    )
    begin()
    pattern_occurrences(x, found)
  }))
})
