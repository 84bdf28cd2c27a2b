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
    h = small(4), k = small(2), l = small(4), min_spikes = 1 + small(1), min_occ = 1 + small(4)
  )
}

# Signatures that may be asked about, of a duration or of any.
random_signatures <- function(found, seed) {
  if (seed %% 4L == 0L || length(found) == 0L) return(NULL)
  bin <- attr(found, "bin_size")
  all <- expand.grid(size = seq_len(max(found$size) + 3L),
                     occurrences = seq_len(max(found$occurrences) + 4L),
                     duration = seq(0, attr(found, "window") - 1) * bin)
  if (seed %% 2L == 0L) all <- unique(all[c("size", "occurrences")])
  all[sample(nrow(all), ceiling(runif(1)^2 / 2 * nrow(all))), ]
}

test_that("what is kept is what comparing all pairs keeps", {
  rejected <- partly <- 0
  for (seed in 1:300) {
    given <- random_reduction(seed)
    kept <- do.call(reduce_patterns, given)
    expected <- with(given, oracle_reduce(patterns, non_significant, method, h, k, l,
                                          min_spikes, min_occ))
    expect_identical(format(kept), format(given$patterns)[expected], info = seed)
    expect_identical(kept$occurrences, given$patterns$occurrences[expected], info = seed)
    rejected <- rejected + sum(!expected)
    partly <- partly + (any(expected) && !all(expected))
  }
  # The cases are worth something.
  expect_gt(rejected, 1000)
  expect_gt(partly, 50)
})
