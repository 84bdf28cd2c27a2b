# A thread per occurrence counts what the CPU counts, whatever the compaction, and whether
# or not partial occurrences with one end are kept once.

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))

by_occurrence <- function(x, ..., distinct_units = FALSE, compaction = "count-once",
                          dedup = TRUE) {
  mine_episodes(x, ..., distinct_units = distinct_units, device = "gpu",
                engine = list("occurrence", compaction = compaction, dedup = dedup))
}

expect_same_as_cpu <- function(x, ..., distinct_units = FALSE, dedup = c(TRUE, FALSE)) {
  cpu <- mine_episodes(x, ..., distinct_units = distinct_units, device = "cpu", threads = 2)
  for (compaction in gpu_compactions) for (keep_latest in dedup) {
    gpu <- by_occurrence(x, ..., distinct_units = distinct_units, compaction = compaction,
                         dedup = keep_latest)
    label <- paste0(compaction, ", dedup = ", keep_latest)
    expect_identical(attr(gpu, "device"), "gpu")
    expect_identical(attr(gpu, "engine"), "occurrence")
    expect_identical(attr(gpu, "levels")$candidates, attr(cpu, "levels")$candidates,
                     label = paste("candidates by", label))
    expect_identical(as.data.frame(gpu), as.data.frame(cpu), label = paste("table by", label))
  }
  invisible(cpu)
}

test_that("small random streams: ties, repeats, zero bounds, trials", {
  skip_without_gpu()
  for (seed in 1:40) {
    kind <- seed %% 4
    stream <- random_stream(
      seed, units = c(1, 2, 4, 6)[[kind + 1]], spikes = c(12, 25, 40, 50)[[kind + 1]],
      span = c(10, 40, 80, 120)[[kind + 1]], intervals = c(3, 2, 2, 1)[[kind + 1]]
    )
    min_count <- if (kind < 2) 1 + seed %% 3 else 2 + seed %% 4
    want <- oracle_mine(stream, min_count, 5)
    for (compaction in gpu_compactions) for (dedup in c(TRUE, FALSE)) {
      got <- by_occurrence(stream$x, min_count, stream_intervals(stream), max_size = 5,
                           compaction = compaction, dedup = dedup)
      expect_identical(plain(got), want$table,
                       label = paste0(compaction, ", dedup = ", dedup, ", stream ", seed))
    }
  }
})

test_that("one unit, one spike, nothing frequent", {
  skip_without_gpu()
  expect_same_as_cpu(spike_trains(0.001, "A"), 1, c(0, 0.005))
  expect_same_as_cpu(spike_trains(1:9 / 1000, rep("A", 9)), 2, c(0, 0.002))
  expect_same_as_cpu(spike_trains(1:9 / 1000, rep(c("A", "B", "C"), 3)), 10, c(0, 0.005))
})

test_that("simulated recordings and trials", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  found <- expect_same_as_cpu(x, 300, delays)
  expect_gt(max(found$size), 3)
  expect_same_as_cpu(x, 150, delays, dedup = TRUE)
  expect_same_as_cpu(x, 150, delays, distinct_units = TRUE, dedup = TRUE)
  trials <- data.frame(start = seq(0, 59, 1), end = seq(0.9, 59.9, 1))
  expect_same_as_cpu(spike_trains(x$time, x$unit, 0, 60, trials = trials), 200, delays)
})

test_that("more than 255 units", {
  skip_without_gpu()
  set.seed(12)
  x <- spike_trains(sort(runif(20000, 0, 20)), sample(300, 20000, TRUE))
  expect_same_as_cpu(x, 8, c(0, 0.010), max_size = 3)
})

test_that("a real recording of a culture", {
  skip_without_gpu()
  x <- read_spikes(shared_data("episodes/tc89.csv.gz"), time_unit = "ms")
  expect_same_as_cpu(x, 800, c(0.005, 0.015), dedup = TRUE)
  expect_same_as_cpu(x, 2000, c(0.005, 0.015), max_size = 3)
})

# Every spike is followed by fifty of the same unit: 2,000 x 50^k occurrences of k steps.
test_that("a burst is counted with `dedup`, and refused without before memory runs out", {
  skip_without_gpu()
  x <- spike_trains(1:2000 / 1000, rep("A", 2000), resolution = 1e-3)
  expect_same_as_cpu(x, 50, c(0, 0.050), dedup = TRUE)
  expect_same_as_cpu(x, 50, c(0, 0.050), max_size = 3)
  for (compaction in gpu_compactions) {
    condition <- expect_error(
      by_occurrence(x, 50, c(0, 0.050), max_size = 8, compaction = compaction, dedup = FALSE),
      class = "synfire_error_too_large"
    )
    expect_match(conditionMessage(condition), "dedup", fixed = TRUE)
  }
  expect_same_as_cpu(x, 50, c(0, 0.050), max_size = 2)  # the device still works
})

test_that("Ctrl-C stops mining by occurrences", {
  skip_without_gpu()
  for (compaction in gpu_compactions) {
    work <- bquote({
      set.seed(1)
      x <- simulate_sym26()
      delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
      mine <- function(min_count) {
        mine_episodes(x, min_count, delays, device = "gpu",
                      engine = list("occurrence", compaction = .(compaction)))
      }
      invisible(mine(300))
      begin()
      repeat mine(60)
    })
    expect_interrupted(work)
  }
})
