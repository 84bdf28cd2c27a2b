# A count that chance hardly reaches, and searches that are foreseen to be too large.

planted <- function() {
  withr::local_seed(91)
  suppressMessages(simulate_patterns(duration = 30, units = 10, rate = 4))
}

test_that("the suggested count is one more than any surrogate has", {
  x <- planted()
  withr::local_seed(92)
  expect_message(count <- suggest_pattern_count(x, 0.005, 8, n_surrogates = 4, threads = 1),
                 class = "synfire_message_min_count")
  # Of the same surrogates, the largest count of all patterns of three spikes.
  withr::local_seed(92)
  p <- pvalue_spectrum(x, 0.005, 8, min_spikes = 3, min_count = 2, n_surrogates = 4, threads = 1)
  expect_identical(count, max(attr(p, "maxima")[, 1]) + 1)
  # What was planted is beyond it.
  found <- spade(x, 0.005, 8, min_count = count, n_surrogates = 99, threads = 1)
  expect_gt(length(found$patterns), 0)
  # Larger patterns reach less.
  larger <- suppressMessages(suggest_pattern_count(x, 0.005, 8, min_spikes = 4, threads = 1))
  expect_lt(larger, count)
  expect_error(suggest_pattern_count(x[unit = character()], 0.005, 8), class = "synfire_error_argument")
  expect_error(suggest_pattern_count(x, 0.005, 8, n_surrogates = 0), class = "synfire_error_argument")
})

test_that("a search that would take more than the memory is an error before it begins", {
  x <- planted()
  filters <- list(min_spikes = 3, min_count = 4, max_spikes = Inf, max_count = Inf, min_units = 3)
  bin <- 5000
  # A pilot that is full below 17, and finds something at more.
  mine <- function(filters, bytes) {
    if (filters$min_count >= 17) structure(list(), peak_memory = 5e7, elapsed = 0.5)
  }
  run <- function(max_memory) {
    withr::local_seed(93)
    search <- search_of(x, bin, 8, utils::modifyList(filters, list(min_count = 4)))
    foresee(search, NULL, 1, max_memory, mine)
  }
  steps <- pilot_steps(filters, 30, mine)
  expect_identical(steps[c("over", "count", "bytes")], list(over = 14, count = 21, bytes = 1e8))
  expect_error(run(1e8), "min_count", class = "synfire_error_budget")
  expect_message(run(1e12), "or more", class = "synfire_message_long")
  # Nothing is said of a search that keeps to the pilot's memory.
  expect_no_message(spade(x, 0.005, 8, min_count = 4, n_surrogates = 5, threads = 1))
})

test_that("surrogates that take long are said before they begin", {
  first <- function() Sys.sleep(0.05)
  expect_message(foresee_surrogates(1e5, 1, 2, 10, first), "take about .* with 2 threads",
                 class = "synfire_message_long")
  expect_no_message(foresee_surrogates(100, 1, 2, 10, first))
  expect_no_message(foresee_surrogates(5, 100, 1, 10, first))
  expect_identical(vapply(c(2, 120, 7200, 86400 * 3, 86400 * 3652), work_text, ""),
                   c("2 s", "2 min", "2 h", "3 days", "10 years"))
})

test_that("the call that stopped for memory on a recording of 72 min is an error at once", {
  skip_on_cran()
  x <- suppressMessages(read_spikes(shared_data("recordings/wmaze.csv.gz")))
  withr::local_seed(1)
  expect_error(
    suppressMessages(spade(x, bin_size = 0.005, window_bins = 20, min_count = 10,
                           n_surrogates = 1000, surrogate = "train_shift", threads = 1)),
    "too many to be listed", class = "synfire_error_budget"
  )
})
