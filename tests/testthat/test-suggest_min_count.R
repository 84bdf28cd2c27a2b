# The count that chance hardly reaches.

test_that("fewer pairs than `chance` reach the suggested count in surrogates", {
  set.seed(1)
  x <- simulate_sym26(5)
  for (chance in c(0.5, 1, 20)) {
    set.seed(2)
    expect_message(got <- suggest_min_count(x, c(0, 0.005), chance, n_surrogates = 4, threads = 1),
                   "A count of .* or more is reached by", class = "synfire_message_min_count")
    set.seed(2)
    trains <- surrogate_trains(x, 4, surrogate = "dither", threads = 1)
    reach <- \(count) mean(vapply(trains, \(s) {
      found <- mine_episodes(s, count, c(0, 0.005), max_size = 2, threads = 1)
      sum(found$size == 2L)
    }, 0))
    expect_lt(reach(got), chance)
    expect_gte(reach(got - 1), chance)
  }
})

test_that("fewer pairs than `chance` reach it if units are independent", {
  set.seed(1)
  x <- simulate_sym26(5)
  least <- \(...) suppressMessages(suggest_min_count(x, cbind(c(0, 0.005), c(0.005, 0.01)),
                                                     method = "independent", threads = 1, ...))
  pairs <- lapply(levels(x$unit), \(a) {
    lapply(levels(x$unit), \(b) c(episode(c(a, b), 0, 0.005), episode(c(a, b), 0.005, 0.01)))
  })
  expected <- expected_counts(count_episodes(x, do.call(c, unlist(pairs, recursive = FALSE))))
  for (chance in c(0.1, 1, 30)) {
    got <- least(chance = chance)
    reach <- \(count) sum(stats::ppois(count - 1, expected$expected, lower.tail = FALSE))
    expect_lt(reach(got), chance)
    expect_gte(reach(got - 1), chance)
  }
  expect_lte(least(distinct_units = TRUE), least())
})

test_that("recordings without pairs, and bad arguments", {
  x <- spike_trains(c(1, 5), c("A", "B"), start = 0, end = 10)
  expect_identical(suppressMessages(suggest_min_count(x, c(0, 0.01), threads = 1)), 2)
  empty <- spike_trains(numeric(), character(), start = 0, end = 1)
  for (method in c("surrogates", "independent")) {
    expect_error(suggest_min_count(empty, c(0, 0.01), method = method), "recording with spikes",
                 class = "synfire_error_argument")
  }
  bad <- list(chance = 0, n_surrogates = 0, surrogate = "none", method = "x", dither = -1,
              distinct_units = 2, refractory = 1)
  for (name in names(bad)) {
    expect_error(do.call(suggest_min_count, c(list(x, c(0, 0.01)), bad[name])),
                 paste0("`", name, "` must be"), class = "synfire_error_argument")
  }
})
