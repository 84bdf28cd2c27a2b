# Counts that chance makes: against simulated units that fire independently.

independent_trains <- function(rates, seconds) {
  n <- stats::rpois(length(rates), rates * seconds)
  spike_trains(stats::runif(sum(n), 0, seconds), rep(LETTERS[seq_along(rates)], n), start = 0,
               end = seconds)
}

test_that("expected counts of episodes are those of independent units", {
  set.seed(1)
  rates <- c(20, 10, 30)
  for (bounds in list(c(0, 0.005), c(0.005, 0.02), c(0, 0.05))) {
    one <- \(...) episode(c(...), bounds[[1]], bounds[[2]])
    asked <- c(one("A"), one("A", "B"), one("C", "A"), one("B", "A", "C"), one("A", "A"))
    counts <- replicate(8, count_episodes(independent_trains(rates, 300), asked)$count)
    x <- independent_trains(rates, 300)
    # Rates as they are, not as this one recording has them.
    got <- expected_counts(count_episodes(x, asked))
    expect_s3_class(got, "episodes")
    ratio <- got$expected / rowMeans(counts)
    expect_lt(max(abs(ratio[1:3] - 1)), 0.08)
    expect_lt(max(abs(ratio[4:5] - 1)), 0.35)
    expect_identical(got$excess, got$count - got$expected)
    expect_equal(10^-got$surprise, stats::ppois(got$count - 1, got$expected, lower.tail = FALSE))
  }
})

test_that("trials cut occurrences off, and a silent unit has none", {
  set.seed(2)
  starts <- seq(0, 199, by = 0.1)
  n <- c(4000, 4000)
  x <- spikes_outside(spike_trains(
    stats::runif(8000, 0, 200), factor(rep(c("A", "B"), n), c("A", "B", "C")), start = 0,
    end = 200, trials = data.frame(start = starts, end = starts + 0.05)
  ))
  asked <- c(episode(c("A", "B"), 0.02, 0.03), episode(c("A", "C"), 0, 0.01), episode("C", 0, 1))
  got <- expected_counts(count_episodes(suppressMessages(x), asked))
  expect_lt(abs(got$expected[[1]] / got$count[[1]] - 1), 0.15)
  expect_identical(got$expected[2:3], c(0, 0))
})

test_that("expected counts of patterns are those of independent bins", {
  set.seed(3)
  x <- independent_trains(c(20, 10, 30), 400)
  found <- mine_patterns(x, 0.005, 4, min_spikes = 2, 5, max_spikes = 3)
  got <- expected_counts(found)
  expect_identical(got$count, found$count)
  expect_identical(got$number, seq_along(found))
  often <- got$expected > 100
  expect_gt(sum(often), 20)
  expect_lt(max(abs(got$count[often] / got$expected[often] - 1)), 0.4)
  expect_lt(abs(mean(got$count[often] / got$expected[often]) - 1), 0.03)
  expect_error(expected_counts(1), "`x` must be", class = "synfire_error_argument")
  expect_error(expected_counts(episode("A", 0, 1)), "`recording` must be",
               class = "synfire_error_argument")
  expect_error(expected_counts(episode("Z", 0, 1), x), "without unit \"Z\"",
               class = "synfire_error_argument")
})

test_that("summaries lead with what chance makes least likely", {
  set.seed(1)
  x <- simulate_sym26(5)
  found <- mine_episodes(x, 40, c(0.005, 0.01), threads = 1)
  sums <- summary(found)
  all <- expected_counts(found)
  best <- which.max(ifelse(all$size > 1, all$surprise, NA))
  expect_equal(sums$surprising$surprise[[1]], signif(all$surprise[[best]], 3))
  expect_output(print(sums), "Least likely by chance.*\n.*G > H")
  expect_null(summary(c(found, episode("A", 0, 1)))$surprising)
  patterns <- mine_patterns(x, 0.005, 4, min_spikes = 3, 10, threads = 1)
  expect_output(print(summary(patterns)), "Least likely by chance")
})
