# The published GPU strategies: each gives the CPU's table, to the last digit.

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
strategies <- c("ptpe", "mtpe", "hybrid", "two-pass")

# The same episodes and counts, and the same candidates level by level.
expect_same_episodes <- function(gpu, cpu, label) {
  expect_identical(as.data.frame(gpu), as.data.frame(cpu), label = label)
  expect_identical(attr(gpu, "levels")[c("size", "candidates", "frequent")],
                   attr(cpu, "levels")[c("size", "candidates", "frequent")], label = label)
}

# How often the machines of `size` random episodes complete, on the CPU and on a GPU with
# the recording cut into `segments`.
counts_both_ways <- function(stream, size, n, segments, engine = "mtpe", merge = "exact") {
  events <- trains_of(stream$x)
  ticks <- list(low = as.double(stream$low), high = as.double(stream$high))
  units <- matrix(sample(length(stream$names), n * size, replace = TRUE), n)
  edges <- matrix(sample(length(stream$low), n * (size - 1), replace = TRUE), n)
  request <- gpu_request(engine, 0L, merge, segments = segments)
  gpu <- gpu_count(events, ticks, units, edges, request)
  rows <- seq_len(n)
  cpu <- .Call(r_count_episodes, events, lapply(rows, \(i) units[i, ]),
               lapply(rows, \(i) ticks$low[edges[i, ]]),
               lapply(rows, \(i) ticks$high[edges[i, ]]), 1L)
  list(gpu = gpu$count, cpu = cpu, report = gpu$report)
}

test_that("an engine that the device does not have is refused", {
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  mine <- function(...) mine_episodes(x, 1, c(0, 0.005), ...)
  for (engine in c("ptpe", "mtpe", "hybrid", "occurrence")) {
    expect_error(mine(engine = engine), "device = \"gpu\"", class = "synfire_error_argument")
    expect_error(count_episodes(x, episode(c("A", "B"), 0, 0.005), engine = engine),
                 class = "synfire_error_argument")
  }
  expect_error(mine(engine = "state", device = "gpu"), "device = \"cpu\"",
               class = "synfire_error_argument")
  expect_error(mine(engine = list("mtpe", merge = "fast")), "merge")
  expect_error(mine(engine = list("occurrence", compaction = "none")), "compaction")
  expect_error(mine(engine = list("occurrence", dedup = NA)), class = "synfire_error_argument")
  expect_error(mine(engine = list("occurrence", way = 1)), class = "synfire_error_argument")
  expect_error(mine(engine = list("occurrence", "mtpe")), class = "synfire_error_argument")
  expect_error(mine(engine = list()), class = "synfire_error_argument")
})

test_that("gpus are whole numbers from 1, and there", {
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  for (gpus in list(0, -1, 1.5, NA, "1", rep(1, 17), numeric(), Inf)) {
    expect_error(mine_episodes(x, 1, c(0, 0.005), device = "gpu", gpus = gpus),
                 class = "synfire_error_argument")
    expect_error(count_episodes(x, episode("A"), device = "gpu", gpus = gpus),
                 class = "synfire_error_argument")
  }
  two <- c("GPU A", "GPU B")
  expect_identical(check_gpus(NULL, "gpu", two), 0L)
  expect_identical(check_gpus(c(2, 1), "auto", two), c(1L, 0L))
  expect_error(check_gpus(2^31, "gpu", character()), class = "synfire_error_argument")
  condition <- expect_error(check_gpus(c(1, 3), "gpu", two), class = "synfire_error_argument")
  expect_match(conditionMessage(condition), "It is 3", fixed = TRUE)
  expect_match(conditionMessage(condition), "1: GPU A, 2: GPU B", fixed = TRUE)
})

test_that("gpus with the CPU are refused by every function that has them", {
  x <- spike_trains(c(0.001, 0.002, 0.011, 0.012), c("A", "B", "A", "B"))
  found <- mine_episodes(x, 1, c(0, 0.005))
  series <- matrix(sin(1:60), 30)
  calls <- list(
    \() mine_episodes(x, 1, c(0, 0.005), gpus = 3),
    \() count_episodes(x, found, gpus = 1),
    \() episode_significance(found, n_surrogates = 2, gpus = 3),
    \() episode_significance(found[0, ], n_surrogates = 2, gpus = 3),
    \() pvalue_spectrum(x, 0.001, 2, n_surrogates = 2, gpus = 3),
    \() spade(x, 0.001, 2, n_surrogates = 0, gpus = 3),
    \() causal_map(series, E = 2, gpus = 3),
    \() embed_dimension(series, E_max = 2, gpus = 3)
  )
  for (call in calls) {
    condition <- expect_error(call(), class = "synfire_error_argument")
    expect_match(conditionMessage(condition), "`gpus` must be NULL with `device = \"cpu\"`",
                 fixed = TRUE)
  }
})

test_that("a damaged file of calibrations is no reason to fail, and is replaced", {
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
  file <- crossover_file()
  dir.create(dirname(file), recursive = TRUE)
  for (text in list("", "name,a", c("name,a,b", "X,1,y"), c("name,a,b", "X,NA,1"))) {
    writeLines(text, file)
    expect_identical(gpu_crossover("X"), c(0, 1))
  }
  save_crossover("X", 1, 2)
  save_crossover("Y", 3, 4)
  expect_identical(gpu_crossover("X"), c(1, 2))
  unlink(dirname(file), recursive = TRUE)
  dir.create(dirname(dirname(file)), recursive = TRUE, showWarnings = FALSE)
  writeLines("a file where the folder should be", dirname(file))
  expect_warning(save_crossover("X", 1, 2), class = "synfire_warning_calibration")
})

test_that("without a GPU every strategy says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  for (engine in strategies) {
    condition <- expect_error(
      mine_episodes(x, 1, c(0, 0.005), engine = engine, device = "gpu", gpus = 2),
      class = "synfire_error_device"
    )
    expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
  }
  expect_error(count_episodes(x, episode(c("A", "B"), 0, 0.005), device = "gpu"),
               class = "synfire_error_device")
  expect_error(calibrate_gpu(x, 2, 10, 1), class = "synfire_error_device")
  # Also where there is nothing for a GPU to do.
  nothing <- mine_episodes(x, 9, c(0, 0.005))
  for (call in list(\() count_episodes(x, episode("A"), device = "gpu"),
                    \() mine_episodes(x[0, ], 1, c(0, 0.005), device = "gpu"),
                    \() episode_significance(nothing, n_surrogates = 0, device = "gpu"),
                    \() spade(x, 0.0002, 3, n_surrogates = 0, device = "gpu"))) {
    expect_error(call(), class = "synfire_error_device")
  }
})

test_that("device = \"auto\" says what it picks and why", {
  pick <- function(engine, seconds, gpu = "GPU A", context = 0.35, reason = "") {
    said <- expect_message(
      got <- choose_automatically(engine, seconds, gpu, reason, context),
      class = "synfire_message_device"
    )
    c(got, list(said = gsub("\\s+", " ", conditionMessage(said))))
  }
  none <- pick("auto", 10, gpu = NA, reason = "none {here}")
  expect_match(none$said, "Using the CPU and the engine \"window\": there is no GPU: none {here}",
               fixed = TRUE)
  expect_match(pick("auto", 10)$said, "Using the GPU (GPU A) and the engine \"window\"",
               fixed = TRUE)
  place <- function(...) unlist(pick(...)[c("device", "engine")])
  expect_identical(place("auto", 0.1), c(device = "cpu", engine = "window"))
  expect_identical(place("auto", 10), c(device = "gpu", engine = "window"))
  expect_identical(place("two-pass", 10), c(device = "gpu", engine = "two-pass"))
  expect_identical(place("state", 10), c(device = "cpu", engine = "state"))
  expect_identical(place("mtpe", 0.1), c(device = "gpu", engine = "mtpe"))
  # Once a context is there, less work is worth a GPU.
  expect_identical(place("auto", 0.1, context = 0), c(device = "gpu", engine = "window"))
  expect_identical(place("auto", 0.001, context = 0), c(device = "cpu", engine = "window"))

  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  expect_message(found <- mine_episodes(x, 1, c(0, 0.005), device = "auto"),
                 class = "synfire_message_device")
  expect_identical(attr(found, "device"), "cpu")
  expect_identical(attr(found, "engine"), "window")
  expect_identical(attr(found, "levels")$seconds, c(NA_real_, NA_real_))
  expect_identical(as.data.frame(found), as.data.frame(mine_episodes(x, 1, c(0, 0.005))))
})

test_that("the estimate of the work grows with the work", {
  set.seed(1)
  x <- simulate_sym26(duration = 20)
  ticks <- list(low = c(0, 5000, 10000), high = c(5000, 10000, 15000))
  estimate <- function(x, min_count, max_size = Inf) {
    expected_seconds(trains_of(x), ticks, min_count, max_size, 1)
  }
  expect_gt(estimate(x, 5), 10 * estimate(x, 50))
  expect_lt(estimate(x, 50, max_size = 2), estimate(x, 50))
  expect_identical(estimate(x, 1e6), 0)
  expect_identical(estimate(x[time = c(0, 0)], 1), 0)
  # 262,000 candidates took 0.2 s on one core.
  set.seed(1)
  expect_gt(estimate(simulate_sym26(), 150), 0.02)
  expect_lt(estimate(simulate_sym26(), 150), 2)
  # Units that fire in every interval: no chain is too long.
  dense <- spike_trains(rep(1:200, 2) / 1000, rep(c("A", "B"), each = 200))
  expect_gt(estimate(dense, 10), 1e6)
})

test_that("PTPE takes over where all times together are shortest", {
  at <- function(episodes, ptpe, mtpe) crossing(episodes, log(ptpe / mtpe))
  expect_equal(at(c(10, 100, 1000), c(4, 2, 1), c(1, 2, 4)), 100)
  expect_equal(at(c(10, 1000), c(2, 1), c(1, 2)), 100)
  expect_identical(at(c(10, 100), c(1, 1), c(2, 2)), NA_real_)
  expect_identical(at(c(10, 100), c(2, 2), c(1, 1)), NA_real_)
  # A lead of 21 % is not given up for one of 2 % that comes later, and the other way round.
  expect_equal(at(10^(1:4), c(9, 1.17, 1, 1.02), c(1, 1, 1.21, 1)), 282.9, tolerance = 1e-3)
  expect_equal(at(10^(1:4), c(9, 1, 1.21, 1), c(1, 1.02, 1, 1.17)), 3534.7, tolerance = 1e-3)
  # Changing over has to be worth it: a lead of 2 % at the last of four numbers is not.
  expect_identical(at(10^(1:4), c(9, 2, 1.01, 1), c(1, 1, 1, 1.02)), NA_real_)
  expect_equal(at(10^(1:4), c(9, 2, 1.01, 1), c(1, 1, 1, 1.05)), 1476, tolerance = 1e-2)
  # The best of all thresholds, tried one by one.
  set.seed(1)
  for (i in 1:50) {
    n <- cumsum(1 + sample(9, 6))
    ptpe <- exp(stats::rnorm(6))
    mtpe <- exp(stats::rnorm(6))
    cost <- vapply(0:6, \(k) sum(log(ifelse(1:6 <= k, mtpe, ptpe))), 0)
    k <- which.min(cost) - 1L
    got <- at(n, ptpe, mtpe)
    if (min(cost[c(1, 7)]) - min(cost) < 0.06) expect_identical(got, NA_real_)
    else expect_true(got >= n[[k]] && got <= n[[k + 1L]])
  }
})

test_that("f(N) = a / N + b is fitted to all runs, weighted by how well they agree", {
  runs <- expand.grid(run = 1:3, episodes = 10^(1:4), size = c(2, 4, 8))
  share <- 0.8 / runs$size + 0.1
  runs$ptpe <- 1
  runs$mtpe <- runs$episodes / (share * 5000)
  runs$capacity <- 5000
  made <- new_calibration(runs, "GPU A")
  expect_equal(attr(made, "fit"), c(a = 0.8, b = 0.1))
  expect_equal(attr(made, "crossover")$episodes, 5000 * (0.8 / c(2, 4, 8) + 0.1))
  expect_equal(attr(made, "crossover")$crossed, c(3, 3, 3))
  expect_identical(names(made), c("size", "episodes", "ptpe", "mtpe"))
  expect_identical(nrow(made), 12L)
  expect_equal(attr(made, "cost")[["rule"]], 0)
  expect_equal(attr(made, "cost")[["ptpe"]],
               exp(mean(pmax(0, -log(made$mtpe)))) - 1)
  expect_output(print(made), "f(N) = 0.8 / N + 0.1", fixed = TRUE)
  if (rlang::is_installed("ggplot2")) expect_s3_class(ggplot2::autoplot(made), "ggplot")
  one <- new_calibration(runs[runs$size == 4, ], "GPU A")
  expect_equal(attr(one, "fit"), c(a = 0, b = 0.3))
  expect_output(print(one), "standard errors: b 0.003", fixed = TRUE)

  # Runs of one size that do not agree count for less.
  apart <- runs
  off <- apart$size == 4
  apart$mtpe[off] <- apart$mtpe[off] * c(0.5, 1, 1.2)[apart$run[off]]
  less <- new_calibration(apart, "GPU A")
  expect_gt(attr(less, "crossover")$error[[2L]], 10 * attr(less, "crossover")$error[[1L]])
  expect_equal(attr(less, "fit"), c(a = 0.8, b = 0.1), tolerance = 0.01)
  plain <- stats::lm(share ~ I(1 / size), attr(less, "crossover"))$coefficients
  expect_gt(abs(plain[[1L]] - 0.1), 5 * abs(attr(less, "fit")[["b"]] - 0.1))
  known <- attr(less, "crossover")
  weight <- 1 / (known$error^2 + (0.01 * known$share)^2)
  weighted <- stats::lm(share ~ I(1 / size), known, weights = weight)
  expect_equal(attr(less, "fit"), c(a = weighted$coefficients[[2L]],
                                    b = weighted$coefficients[[1L]]))
  expect_equal(unname(attr(less, "fit_error")),
               unname(rev(sqrt(diag(summary(weighted)$cov.unscaled)))))

  # Both forms of the papers, side by side.
  forms <- attr(less, "forms")
  expect_identical(forms$form, c("a / N + b", "a * N + b"))
  straight <- stats::lm(share ~ size, known, weights = weight)
  expect_equal(forms$a, c(weighted$coefficients[[2L]], straight$coefficients[[2L]]))
  expect_equal(forms$b, c(weighted$coefficients[[1L]], straight$coefficients[[1L]]))
  expect_equal(forms$left, 1 - c(summary(weighted)$r.squared, summary(straight)$r.squared))
  expect_lt(attr(made, "forms")$left[[1L]], 1e-12)
  expect_output(print(less), "a [*] N [+] b leaves")
  expect_true(all(is.na(attr(one, "forms")$left)))

  # A size that most runs do not see cross has no crossing.
  some <- runs
  some$mtpe[some$size == 8 & some$run < 3] <- 0.5
  some <- attr(new_calibration(some, "GPU A"), "crossover")
  expect_identical(some$crossed, c(3L, 3L, 1L))
  expect_identical(is.na(some$episodes), c(FALSE, FALSE, TRUE))
})

test_that("one strategy throughout is the rule where none is better", {
  runs <- expand.grid(run = 1:3, episodes = 10^(1:4), size = c(2, 4, 8))
  runs$ptpe <- 1
  runs$mtpe <- 0.5
  runs$capacity <- 5000
  mtpe <- new_calibration(runs, "GPU A")
  expect_identical(attr(mtpe, "fit"), c(a = 0, b = Inf))
  expect_output(print(mtpe), "no rule is better than MTPE throughout", fixed = TRUE)
  expect_output(print(mtpe), "on average: MTPE alone 0 %, PTPE alone 100 %", fixed = TRUE)
  expect_identical(is.na(attr(mtpe, "cost")), c(rule = TRUE, mtpe = FALSE, ptpe = FALSE))
  runs$mtpe <- 2
  ptpe <- new_calibration(runs, "GPU A")
  expect_identical(attr(ptpe, "fit"), c(a = 0, b = 0))
  expect_output(print(ptpe), "no rule is better than PTPE throughout", fixed = TRUE)
  # One size alone crosses: what fits it would cost the others more than it saves.
  runs$mtpe <- 0.5
  runs$mtpe[runs$size == 4 & runs$episodes > 500] <- 1.1
  one <- new_calibration(runs, "GPU A")
  expect_false(is.na(attr(one, "crossover")$episodes[[2L]]))
  expect_gt(attr(one, "cost")[["rule"]], attr(one, "cost")[["mtpe"]])
  expect_identical(attr(one, "fit"), c(a = 0, b = Inf))
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
  save_crossover("GPU A", 0, Inf)
  save_crossover("GPU B", 0.5, 0.2)
  expect_identical(gpu_crossover("GPU A"), c(0, Inf))
})

test_that("a calibration is kept for its kind of GPU", {
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
  before <- gpu_crossover("GPU A")
  save_crossover("GPU, \"B\"", 0.7, 0.2)
  expect_identical(gpu_crossover("GPU, \"B\""), c(0.7, 0.2))
  expect_identical(gpu_crossover("GPU A"), before)
  save_crossover("GPU A", 0.6, 0.1)
  save_crossover("GPU, \"B\"", 0.9, -0.1)
  expect_identical(gpu_crossover("GPU A"), c(0.6, 0.1))
  expect_identical(gpu_crossover("GPU, \"B\""), c(0.9, -0.1))
})

test_that("arguments of calibrate_gpu() are checked", {
  x <- spike_trains(c(0.001, 0.002), c("A", "B"))
  for (code in expression(
    calibrate_gpu(x, sizes = 1), calibrate_gpu(x, sizes = 65), calibrate_gpu(x, sizes = "2"),
    calibrate_gpu(x, episodes = 0), calibrate_gpu(x, repeats = 0), calibrate_gpu(x, gpu = 0),
    calibrate_gpu(x, gpu = 1:2), calibrate_gpu(x[0, ]),
    calibrate_gpu(x, save = NA), calibrate_gpu("x")
  )) {
    expect_error(eval(code), class = "synfire_error_argument", label = deparse(code))
  }
})

# ---- On a GPU ------------------------------------------------------------------------

test_that("small random streams: ties, repeats, zero bounds, bursts, trials", {
  skip_without_gpu()
  longest <- 0
  for (seed in 1:80) {
    stream <- random_stream(seed, units = 1 + seed %% 6, spikes = c(30, 100, 400)[1 + seed %% 3],
                            span = c(20, 60, 300)[1 + seed %% 3])
    min_count <- 2 + seed %% 6
    max_size <- 2 + seed %% 5
    cpu <- mined_by(stream, min_count, max_size = max_size, engine = "state", threads = 2)
    for (engine in strategies) {
      got <- mined_by(stream, min_count, max_size = max_size, engine = engine, device = "gpu")
      expect_same_episodes(got, cpu, paste("engine", engine, "on stream", seed))
    }
    bound <- mined_by(stream, min_count, max_size = max_size, engine = "two-pass", threads = 2)
    expect_identical(attr(got, "levels")$eliminated, attr(bound, "levels")$eliminated)
    longest <- max(longest, cpu$size)
  }
  expect_gte(longest, 5)
})

test_that("many short segments are stitched to the exact count", {
  skip_without_gpu()
  set.seed(3)
  stitched <- 0
  for (seed in 1:120) {
    stream <- random_stream(seed, units = 1 + seed %% 4, spikes = 300,
                            span = c(40, 150, 600)[1 + seed %% 3], trials = FALSE)
    size <- c(2, 3, 4, 6, 9, 17)[1 + seed %% 6]
    both <- counts_both_ways(stream, size, 1 + seed %% 70, segments = c(2, 7, 60)[1 + seed %% 3])
    expect_identical(both$gpu, both$cpu, label = paste("stream", seed))
    stitched <- stitched + sum(both$cpu)
  }
  expect_gt(stitched, 10000)
})

test_that("the published merge is reported where it has no answer", {
  skip_without_gpu()
  set.seed(4)
  unmatched <- 0
  for (seed in 1:30) {
    stream <- random_stream(seed, units = 3, spikes = 300, span = 200, trials = FALSE)
    both <- counts_both_ways(stream, 4, 50, segments = 10, merge = "published")
    expect_identical(both$gpu, both$cpu)
    expect_lte(both$report$unmatched, 50)
    expect_identical(both$report$miscounted, 0)
    expect_gt(both$report$published_seconds, 0)
    unmatched <- unmatched + both$report$unmatched
  }
  expect_gt(unmatched, 0)
  set.seed(1)
  x <- simulate_sym26(duration = 20)
  exact <- mine_episodes(x, 60, delays, engine = "mtpe", device = "gpu")
  both <- mine_episodes(x, 60, delays, engine = list("mtpe", merge = "published"),
                        device = "gpu")
  expect_identical(as.data.frame(both), as.data.frame(exact))
  expect_false(any(c("unmatched", "published_seconds") %in% names(attr(exact, "levels"))))
  levels <- attr(both, "levels")
  expect_true(all(levels$unmatched <= levels$candidates))
  expect_identical(levels$mtpe[-1L], levels$candidates[-1L])
  expect_true(all(levels$published_seconds[-1L] > 0 & levels$copy_seconds[-1L] > 0))
  expect_identical(attr(both, "gpus")$candidates, sum(levels$candidates[-1L]))
})

test_that("simulated and real recordings, at the sizes people mine", {
  skip_without_gpu()
  set.seed(1)
  x <- simulate_sym26()
  for (min_count in c(300, 150)) {
    cpu <- mine_episodes(x, min_count, delays)
    for (engine in strategies) {
      got <- mine_episodes(x, min_count, delays, engine = engine, device = "gpu")
      expect_same_episodes(got, cpu, paste("engine", engine, "at", min_count))
      expect_identical(attr(got, "engine"), engine)
      expect_identical(attr(got, "device"), "gpu")
      expect_true(all(attr(got, "levels")$seconds[-1L] > 0))
    }
  }
  expect_gt(sum(attr(got, "levels")$eliminated), 1000)
})

test_that("a real recording of a culture, by every strategy", {
  skip_without_gpu()
  x <- read_spikes(shared_data("episodes/tc89.csv.gz"), time_unit = "ms")
  cpu <- mine_episodes(x, 800, c(0.005, 0.015))
  for (engine in strategies) {
    got <- mine_episodes(x, 800, c(0.005, 0.015), engine = engine, device = "gpu")
    expect_same_episodes(got, cpu, paste("engine", engine))
  }
})

test_that("given episodes of all sizes are counted as on the CPU", {
  skip_without_gpu()
  set.seed(2)
  x <- simulate_sym26(duration = 20)
  some <- mine_episodes(x, 60, delays)
  some <- some[sample(nrow(some), 300), ]
  expect_gt(length(unique(some$size)), 4)
  cpu <- count_episodes(x, some, threads = 2)
  for (engine in c("auto", "ptpe", "mtpe", "hybrid")) {
    got <- count_episodes(x, some, device = "gpu", engine = engine)
    expect_identical(as.data.frame(got), as.data.frame(cpu))
  }
  silent <- spike_trains(c(0.001, 0.004), factor(c("A", "B"), c("A", "B", "C")))
  odd <- c(episode("C"), episode(c("A", "C"), 0, 0.005), episode(c("A", "B"), 0, 0.005))
  expect_identical(count_episodes(silent, odd, device = "gpu")$count, c(0L, 0L, 1L))
  empty <- spike_trains(numeric(), factor(character(), c("A", "B", "C")), 0, 1)
  expect_identical(count_episodes(empty, odd, device = "gpu")$count, c(0L, 0L, 0L))
  long <- episode(rep("A", 65), 0, 0.005)
  expect_error(count_episodes(silent, long, device = "gpu"), class = "synfire_error_too_large")
})

test_that("several GPUs give the table of one", {
  skip_without_gpu()
  devices <- nrow(synfire_sitrep(test_devices = FALSE)$devices)
  if (devices < 2L) skip("there is one GPU")
  set.seed(1)
  x <- simulate_sym26()
  for (engine in strategies) {
    one <- mine_episodes(x, 200, delays, engine = engine, device = "gpu")
    all <- mine_episodes(x, 200, delays, engine = engine, device = "gpu", gpus = seq_len(devices))
    expect_same_episodes(all, one, paste("engine", engine))
    expect_identical(attr(all, "levels")$eliminated, attr(one, "levels")$eliminated)
    last <- mine_episodes(x, 200, delays, engine = engine, device = "gpu", gpus = devices)
    expect_same_episodes(last, one, paste("engine", engine, "on the last GPU"))
  }
  expect_error(mine_episodes(x, 200, delays, device = "gpu", gpus = devices + 1),
               class = "synfire_error_argument")
})

test_that("a calibration of this GPU times both strategies", {
  skip_without_gpu()
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
  set.seed(1)
  made <- calibrate_gpu(simulate_sym26(duration = 10), sizes = 2:3, episodes = c(32, 4096),
                        repeats = 2)
  expect_identical(made$episodes, c(32, 4096, 32, 4096))
  expect_true(all(made$ptpe > 0 & made$mtpe > 0))
  expect_true(all(attr(made, "crossover")$capacity > 1000))
  expect_identical(nrow(attr(made, "runs")), 8L)
  # The rule that is saved is the one that the hybrid then goes by.
  forever <- calibrate_gpu(simulate_sym26(duration = 10), sizes = 2, episodes = c(32, 64),
                           repeats = 2, save = TRUE)
  expect_identical(attr(forever, "fit"), c(a = 0, b = Inf))
  x <- simulate_sym26(duration = 10)
  found <- mine_episodes(x, 60, delays, engine = "hybrid", device = "gpu")
  expect_identical(attr(found, "levels")$mtpe[-1L], attr(found, "levels")$candidates[-1L])
  save_crossover(attr(made, "gpu"), 0, 0)
  found <- mine_episodes(x, 60, delays, engine = "hybrid", device = "gpu")
  expect_identical(sum(attr(found, "levels")$mtpe), 0)
})

test_that("a forked child gets an error from a strategy, and the parent goes on", {
  skip_without_gpu()
  skip_on_os("windows")
  set.seed(2)
  x <- simulate_sym26(duration = 10)
  mine <- function() mine_episodes(x, 60, delays, engine = "hybrid", device = "gpu")
  before <- mine()
  job <- parallel::mcparallel(tryCatch(mine(), error = function(condition) class(condition)))
  expect_true("synfire_error_device" %in% parallel::mccollect(job)[[1L]])
  expect_identical(as.data.frame(mine()), as.data.frame(before))
})

test_that("Ctrl-C stops a strategy", {
  skip_without_gpu()
  for (engine in c("ptpe", "mtpe")) {
    expect_interrupted(substitute({
      set.seed(1)
      x <- simulate_sym26()
      delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
      mine <- function() mine_episodes(x, 60, delays, engine = ENGINE, device = "gpu")
      invisible(mine_episodes(x, 300, delays, engine = ENGINE, device = "gpu"))
      begin()
      repeat mine()
    }, list(ENGINE = engine)))
  }
})
