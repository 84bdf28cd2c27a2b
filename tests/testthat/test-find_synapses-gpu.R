# Recordings whose pairs have everything that a scan meets: strong windows on one side, on
# both and at lag 0, slow structure, trials, ties.
planted <- function(units, duration, rate, seed, trials = NULL) {
  set.seed(seed)
  each <- stats::rpois(units, duration * rate)
  time <- split(stats::runif(sum(each), 0, duration), rep(seq_len(units), each))
  follow <- \(from, share, lag) time[[from]][stats::runif(length(time[[from]])) < share] + lag
  time[[2]] <- c(time[[2]], follow(1, 0.4, 0.003))
  time[[3]] <- c(time[[3]], follow(1, 0.3, 0.005), follow(2, 0.2, 0.002))
  time[[4]] <- c(time[[4]], follow(5, 0.3, 0))
  table <- data.frame(time = floor(unlist(time) * 1e5) / 1e5,
                      unit = rep(seq_len(units), lengths(time)))
  table <- unique(table[table$time < duration, ])
  spike_trains(table$time, factor(table$unit, seq_len(units)), start = 0, end = duration,
               resolution = 1e-5, trials = trials)
}

counts_of <- function(x, bin, lags, gpus) count_lags(trains_of(x), bin, lags, 1L, 4e9, gpus)

test_that("lags are counted the same on a GPU", {
  skip_without_gpu()
  trials <- data.frame(start = c(0, 10, 30), end = c(9, 29, 60))
  for (x in list(planted(6, 60, 20, 1), planted(6, 60, 20, 2, trials), planted(40, 20, 5, 3))) {
    for (bin in c(1, 3, 50)) {
      cpu <- counts_of(x, bin, 60L, NULL)
      expect_gt(sum(cpu), 0)
      expect_identical(counts_of(x, bin, 60L, 0L), cpu)
    }
  }
  # Units without spikes, and one unit.
  silent <- spike_trains(c(0.1, 0.2, 0.2001), factor(c("a", "c", "c"), c("a", "b", "c")),
                         start = 0, end = 1)
  expect_identical(counts_of(silent, 500, 400L, 0L), counts_of(silent, 500, 400L, NULL))
  one <- planted(6, 5, 50, 4)[unit = "1"]
  expect_identical(counts_of(one, 50, 20L, 0L), counts_of(one, 50, 20L, NULL))
})

test_that("pairs are scanned the same on a GPU, to 1e-9", {
  skip_without_gpu()
  x <- planted(12, 300, 15, 5)
  counts <- counts_of(x, 50, 80L, NULL)
  pairs <- pairs_of(12L)
  for (case in list(list(reach = 20L, width = 6L, hollow = 40, folded = 6, mask = 4, rest = 30L),
                    list(reach = 60L, width = 6L, hollow = 20, folded = 6, mask = 0, rest = 0L),
                    list(reach = 40L, width = 1L, hollow = 30, folded = 0, mask = 2, rest = 50L))) {
    options <- c(list(lags = 80L, guard = 1L, pad = 5L, threads = 1L, max_memory = 1e9), case)
    scan <- \(gpus) .Call(r_synapse_scan, counts, pairs$a, pairs$b, c(options, list(gpus = gpus)))
    cpu <- scan(NULL)
    gpu <- scan(0L)
    expect_gt(max(cpu$up_z), 4)
    for (name in setdiff(names(cpu), c("up_lo", "down_lo"))) {
      expect_equal(gpu[[name]], cpu[[name]], tolerance = 1e-9, info = name)
    }
    expect_identical(gpu$up_lo, cpu$up_lo)
  }
})

test_that("connections are the same on a GPU", {
  skip_without_gpu()
  x <- planted(150, 200, 10, 6)
  expect_gt(150 * 149 / 2, few_pairs)
  cpu <- find_synapses(x, threads = 1)
  gpu <- find_synapses(x, device = "gpu")
  expect_gt(sum(cpu$kind %in% "connection"), 1)
  expect_equal(as.data.frame(gpu), as.data.frame(cpu), tolerance = 1e-9)
  expect_identical(attr(gpu, "device"), "gpu")
})

test_that("a GPU refuses what does not fit", {
  skip_without_gpu()
  x <- planted(12, 60, 15, 7)
  counts <- counts_of(x, 50, 80L, NULL)
  pairs <- pairs_of(12L)
  tight <- list(lags = 80L, reach = 20L, width = 6L, guard = 1L, pad = 5L, hollow = 40,
                folded = 6, mask = 4, rest = 0L, threads = 1L, max_memory = 1e6, gpus = 0L)
  expect_identical(.Call(r_synapse_scan, counts, pairs$a, pairs$b, tight)$status, "over_budget")
})
