# The count to mine with.

independent_units <- function(rates, seconds) {
  n <- stats::rpois(length(rates), rates * seconds)
  spike_trains(round(stats::runif(sum(n), 0, seconds), 4), rep(LETTERS[seq_along(rates)], n),
               start = 0, end = seconds, resolution = 1e-4)
}

said <- function(expr) {
  text <- character()
  value <- withCallingHandlers(expr, synfire_message_min_count = \(m) {
    text <<- gsub("\\s+", " ", paste(text, conditionMessage(m)))
    rlang::cnd_muffle(m)
  })
  list(count = value, text = text)
}

test_that("a chain of slow units is found among fast ones that hide it", {
  withr::local_seed(1)
  x <- independent_units(c(20, 20, 20, 0.5, 0.5, 0.5), 60)
  at <- sort(stats::runif(15, 0, 59))
  chain <- data.frame(time = round(c(at, at + 0.01, at + 0.02), 4),
                      unit = rep(c("D", "E", "F"), each = 15))
  x <- suppressMessages(spike_trains(c(x$time, chain$time), c(as.character(x$unit), chain$unit),
                                     start = 0, end = 60, resolution = 1e-4))
  got <- said(suggest_min_count(x, c(0.005, 0.015), threads = 1))
  # Fast units follow each other hundreds of times.
  expect_lte(got$count, 16)
  expect_match(got$text, "are beyond chance, compared with 39 surrogates")
  found <- mine_episodes(x, got$count, c(0.005, 0.015), threads = 1)
  expect_true("D -(0.005,0.015]-> E -(0.005,0.015]-> F" %in% found$episode)
  alone <- said(suggest_min_count(x, c(0.005, 0.015), method = "independent", threads = 1))
  expect_lte(alone$count, 16)
  expect_match(alone$text, "units that fire independently")
})

test_that("where nothing is beyond chance the message says so, and what would have been", {
  none <- vapply(1:6, \(seed) {
    withr::local_seed(seed)
    x <- independent_units(c(20, 10, 5, 2), 40)
    got <- said(suggest_min_count(x, c(0.005, 0.015), threads = 1))
    grepl("None beyond chance.*would have been found from [0-9,]+ times on", got$text)
  }, NA)
  # 5 % of each of four sizes at most; three of six in 2 %.
  expect_gte(sum(none), 4)
})

test_that("recordings without pairs, and bad arguments", {
  x <- spike_trains(c(1, 5), c("A", "B"), start = 0, end = 10)
  got <- said(suggest_min_count(x, c(0, 0.01), threads = 1))
  expect_identical(got$count, 2)
  expect_match(got$text, "no unit follows another.*take intervals that hold several frames")
  empty <- spike_trains(numeric(), character(), start = 0, end = 1)
  for (method in c("surrogates", "independent")) {
    expect_error(suggest_min_count(empty, c(0, 0.01), method = method), "recording with spikes",
                 class = "synfire_error_argument")
  }
  bad <- list(alpha = 0, n_surrogates = 0, n_surrogates = 18, surrogate = "none", method = "x",
              dither = -1, distinct_units = 2, refractory = -1)
  for (k in seq_along(bad)) {
    expect_error(do.call(suggest_min_count, c(list(x, c(0, 0.01)), bad[k])),
                 paste0("`", names(bad)[[k]], "` must be"), class = "synfire_error_argument")
  }
})

test_that("sequences of a songbird are found, and films say what intervals they need", {
  song <- utils::read.table(shared_data("recordings/songbird.txt"))
  x <- spike_trains(song[[2]], song[[1]])
  withr::local_seed(1)
  expect_match(said(suggest_min_count(x, c(0.005, 0.015), threads = 1))$text,
               "0.033333 s apart or more")
  got <- said(suggest_min_count(x, c(0.02, 0.12), threads = 1))
  expect_lte(got$count, 16)
  expect_match(got$text, "beyond chance, compared with")
  found <- mine_episodes(x, got$count, c(0.02, 0.12), threads = 1, max_size = 4)
  tested <- episode_significance(found, n_surrogates = 39, threads = 1)
  expect_gt(sum(tested$significant & tested$size > 2), 5)
})

test_that("units of a recording that are moved by themselves have no chains", {
  x <- read_spikes(shared_data("episodes/axion_B3.csv.gz"), time_unit = "ms")
  withr::local_seed(1)
  span <- attr(x, "end") - attr(x, "start")
  moved <- unlist(lapply(split(x$time, x$unit), \(t) {
    attr(x, "start") + (t - attr(x, "start") + stats::runif(1, 0.1, 0.9) * span) %% span
  }), use.names = FALSE)
  y <- suppressMessages(spike_trains(round(moved, 6), rep(levels(x$unit), table(x$unit)),
                                     start = attr(x, "start"), end = attr(x, "end")))
  found <- mine_episodes(y, 20, c(0.005, 0.015), max_size = 3, threads = 1)
  expect_gt(nrow(found), 100)
  tested <- episode_significance(found, n_surrogates = 99, threads = 1)
  expect_identical(sum(tested$significant), 0L)
  # Spikes dithered one by one lose their regularity, and dozens of pairs seem to stand out.
  naive <- episode_significance(found, n_surrogates = 39, surrogate = "dither", threads = 1)
  expect_gt(sum(naive$significant), 5)
})
