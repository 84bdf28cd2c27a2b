# The GPU gives the CPU's table, to the last digit.

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))

same_as_cpu <- function(x, ..., distinct_units = FALSE, gpus = NULL) {
  gpu <- mine_episodes(x, ..., distinct_units = distinct_units, device = "gpu", gpus = gpus)
  cpu <- mine_episodes(x, ..., distinct_units = distinct_units, device = "cpu", threads = 2)
  expect_identical(attr(gpu, "device"), "gpu")
  expect_identical(attr(gpu, "gpus")$gpu, as.integer(if (is.null(gpus)) 1 else gpus))
  # A GPU counts episodes with a unit twice as well, and leaves them out afterwards.
  counted <- c("size", "frequent", if (!distinct_units) c("candidates", "eliminated"))
  expect_identical(attr(gpu, "levels")[counted], attr(cpu, "levels")[counted])
  expect_identical(as.data.frame(gpu), as.data.frame(cpu))
  invisible(gpu)
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  condition <- expect_error(mine_episodes(x, 1, c(0, 0.005), device = "gpu"),
                            class = "synfire_error_device")
  expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
})

test_that("an engine of the CPU alone is refused on a GPU", {
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  expect_error(mine_episodes(x, 1, c(0, 0.005), engine = "state", device = "gpu"),
               class = "synfire_error_argument")
})

test_that("small random streams: ties, repeats, zero bounds, several intervals", {
  skip_without_gpu()
  set.seed(11)
  for (round in 1:150) {
    units <- sample(2:40, 1)
    n <- sample(c(0, 1, 5, 50, 400, 3000), 1)
    ticks <- sample(sample(c(20, 300, 20000), 1), n, TRUE) - 10
    x <- spike_trains(ticks / 1000, sample(units, n, TRUE), start = -1, end = 21,
                      resolution = 1e-3)
    bounds <- sapply(seq_len(sample(3, 1)), \(k) sort(sample(0:9, 2)) / 1000)
    bounds <- unique(t(bounds))
    most <- max(1, table(x$unit))
    same_as_cpu(x, max(1, ceiling(most / sample(2:8, 1))), bounds, max_size = sample(2:5, 1))
  }
})

test_that("more than 32, 64 and 128 units", {
  skip_without_gpu()
  set.seed(12)
  for (units in c(33, 64, 65, 130, 255)) {
    x <- spike_trains(sort(runif(20000, 0, 20)), sample(units, 20000, TRUE))
    same_as_cpu(x, 8, c(0, 0.010), max_size = 4)
  }
})

test_that("hundreds and thousands of units", {
  skip_without_gpu()
  set.seed(13)
  for (units in c(256, 300, 511, 2000)) {
    x <- spike_trains(sort(runif(60 * units, 0, 20)), sample(units, 60 * units, TRUE))
    same_as_cpu(x, 4, rbind(c(0, 0.002), c(0.002, 0.010)), max_size = 4)
    same_as_cpu(x, 4, c(0, 0.010), max_size = 4, gpus = c(1, 1))
  }
})

test_that("windows of more than 65,534 spikes", {
  skip_without_gpu()
  set.seed(14)
  x <- spike_trains(sort(runif(150000, 0, 20)), sample(40, 150000, TRUE))
  found <- same_as_cpu(x, 100, rbind(c(0, 12), c(0, 0.001)), max_size = 3)
  expect_gt(nrow(found), 100000)
})

test_that("several devices find what one finds", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  same_as_cpu(x, 150, delays, gpus = c(1, 1))
  same_as_cpu(x, 120, delays, gpus = c(1, 1, 1))
  same_as_cpu(x, 150, delays, gpus = c(1, 1), max_size = 4)
  set.seed(1)
  same_as_cpu(simulate_culture(duration = 600), 1000, c(0.005, 0.015), gpus = c(1, 1))
  devices <- nrow(synfire_sitrep(test_devices = FALSE)$devices)
  skip_if(devices < 2, "a single GPU")
  same_as_cpu(x, 150, delays, gpus = seq_len(devices))
  same_as_cpu(x, 100, delays, gpus = seq_len(devices))
})

test_that("lists that do not fit in the budget are made part by part", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  expect_no_message(roomy <- mine_episodes(x, 150, delays, device = "gpu"))
  expect_message(mine_episodes(x, 150, delays, device = "gpu", max_memory = 2e7),
                 "part by part", class = "synfire_message_memory")
  for (budget in c(2e7, 3e7, 6e7)) {
    tight <- suppressMessages(mine_episodes(x, 150, delays, device = "gpu", max_memory = budget))
    expect_lt(attr(tight, "peak_memory"), attr(roomy, "peak_memory"))
    expect_identical(as.data.frame(tight), as.data.frame(roomy))
    both <- suppressMessages(mine_episodes(x, 150, delays, device = "gpu", gpus = c(1, 1),
                                           max_memory = budget))
    expect_identical(as.data.frame(both), as.data.frame(roomy))
  }
})

test_that("a table that does not fit in the budget is made some columns at a time", {
  skip_without_gpu()
  set.seed(15)
  delays <- rbind(c(0, 0.002), c(0.002, 0.010), c(0.010, 0.020))
  few <- spike_trains(sort(runif(4000, 0, 10)), sample(40, 4000, TRUE))
  many <- spike_trains(sort(runif(18000, 0, 20)), sample(300, 18000, TRUE))
  recordings <- list(list(x = few, min_count = 5, budgets = c(6, 4, 3.2) * 1e6),
                     list(x = many, min_count = 5, budgets = c(60, 40, 20, 15) * 1e6))
  for (r in recordings) {
    roomy <- same_as_cpu(r$x, r$min_count, delays, max_size = 4)
    expect_gt(nrow(roomy), 2000)
    for (budget in r$budgets) {
      for (gpus in list(1, c(1, 1))) {
        tight <- suppressMessages(mine_episodes(r$x, r$min_count, delays, max_size = 4,
                                                distinct_units = FALSE, device = "gpu",
                                                gpus = gpus, max_memory = budget))
        expect_identical(as.data.frame(tight), as.data.frame(roomy))
        # The episodes of a size may come on top of the lists that they were found in.
        level <- 32 * max(attr(tight, "levels")$frequent)
        expect_lte(attr(tight, "peak_memory"), budget + level)
      }
    }
  }
  x <- many
  condition <- expect_error(mine_episodes(x, 4, delays, device = "gpu", max_memory = 1e6),
                            class = "synfire_error_budget")
  expect_match(conditionMessage(condition), "`max_memory` is 0.001 GB", fixed = TRUE)
})

test_that("more intervals than a grid has rows", {
  skip_without_gpu()
  x <- spike_trains(c(1, 5, 9, 70000, 70003) / 1000, c("A", "B", "A", "B", "A"),
                    resolution = 1e-3)
  bounds <- cbind(0:66000, 1:66001) / 1000
  found <- mine_episodes(x, 1, bounds, max_size = 2, device = "gpu")
  expect_identical(as.data.frame(found),
                   as.data.frame(mine_episodes(x, 1, bounds, max_size = 2, threads = 2)))
  expect_gt(nrow(found), 2)
})

test_that("what was found counts against max_memory together with what the GPU holds", {
  skip_without_gpu()
  set.seed(16)
  x <- spike_trains(sort(runif(5000, 0, 1)), sample(30, 5000, TRUE))
  expect_error(mine_episodes(x, 1, c(0, 0.5), max_size = 5, device = "gpu", max_memory = 2e7),
               class = "synfire_error_budget")
})

test_that("simulated recordings, trials and bursts", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  same_as_cpu(x, 300, delays)
  found <- same_as_cpu(x, 150, delays)
  expect_gt(nrow(found), 10000)
  trials <- data.frame(start = seq(0, 59, 1), end = seq(0.9, 59.9, 1))
  same_as_cpu(spike_trains(x$time, x$unit, 0, 60, trials = trials), 120, delays)
  set.seed(1)
  same_as_cpu(simulate_culture(duration = 600), 1000, c(0.005, 0.015))
})

test_that("a real recording of a culture", {
  skip_without_gpu()
  x <- read_spikes(shared_data("episodes/tc89.csv.gz"), time_unit = "ms")
  found <- same_as_cpu(x, 800, c(0.005, 0.015))
  expect_identical(nrow(found), 13166L)
})

test_that("closed, maximal, top and an empty result come from a GPU as well", {
  skip_without_gpu()
  set.seed(2)
  x <- simulate_sym26(duration = 10)
  for (target in c("closed", "maximal")) same_as_cpu(x, 40, delays, target = target)
  same_as_cpu(x, 40, delays, distinct_units = TRUE)
  same_as_cpu(x, 40, delays, distinct_units = TRUE, target = "maximal", top = 3)
  same_as_cpu(x, 40, delays, top = 3)
  expect_identical(nrow(same_as_cpu(x, 1e6, delays)), 0L)
})

test_that("a budget too small for the episodes is an error on a GPU as well", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  expect_error(mine_episodes(x, 60, delays, device = "gpu", max_memory = 1e6),
               class = "synfire_error_budget")
})

test_that("a forked child gets an error, and the parent goes on", {
  skip_without_gpu()
  skip_on_os("windows")
  set.seed(2)
  x <- simulate_sym26(duration = 10)
  same_as_cpu(x, 40, delays)
  job <- parallel::mcparallel(tryCatch(
    mine_episodes(x, 40, delays, device = "gpu"), error = function(condition) class(condition)
  ))
  expect_true("synfire_error_device" %in% parallel::mccollect(job)[[1L]])
  same_as_cpu(x, 40, delays)
})

test_that("Ctrl-C stops mining on a GPU", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    x <- simulate_sym26()
    delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
    invisible(mine_episodes(x, 150, delays, device = "gpu"))
    begin()
    repeat mine_episodes(x, 60, delays, device = "gpu")
  }))
})
