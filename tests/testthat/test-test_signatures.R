# Patterns of given sizes, last lags (bins) and occurrences, each of units of its own.
signature_patterns <- function(size, last, occurrences) {
  o <- order(size)
  items <- lapply(o, \(k) {
    lags <- c(rep(0, size[[k]] - 1), last[[k]])
    as.integer(lags * 40 + 5 * (k - 1) + seq_len(size[[k]]) - 1)
  })
  runs <- rle(as.integer(size[o]))
  x <- spike_trains(double(), character(), start = 0, end = 1)
  synfire:::new_itemsets(
    unlist(items), list(size = runs$values, n = as.double(runs$lengths)),
    as.integer(occurrences[o]),
    list(units = sprintf("u%02d", 1:40), window_bins = 4L, bin_size = 0.005, recording = x,
         mined = length(occurrences),
         parameters = list(min_spikes = 2, min_count = 2, max_spikes = Inf, max_count = Inf,
                           min_units = 2, closed_within = "all", shifted_subsets = "keep")),
    "patterns"
  )
}

test_that("an example of Elephant's own tests", {
  # p values 0.2 and 0.05 for 3 and 4 occurrences of two spikes: with alpha = 0.15 the second
  # is significant after Benjamini and Hochberg's correction, the first is not.
  maxima <- matrix(c(4L, 3L, 3L, 3L, rep(2L, 16)), 20)
  patterns <- signature_patterns(c(2, 2), c(0, 0), c(3, 4))
  tests <- test_signatures(patterns, made_pvalues(maxima, patterns), alpha = 0.15)
  expect_equal(tests$p, c(0.2, 0.05))
  expect_equal(tests$p_adjusted, c(0.2, 0.1))
  expect_identical(tests$significant, c(FALSE, TRUE))
})

test_that("signatures of the patterns are tested, but for those all surrogates reach", {
  # Of size 2 all reach 3, one 5; of size 3 two reach 3.
  maxima <- matrix(c(5L, 4L, 3L, 3L, 3L, 3L, 0L, 0L), 4)
  patterns <- signature_patterns(c(2, 2, 2, 3, 4), c(0, 1, 0, 0, 2), c(3, 3, 6, 3, 2))
  for (correction in synfire:::corrections) {
    tests <- test_signatures(patterns, made_pvalues(maxima, patterns), 0.6, correction)
    expect_identical(tests$size, c(2L, 2L, 3L, 4L))
    expect_identical(tests$count, c(3L, 6L, 3L, 2L))
    expect_identical(tests$patterns, c(2L, 1L, 1L, 1L))
    expect_identical(tests$reached, c(4L, 0L, 2L, 0L))
    expect_identical(tests$tested, c(FALSE, TRUE, TRUE, TRUE))
    expect_identical(attr(tests, "tests"), 3L)
    adjusted <- synfire:::adjust_p(c(0, 0.5, 0), correction, 0.6)
    expect_identical(tests$p_adjusted, c(NA, adjusted))
    expect_identical(tests$significant, c(FALSE, adjusted <= 0.6))
  }
  plus <- test_signatures(patterns, made_pvalues(maxima, patterns, "(k+1)/(n+1)"))
  expect_equal(plus$p, c(1, 1 / 5, 3 / 5, 1 / 5))
  expect_identical(plus$tested, tests$tested)
  expect_false(any(plus$significant))
})

test_that("durations are tested one by one", {
  maxima <- array(0L, c(3, 1, 4))
  maxima[, 1, 2] <- c(5L, 3L, 2L)
  patterns <- signature_patterns(c(2, 2, 2), c(1, 2, 1), c(4, 4, 2))
  tests <- test_signatures(patterns, made_pvalues(maxima, patterns), 0.4, "none")
  expect_equal(tests$duration, c(0.005, 0.005, 0.010))
  expect_identical(tests$count, c(2L, 4L, 4L))
  expect_identical(tests$reached, c(3L, 1L, 0L))
  expect_identical(tests$significant, c(FALSE, TRUE, TRUE))
  expect_identical(format(significant_patterns(patterns, tests)), format(patterns[1:2]))
})

test_that("the front divides all signatures as their p values do", {
  withr::local_seed(8)
  for (case in cases(60)) {
    by_duration <- case %% 2 == 0
    n <- sample(c(3, 9, 40), 1)
    dims <- c(n, sample(1:3, 1), if (by_duration) 4)
    maxima <- array(rpois(prod(dims), 4), dims)
    storage.mode(maxima) <- "integer"
    m <- sample(8, 1)
    patterns <- signature_patterns(sample(2:5, m, TRUE), sample(1:3, m, TRUE),
                                   sample(2:12, m, TRUE))
    estimator <- sample(c("k/n", "(k+1)/(n+1)"), 1)
    pvalues <- made_pvalues(maxima, patterns, estimator)
    tests <- test_signatures(patterns, pvalues, 0.2, sample(synfire:::corrections, 1))
    level <- attr(tests, "level") * (1 + 1e-9)
    # Those tested lie on the side on which they were found to be.
    expect_identical(tests$tested & tests$p <= level, tests$significant)
    all <- expand.grid(size = 2:6, duration = if (by_duration) 0:3 else 0, count = 2:13)
    duration <- if (by_duration) all$duration
    reached <- oracle_reached(maxima, 2, all$size, all$count, duration)
    p <- if (estimator == "k/n") reached / n else (reached + 1) / (n + 1)
    front <- synfire:::significance_front(tests, all$size, duration)
    expect_identical(all$count >= front, p <= level)
    # What the reduction is told are those that some surrogate reaches and are not.
    listed <- synfire:::non_significant(tests)
    told <- paste(listed$size, round(listed$duration / 0.005), listed$count)
    name <- paste(all$size, if (by_duration) all$duration else "", all$count)
    if (!by_duration) told <- paste(listed$size, "", listed$count)
    expect_setequal(intersect(told, name), name[reached > 0 & p > level])
  }
})

test_that("patterns without a significant signature, and none at all", {
  patterns <- signature_patterns(c(2, 3), c(0, 1), c(3, 4))
  pvalues <- made_pvalues(matrix(c(4L, 4L), 2), patterns)
  tests <- test_signatures(patterns, pvalues)
  # Of size 3 none is reached: significant. Of size 2 every surrogate has one.
  expect_identical(format(significant_patterns(patterns, tests)), format(patterns[2]))
  none <- structure(patterns[0], mined = 0L)
  tests <- test_signatures(none, pvalues)
  expect_identical(nrow(tests), 0L)
  expect_identical(attr(tests, "tests"), 0L)
  expect_length(significant_patterns(none, tests), 0)
  expect_output(print(tests), "# 0 of 0 signatures significant", fixed = TRUE)
})

test_that("p values print, and never as 0", {
  patterns <- signature_patterns(c(2, 2, 3), c(0, 0, 1), c(2, 3, 4))
  # Of size 2 all surrogates reach 2, one of 24 reaches 3.
  pvalues <- made_pvalues(matrix(c(3L, rep(2L, 23)), 24), patterns)
  tests <- test_signatures(patterns, pvalues, correction = "bonferroni")
  shown <- synfire:::tests_shown(tests)
  expect_identical(shown$p, c("1", "0.042", "< 0.04"))
  expect_identical(shown$p_adjusted, c("-", "0.083", "< 0.08"))
  expect_output(print(tests), "# 1 of 3 signatures significant, 2 tested, alpha 0.05 (bonferroni)",
                fixed = TRUE)
  expect_identical(tests[2, "reached"], 1L)
  expect_s3_class(as.data.frame(tests), "data.frame", exact = TRUE)
})

test_that("arguments are checked, and that both are of one search", {
  patterns <- signature_patterns(2, 0, 3)
  pvalues <- made_pvalues(matrix(3L, 4), patterns)
  bad <- function(code, message) expect_error(code, message, class = "synfire_error_argument")
  bad(test_signatures(1, pvalues), "patterns")
  bad(test_signatures(patterns, as.data.frame(pvalues)), "pvalue_spectrum")
  bad(test_signatures(patterns), "missing")
  for (alpha in list(0, 1, -0.1, NA, c(0.1, 0.2), "a")) {
    bad(test_signatures(patterns, pvalues, alpha), "above 0 and below 1")
  }
  bad(test_signatures(patterns, pvalues, correction = "fdr"), "correction")
  bad(significant_patterns(patterns, pvalues), "test_signatures")
  other <- pvalues
  attr(other, "window_bins") <- 5L
  bad(test_signatures(patterns, other), "window_bins` = 5, and `patterns` are of 4")
  other <- pvalues
  attr(other, "parameters")$min_count <- 3
  bad(test_signatures(patterns, other), "min_count")
  # Of parts of larger patterns there are more than in surrogates.
  attr(patterns, "parameters")[c("max_spikes", "closed_within")] <- list(3, "max_spikes")
  attr(pvalues, "parameters")$max_spikes <- 3
  bad(test_signatures(patterns, pvalues), "closed_within")
})

test_that("patterns that are not all that were found are not tested", {
  withr::local_seed(2)
  x <- plain_recording(units = 5, rate = 8)
  found <- mine_patterns(x, 0.005, 5, min_count = 3, threads = 1)
  pvalues <- pvalue_spectrum(x, 0.005, 5, min_spikes = 2, min_count = 3, n_surrogates = 9,
                             threads = 1)
  n <- length(found)
  bad <- function(patterns, message) {
    expect_error(test_signatures(patterns, pvalues), message, class = "synfire_error_argument")
  }
  bad(found[1:5], sprintf("It is 5, of %d", n))
  bad(head(found, 3), "all that `mine_patterns")
  bad(subset(found, size > 2), "all that `mine_patterns")
  bad(found[c(1, seq_len(n - 1))], "come twice")
  bad(c(found, found), "of")
  # In another order, in parts that are put together again, or saved, they are all.
  all <- as.data.frame(test_signatures(found, pvalues))
  for (same in list(sort(found), found[n:1], c(found[1:5], found[6:n]),
                    unserialize(serialize(found, NULL)))) {
    expect_identical(as.data.frame(test_signatures(same, pvalues)), all)
  }
  # Of another recording.
  other <- mine_patterns(plain_recording(3, units = 5, rate = 20), 0.005, 5, min_count = 3,
                         threads = 1)
  expect_error(significant_patterns(other, test_signatures(found, pvalues)),
               "without the signature of some", class = "synfire_error_argument")
})

test_that("tables that were changed by hand are refused", {
  patterns <- signature_patterns(c(2, 3), c(0, 1), c(3, 4))
  pvalues <- made_pvalues(matrix(c(4L, 3L), 2), patterns)
  tests <- test_signatures(patterns, pvalues)
  without <- function(x, name) {
    attr(x, name) <- NULL
    x
  }
  bad <- function(code, arg) {
    expect_error(code, sprintf("`%s`.*changed, or is damaged", arg),
                 class = "synfire_error_argument")
  }
  for (name in c("maxima", "spectrum", "n_surrogates", "p_estimator", "parameters", "bin_size",
                 "window_bins")) {
    bad(test_signatures(patterns, without(pvalues, name)), "pvalues")
  }
  for (column in c("size", "count", "reached", "p")) {
    bad(test_signatures(patterns, changed_by_other_code(pvalues, column, NULL)), "pvalues")
  }
  changed <- pvalues
  attr(changed, "maxima") <- attr(changed, "maxima")[1, , drop = FALSE]
  bad(test_signatures(patterns, changed), "pvalues")
  for (name in c("pvalues", "level", "alpha", "correction", "tests", "spectrum")) {
    bad(significant_patterns(patterns, without(tests, name)), "tests")
    bad(reduce_patterns(patterns, without(tests, name)), "non_significant")
  }
  bad(significant_patterns(patterns, changed_by_other_code(tests, "significant", NULL)),
      "tests")
  bad(significant_patterns(patterns, structure(list(), class = "signature_tests")), "tests")
})

test_that("Elephant's names of corrections are answered with ours", {
  patterns <- signature_patterns(2, 0, 3)
  pvalues <- made_pvalues(matrix(3L, 4), patterns)
  for (name in names(synfire:::elephant_corrections)) {
    expect_error(test_signatures(patterns, pvalues, correction = name),
                 sprintf("`correction` must be \"%s\"", synfire:::elephant_corrections[[name]]),
                 class = "synfire_error_argument")
  }
})

test_that("p values of another recording are noticed, and of the same one are not", {
  x <- plain_recording(4, units = 5, rate = 20)
  mine <- \(x) mine_patterns(x, 0.005, 5, 2, 3, threads = 1)
  chance <- \(x) {
    withr::with_seed(1, pvalue_spectrum(x, 0.005, 5, 2, 3, n_surrogates = 5, threads = 1))
  }
  found <- mine(x)
  pvalues <- chance(x)
  renamed <- spike_trains(x$time, factor(x$unit, labels = paste0("n", 1:5)), attr(x, "start"),
                          attr(x, "end"))
  # Recordings that are the same: made once more, saved, with other names of units.
  for (same in list(pvalues, chance(renamed), unserialize(serialize(pvalues, NULL)))) {
    expect_no_warning(tests <- test_signatures(found, same))
    expect_no_warning(significant_patterns(found, tests))
    expect_no_warning(reduce_patterns(found, tests))
  }
  # One that is not: of other spikes, part of it, later, or on other trials.
  part <- x[time = c(attr(x, "start"), mean(c(attr(x, "start"), attr(x, "end"))))]
  later <- spike_trains(x$time + 1, x$unit, attr(x, "start") + 1, attr(x, "end") + 1)
  for (other in list(plain_recording(5, units = 5, rate = 20), part, later)) {
    warning <- rlang::catch_cnd(test_signatures(found, chance(other)), "warning")
    expect_s3_class(warning, "synfire_warning_recording")
    expect_match(conditionMessage(warning), "`pvalues` and `patterns` are of different recordings")
  }
  # Both are told apart by what is different; the answer is there all the same.
  expect_warning(tests <- test_signatures(found, chance(part)),
                 "has 1,015 spikes of 5 units from 0 to 10 s; .* has 2,014 spikes")
  expect_s3_class(tests, "signature_tests")
  # What was tested against it is noticed once: the tests are of these patterns.
  expect_no_warning(significant_patterns(found, tests))
  # Tests of the patterns of another recording.
  tests <- test_signatures(found, pvalues)
  attr(found, "recording") <- later
  expect_warning(significant_patterns(found, tests), "`tests` and `patterns`",
                 class = "synfire_warning_recording")
  # What is not known is not compared: results of earlier versions have no fingerprint.
  attr(pvalues, "fingerprint") <- NULL
  expect_no_warning(test_signatures(found, pvalues))
  attr(pvalues, "fingerprint") <- "none"
  expect_error(test_signatures(found, pvalues), "changed, or is damaged",
               class = "synfire_error_argument")
})
