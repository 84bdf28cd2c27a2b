# Patterns of a random raster with no more occurrences than can be enumerated, and what the
# oracle says of them.
random_stability <- function(seed, most = 9) {
  raster <- random_raster(seed, windows = c(1, 2, 3, 4, 5, 8))
  raster$filters$shifted_subsets <- "keep"
  raster$filters$closed_within <- "all"
  found <- mine_raster(raster, threads = 1)
  withr::local_seed(seed)
  few <- which(found$count <= most)
  found <- found[few[sample(length(few), min(length(few), 8L))]]
  units <- length(attr(found, "units"))
  all <- as.double(seq_len(units * raster$window) - 1)
  windows <- lapply(oracle_windows(raster)$items, \(i) {
    i %/% raster$units * units + i %% raster$units
  })
  list(patterns = found, exact = vapply(
    oracle_codes(found), \(items) oracle_stability(windows, as.double(items), all), double(2)
  ))
}

test_that("all subsets are looked at where there are few", {
  compared <- 0
  for (seed in cases(80)) {
    given <- random_stability(seed)
    if (length(given$patterns) == 0L) next
    ours <- pattern_stability(given$patterns, n_subsets = 2^9, threads = 1)
    expect_identical(ours$pattern, format(given$patterns))
    small <- given$patterns$size <= 9
    exact <- \(kind) unname(given$exact[kind, ])
    expect_equal(ours$intensional[small], exact("intensional")[small], info = seed)
    expect_equal(ours$extensional, exact("extensional"), info = seed)
    compared <- compared + length(unique(c(given$exact)))
  }
  expect_gt(compared, 65)
})

test_that("estimates are as close as they promise", {
  off <- c()
  for (seed in 1:40) {
    given <- random_stability(seed)
    if (length(given$patterns) == 0L) next
    set.seed(seed)
    # Fewer subsets than there are of two windows or items.
    ours <- pattern_stability(given$patterns, delta = 0.1, epsilon = 0.7, threads = 1)
    expect_identical(attr(ours, "n_subsets"), 4)
    off <- c(off, ours$extensional - given$exact["extensional", ])
  }
  expect_gt(length(off), 100)
  # Each in steps of 1/4, without a bias.
  expect_lt(abs(mean(off)), 4 * 0.5 / sqrt(4 * length(off)))
  expect_lt(mean(abs(off) > 0.7), 0.1)
})

test_that("large sets of windows and items are estimated", {
  set.seed(1)
  # 70 units together 200 times, of which 69 three times more.
  times <- seq(0.01, by = 0.01, length.out = 203)
  x <- spike_trains(c(rep(times, 69), times[1:200]), rep(1:70, c(rep(203, 69), 200)),
                    start = 0, end = 3)
  found <- mine_patterns(x, 0.001, 2, min_spikes = 69, min_count = 100, threads = 1)
  expect_identical(found$size, c(69L, 70L))
  stable <- pattern_stability(found, n_subsets = 2000, threads = 1)
  # 69 units: the one subset that fails is none of them, where 2 ms windows are empty of
  # them: there are none. 70: those without unit 70 are in three windows more.
  expect_equal(stable$intensional[[1L]], 1)
  expect_lt(abs(stable$intensional[[2L]] - 0.5), 0.05)
  # Windows of the 69: to lose them, all have to be among the 200 of unit 70.
  expect_lt(abs(stable$extensional[[1L]] - 7 / 8), 0.04)
  expect_identical(stable$extensional[[2L]], 1)
})

test_that("set.seed() decides, for any number of threads and whatever follows", {
  found <- mine_raster(random_raster(65), threads = 1)
  draw <- \(x, threads) {
    set.seed(7)
    pattern_stability(x, n_subsets = 20, threads = threads)
  }
  first <- draw(found, 1)
  expect_identical(draw(found, 2), first)
  some <- seq_len(length(found) %/% 2)
  expect_identical(draw(found[some], 2)$extensional, first$extensional[some])
  set.seed(8)
  expect_false(identical(pattern_stability(found, n_subsets = 20, threads = 1)$extensional,
                         first$extensional))
})

test_that("one kind can be asked for, and no patterns are an answer", {
  found <- mine_raster(random_raster(65), threads = 1)
  set.seed(1)
  both <- pattern_stability(found, threads = 1)
  set.seed(1)
  one <- pattern_stability(found, type = "extensional", threads = 1)
  expect_named(one, c("pattern", "extensional"))
  expect_identical(one$extensional, both$extensional)
  expect_identical(nrow(pattern_stability(found[0])), 0L)
})

test_that("what cannot be used is refused", {
  found <- mine_raster(random_raster(65), threads = 1)
  refused <- \(...) expect_error(pattern_stability(...), class = "synfire_error_argument")
  refused(1:3)
  refused(found, n_subsets = 0)
  refused(found, delta = 0)
  refused(found, epsilon = 0)
  refused(found, epsilon = 1e-12)
  refused(found, type = "both")
  refused(found, type = character())
  refused()
})
