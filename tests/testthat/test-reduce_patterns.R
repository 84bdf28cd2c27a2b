# Patterns of a random raster, some of the many there may be, some of them twice, and
# arguments of reduce_patterns().
random_reduction <- function(seed) {
  raster <- random_raster(seed)
  found <- mine_raster(raster, threads = 1)
  withr::local_seed(seed)
  n <- length(found)
  some <- sample(n, min(n, 40L))
  if (n > 0L && seed %% 10L == 0L) some <- c(some, some[[1L]])
  found <- found[some]
  small <- \(most) sample(0:most, 1L)
  list(
    patterns = found, non_significant = random_signatures(found, seed),
    method = sample(c("combined", "combined", "subset", "superset", "covered_spikes"), 1L),
    h = small(4), k = small(2), l = small(4), min_spikes = 1 + small(1), min_count = 1 + small(4)
  )
}

# Signatures that may be asked about, of a duration or of any.
random_signatures <- function(found, seed) {
  if (seed %% 4L == 0L || length(found) == 0L) return(NULL)
  bin <- attr(found, "bin_size")
  all <- expand.grid(size = seq_len(max(found$size) + 3L),
                     count = seq_len(max(found$count) + 4L),
                     duration = seq(0, attr(found, "window_bins") - 1) * bin)
  if (seed %% 2L == 0L) all <- unique(all[c("size", "count")])
  all[sample(nrow(all), ceiling(runif(1)^2 / 2 * nrow(all))), ]
}

test_that("what is kept is what comparing all pairs keeps", {
  skip_on_cran()
  rejected <- partly <- 0
  for (seed in cases(300)) {
    given <- random_reduction(seed)
    kept <- do.call(reduce_patterns, given)
    expected <- with(given, oracle_reduce(patterns, non_significant, method, h, k, l,
                                          min_spikes, min_count))
    expect_identical(format(kept), format(given$patterns)[expected], info = seed)
    expect_identical(kept$count, given$patterns$count[expected], info = seed)
    rejected <- rejected + sum(!expected)
    partly <- partly + (any(expected) && !all(expected))
  }
  # The cases are worth something.
  expect_gt(rejected, 160)
  expect_gt(partly, 16)
})

test_that("the combined filter keeps what Elephant 1.2.1 kept", {
  # Numbers of the patterns it kept, in the order in which ties are settled here; that is
  # how it was given them.
  kept <- list(
    `42` = c(1, 6:9), `75` = c(6, 8:10), `76` = c(1:3, 7:11, 13),
    `77` = c(3, 6, 7, 9, 11, 15, 17, 19, 20, 25, 28, 29, 31, 33), `190` = c(5:13, 37, 39, 40),
    `318` = 1:11, `365` = c(11:16, 19, 23:26, 28, 29)
  )
  for (seed in names(kept)) {
    given <- random_reduction(as.numeric(seed))
    given$method <- "combined"
    given$patterns <- in_oracle_order(unique(given$patterns))
    ours <- do.call(reduce_patterns, given)
    expect_identical(format(ours), format(given$patterns)[kept[[seed]]], info = seed)
  }
})

test_that("the combined filter keeps what Elephant keeps in 200 random sets", {
  skip_if_not(nzchar(Sys.getenv("SYNFIRE_PEERS")), "SYNFIRE_PEERS names no Python")
  sets <- lapply(1:400, \(seed) {
    given <- random_reduction(seed)
    given$method <- "combined"
    given$patterns <- in_oracle_order(unique(given$patterns))
    given
  })
  sets <- sets[vapply(sets, \(set) length(set$patterns), 0) > 1][1:200]
  theirs <- elephant_reductions(sets)
  expect_length(theirs, 200)
  for (k in seq_along(sets)) {
    ours <- do.call(reduce_patterns, sets[[k]])
    expect_identical(format(ours), format(sets[[k]]$patterns)[theirs[[k]]], info = k)
  }
})

test_that("Elephant's own test: a pattern is left of it, a part and a rare extension", {
  onset <- seq(2000, by = 66, length.out = 15) / 1000
  lags <- c(0, 1, 2, 4, 5, 7) / 1000
  x <- spike_trains(c(outer(onset, lags, `+`), onset[1:3] + 0.007), rep(1:7, c(rep(15, 6), 3)),
                    start = 0, end = 3)
  found <- mine_patterns(x, 0.001, 10, min_spikes = 2, min_count = 2, min_units = 1, threads = 1)
  expect_gt(length(found), 1)
  left <- reduce_patterns(found)
  expect_identical(format(left), "1@0 2@1 3@2 4@4 5@5 6@7")
  expect_identical(left$count, 15L)
})

test_that("neither the order of patterns nor what was rejected before matters", {
  for (seed in c(65, 113, 129, 365)) {
    given <- random_reduction(seed)
    kept <- do.call(reduce_patterns, given)
    expect_identical(format(do.call(reduce_patterns, given)), format(kept))
    o <- withr::with_seed(seed, sample(length(given$patterns)))
    given$patterns <- given$patterns[o]
    expect_setequal(format(do.call(reduce_patterns, given)), format(kept))
  }
})

test_that("h and k let patterns stay", {
  found <- mine_raster(random_raster(65), threads = 1)
  expect_lt(length(reduce_patterns(found)), length(found))
  expect_identical(format(reduce_patterns(found, h = 1000, k = 1000)), format(found))
})

test_that("no patterns are an answer", {
  set.seed(1)
  x <- spike_trains(runif(50), rep(1:5, 10), start = 0, end = 1)
  none <- mine_patterns(x, 0.001, 5, min_spikes = 5, min_count = 9, threads = 1)
  expect_identical(length(reduce_patterns(none)), 0L)
  expect_s3_class(reduce_patterns(none), "patterns")
})

test_that("signatures of another search, or not only those not significant, are refused", {
  x <- plain_recording(duration = 5)
  mined <- \(window) mine_patterns(x, 0.005, window, 3, 3, threads = 1)
  pvalues <- pvalue_spectrum(x, 0.005, 5, min_count = 3, n_surrogates = 5, threads = 1)
  tests <- test_signatures(mined(5), pvalues)
  refused <- \(x, y, must) expect_error(reduce_patterns(x, y), must,
                                        class = "synfire_error_argument")
  expect_s3_class(reduce_patterns(mined(5), tests), "patterns")
  refused(mined(6), tests, "of the same bins, windows and filters")
  refused(mined(5), pvalues, "what `pvalue_spectrum\\(\\)` gives")
  refused(mined(5), pattern_spectrum(mined(5)), "what `pattern_spectrum\\(\\)` gives")
})

test_that("what cannot be used is refused", {
  found <- mine_raster(random_raster(65), threads = 1)
  refused <- \(...) expect_error(reduce_patterns(...), class = "synfire_error_argument")
  refused(1:3)
  refused()
  refused(found, method = "psr")
  refused(found, h = -1)
  refused(found, min_count = 0)
  refused(found, non_significant = c(3, 4))
  refused(found, non_significant = data.frame(size = 3))
  refused(found, non_significant = data.frame(size = 3.5, count = 2))
  refused(found, non_significant = data.frame(size = 3, count = 2, duration = 1e-5))
  refused(found, non_significant = data.frame(size = 3, count = 2, duration = "1"))
  attr(found, "recording") <- data.frame(time = 1)
  expect_error(reduce_patterns(found), "`attr(patterns, \"recording\")` must be", fixed = TRUE,
               class = "synfire_error_argument")
  attr(found, "recording") <- NULL
  refused(found)
})

# All pairs of `units` units that fire together `n` times: little to find, much to list.
crowded_pairs <- function(units = 16, n = 50000) {
  times <- seq_len(n) / 100
  x <- spike_trains(rep(times, each = units), rep(sprintf("u%02d", seq_len(units)), n),
                    start = 0, end = (n + 1) / 100)
  pairs <- utils::combn(units, 2) - 1L
  synfire:::new_itemsets(
    as.vector(pairs), list(size = 2L, n = as.double(ncol(pairs))),
    rep(as.integer(n), ncol(pairs)),
    list(units = levels(x$unit), window_bins = 1L, bin_size = 0.01, recording = x,
         parameters = list(min_spikes = 2, min_count = n - 10, max_spikes = Inf, max_count = Inf,
                           min_units = 2, closed_within = "all", shifted_subsets = "keep")),
    "patterns"
  )
}

test_that("what needs more than `max_memory` is refused", {
  crowded <- crowded_pairs()
  for (work in list(\(m) reduce_patterns(crowded, max_memory = m),
                    \(m) pattern_stability(crowded, n_subsets = 1, threads = 1, max_memory = m))) {
    # The windows of all pairs alone are 6 million, of four bytes each.
    refused <- rlang::catch_cnd(work(4e7), "synfire_error_budget")
    expect_match(conditionMessage(refused), "memory budget is too small for .*these patterns")
    expect_match(conditionMessage(refused), "`max_memory` is 40 MB")
    expect_no_error(work(4e8))
    expect_error(work(10), "`max_memory`", class = "synfire_error_argument")
  }
})

test_that("reduction and stability hold no more than `max_memory`", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  lines <- start_child(rlang::expr({
    memory <- \(what) as.numeric(gsub("[^0-9]", "", grep(what, readLines("/proc/self/status"),
                                                         value = TRUE))) * 1024
    crowded_pairs <- !!crowded_pairs
    crowded <- crowded_pairs()
    few <- crowded[1:2]
    reduce_patterns(few)
    gc()
    before <- memory("VmHWM")
    tryCatch(reduce_patterns(crowded, max_memory = 4e7), synfire_error_budget = \(e) {
      log("reduction", memory("VmHWM") - before)
    })
    tryCatch(pattern_stability(crowded, n_subsets = 1, threads = 1, max_memory = 4e7),
             synfire_error_budget = \(e) log("stability", memory("VmHWM") - before))
  }))
  more <- as.numeric(c(await_line(lines, "reduction", 60), await_line(lines, "stability", 60)))
  expect_length(more, 2L)
  # R itself waits for 64 MB before it gives back what is no longer used; without a limit
  # it would be 150 MB.
  expect_lt(max(more), 4e7 + 2^25)
})
