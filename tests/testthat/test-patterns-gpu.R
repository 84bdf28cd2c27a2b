# The GPU finds the CPU's patterns, in their order.

# The CPU's and the GPU's; returns how many patterns there are.
mined_by_both <- function(mine, gpus = NULL, ...) {
  cpu <- mine(device = "cpu")
  gpu <- mine(device = "gpu", gpus = gpus, ...)
  expect_identical(attr(gpu, "device"), "gpu")
  expect_identical(gpu$runs, cpu$runs)
  expect_identical(as.integer(gpu$items), as.integer(cpu$items))
  expect_identical(as.integer(gpu$count), as.integer(cpu$count))
  length(cpu)
}

test_that("without a GPU the error says why, and what does not go together is refused", {
  x <- spike_trains(c(0.001, 0.02, 0.05), c("A", "B", "A"), start = 0, end = 0.06)
  refused <- function(...) {
    expect_error(mine_patterns(x, 0.005, 3, ...), class = "synfire_error_argument")
  }
  expect_match(conditionMessage(refused(gpus = 1)), "`gpus`", fixed = TRUE)
  expect_error(frequent_itemsets(list("a"), 1, gpus = 1), class = "synfire_error_argument")
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) {
    expect_match(conditionMessage(refused(device = "gpu", engine = "fpgrowth")), "`engine`",
                 fixed = TRUE)
    expect_match(conditionMessage(refused(device = "gpu", folder = tempfile())), "`device`",
                 fixed = TRUE)
  } else {
    for (mine in list(\() mine_patterns(x, 0.005, 3, device = "gpu"),
                      \() frequent_itemsets(list("a"), 1, device = "gpu"),
                      \() frequent_itemsets(list("a"), 1, device = "gpu"))) {
      condition <- expect_error(mine(), class = "synfire_error_device")
      expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
    }
  }
})

test_that("\"auto\" says where it mines", {
  x <- spike_trains(c(0.001, 0.02, 0.05), c("A", "B", "A"), start = 0, end = 0.06)
  expect_message(found <- mine_patterns(x, 0.005, 3, device = "auto"), "Using the CPU",
                 class = "synfire_message_device")
  expect_identical(attr(found, "device"), "cpu")
  expect_message(mine_patterns(x, 0.005, 3, device = "auto", engine = "fpgrowth"),
                 "the engine runs there alone", class = "synfire_message_device")
})

test_that("the estimate of what mining takes on the CPU tells pairs from what is deeper", {
  set.seed(3)
  seconds_of <- function(x, window, filters) {
    options <- miner_options(window, filters[[1L]], Inf, 1, filters[[2L]], Inf, "closure",
                             "closed", 1, 4e9)
    .Call(r_mine_patterns, pattern_events(x, 5000), to_estimate(options), NULL)
  }
  # By chance: hardly anything is below the pairs. With much in common: nearly all is.
  x <- spike_trains(runif(50000, 0, 60), sample(100, 50000, TRUE), start = 0, end = 60)
  chance <- seconds_of(x, 12, c(3, 20))
  expect_gt(chance[[1L]], 10 * chance[[2L]])
  # A few ways down do not meet all that is deep.
  together <- expand.grid(time = sample(1:5900, 120), unit = 1:16)
  together <- together[runif(nrow(together)) < 0.9, ]
  x <- spike_trains(c(together$time / 100, runif(4000, 0, 60)),
                    c(together$unit, sample(50, 4000, TRUE)), start = 0, end = 60)
  # Both are measured, and other work on the machine makes either longer.
  deep <- apply(replicate(5, seconds_of(x, 3, c(3, 6))), 1L, stats::median)
  expect_gt(deep[[2L]], 3 * deep[[1L]])
  # Nothing to mine.
  x <- spike_trains(c(1, 2), c("A", "B"), start = 0, end = 3)
  options <- miner_options(2, 2, Inf, 1, 2, Inf, "closure", "closed", 1, 4e9)
  expect_identical(.Call(r_mine_patterns, pattern_events(x, 5000), to_estimate(options), NULL),
                   c(0, 0))
})

test_that("\"auto\" takes the device that is done first", {
  of <- \(seconds, threads = 1, gpus = 1, context = 0) {
    sooner_miner(seconds, threads, gpus, context)$device
  }
  expect_identical(of(c(0.005, 0)), "cpu")
  expect_identical(of(c(0.02, 0)), "gpu")
  expect_identical(of(c(0.02, 0), context = 0.35), "cpu")
  expect_identical(of(c(1, 0), context = 0.35), "gpu")
  # Sixteen threads are as good as a GPU where most is deep, and not where little is.
  expect_identical(of(c(0.02, 0.2), threads = 16), "cpu")
  expect_identical(of(c(100, 0), threads = 16), "gpu")
  expect_identical(of(c(0, 100), threads = 64), "cpu")
  expect_identical(of(c(0, 100), threads = 64, gpus = 4), "gpu")
  expect_match(sooner_miner(c(100, 0), 16, 1, 0)$why, "the CPU would take 6.2 s")
})

test_that("small random recordings agree: filters, trials, short and long windows", {
  skip_without_gpu()
  some <- 0
  for (seed in 1:300) {
    raster <- random_raster(seed)
    n <- mined_by_both(\(...) do.call(mine_patterns, c(
      list(raster$x, raster$bin / 1000, raster$window), raster$filters, list(...))))
    some <- some + (n > 0)
  }
  expect_gt(some, 150)
})

test_that("itemsets agree: closed, maximal and frequent ones", {
  skip_without_gpu()
  set.seed(8)
  some <- 0
  for (k in 1:60) {
    items <- sample(3:70, 1)
    sets <- lapply(seq_len(sample(20:400, 1)), \(i) sample(items, min(items, 1 + rpois(1, 3))))
    least <- if (items > 12) 4 else 8
    for (target in c("closed", "maximal", "frequent")) {
      n <- mined_by_both(\(...) frequent_itemsets(sets, least, target = target, min_size = k %% 3 + 1,
                                                  max_size = if (k %% 2) Inf else 4, ...))
      some <- some + (n > 0)
    }
  }
  expect_gt(some, 60)
})

test_that("long lists, many windows and large sets agree", {
  skip_without_gpu()
  set.seed(9)
  x <- spike_trains(sort(sample(4e4, 6e3)) / 1000,
                    sample(c(rep("A", 6), letters[1:8]), 6e3, TRUE), resolution = 1e-3)
  expect_gt(mined_by_both(\(...) mine_patterns(x, 0.005, 5, 2, 60, ...)), 50)
  # Forty units at a time, six times: 40 items, and more units than a word has bits.
  together <- lapply(1:6, \(k) data.frame(time = k, unit = 1:40))
  noise <- data.frame(time = runif(3000, 0, 7), unit = sample(60, 3000, TRUE))
  both <- rbind(do.call(rbind, together), noise)
  x <- spike_trains(both$time, both$unit, start = 0, end = 8)
  expect_gt(mined_by_both(\(...) mine_patterns(x, 0.001, 3, 3, 4, ...)), 0)
  for (target in c("closed", "maximal")) {
    sets <- c(rep(list(1:300), 3), rep(list(c(1:280, 301)), 2), lapply(1:100, \(k) sample(300, 9)))
    mined_by_both(\(...) frequent_itemsets(sets, 3, target = target, min_size = 3, ...))
  }
})

test_that("little memory, several GPUs and a GPU twice give the same", {
  skip_without_gpu()
  raster <- read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  x <- spike_trains(raster[[2]] * 0.005 + 0.002, raster[[1]], start = 0,
                    end = (max(raster[[2]]) + 1) * 0.005, resolution = 1e-3)
  mine <- \(...) mine_patterns(x, 0.005, 20, 5, 11, ...)
  expect_gt(mined_by_both(mine), 10000)
  mined_by_both(mine, gpus = c(1, 1))
  mined_by_both(mine, max_memory = 6e7)
  mined_by_both(mine, gpus = c(1, 1, 1), max_memory = 2e8)
  expect_error(mine(device = "gpu", max_memory = 3e6), class = "synfire_error_budget")
})

test_that("a published job agrees, and the closed sets within a size", {
  skip_without_gpu()
  raster <- read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  x <- spike_trains(raster[[2]] * 0.005 + 0.002, raster[[1]], start = 0,
                    end = (max(raster[[2]]) + 1) * 0.005, resolution = 1e-3)
  mined_by_both(\(...) mine_patterns(x, 0.005, 20, 2, 88, ...))
  mined_by_both(\(...) mine_patterns(x, 0.005, 20, 3, 25, ...))
  mined_by_both(\(...) mine_patterns(x, 0.005, 20, 3, 25, max_spikes = 4,
                                     closed_within = "max_spikes", ...))
  mined_by_both(\(...) mine_patterns(x, 0.005, 20, 6, 10, max_count = 12, min_units = 4, ...))
})

test_that("two different GPUs share the work", {
  skip_without_gpu()
  skip_if(nrow(synfire_sitrep(test_devices = FALSE)$devices) < 2L, "one GPU")
  raster <- read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  x <- spike_trains(raster[[2]] * 0.005 + 0.002, raster[[1]], start = 0,
                    end = (max(raster[[2]]) + 1) * 0.005, resolution = 1e-3)
  expect_gt(mined_by_both(\(...) mine_patterns(x, 0.005, 20, 5, 11, ...), gpus = 1:2), 10000)
  mined_by_both(\(...) mine_patterns(x, 0.005, 20, 3, 25, ...), gpus = c(2, 1))
  # Fewer roots than parts that are dealt out, and none at all.
  few <- spike_trains(c(1, 2, 3, 11, 12, 13) / 1000, rep(c("A", "B", "C"), 2), resolution = 1e-3)
  mined_by_both(\(...) mine_patterns(few, 0.001, 3, 2, 2, ...), gpus = 1:2)
  mined_by_both(\(...) mine_patterns(few, 0.001, 3, 2, 5, ...), gpus = 1:2)
  sets <- lapply(1:300, \(k) unique(c(k %% 7 + 1, k %% 5 + 10, k %% 3 + 20, k %% 11 + 30)))
  mined_by_both(\(...) frequent_itemsets(sets, 5, ...), gpus = 1:2)
})

test_that("windows too poor for a pattern are left out, whatever the set lacks", {
  skip_without_gpu()
  set.seed(10)
  # Sets of seven units come back in noise: what is short of units, and of spikes, is found
  # or dropped at every depth; one unit has many spikes in a window.
  times <- sort(sample(2000, 60))
  planted <- expand.grid(unit = 1:7, time = times)
  planted$time <- planted$time * 10 + planted$unit %% 3
  noise <- data.frame(unit = sample(12, 8000, TRUE), time = sample(20020, 8000, TRUE))
  burst <- data.frame(unit = 13, time = rep(times * 10, each = 4) + 0:3)
  both <- unique(rbind(planted, noise, burst))
  x <- spike_trains(both$time / 1000, both$unit, start = 0, end = 20.1, resolution = 1e-3)
  some <- 0
  for (spikes in c(2, 4, 6, 8)) for (units in c(1, 3, 6, 7)) for (within in c("all", "max_spikes")) {
    most <- if (within == "all") Inf else spikes + 2
    if (units > most) next
    n <- mined_by_both(\(...) mine_patterns(x, 0.001, 6, spikes, 14, min_units = units,
                                            max_spikes = most, closed_within = within, ...))
    some <- some + (n > 0)
  }
  expect_gt(some, 12)
})

test_that("Ctrl-C is an interrupt", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    few <- spike_trains(stats::runif(500), sample(9, 500, TRUE), start = 0, end = 1)
    mine_patterns(few, 0.005, 5, 2, 4, device = "gpu")
    n <- 4500
    x <- spike_trains(stats::runif(1000 * n) * 900, rep(1:1000, each = n), start = 0, end = 900)
    begin()
    mine_patterns(x, 0.005, 150, 3, 90, device = "gpu", max_memory = 1.6e10)
  }))
})
