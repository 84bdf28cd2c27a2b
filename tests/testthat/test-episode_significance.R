test_that("counts in surrogates are those of counting each surrogate", {
  for (seed in cases(40)) {
    stream <- random_stream(seed, spikes = 80, span = 120)
    if (!any(!is.na(stream$trial))) next
    withr::local_seed(seed)
    episodes <- random_episodes(stream, 12)
    method <- c("dither", "isi_shuffle", "randomise", "train_shift")[[seed %% 4 + 1]]
    dither <- min(0.005, max(0.001, shortest_trial(stream$x)))
    if (shortest_trial(stream$x) < 0.001) next
    set.seed(seed)
    expected <- oracle_null(stream$x, episodes, 4, method, dither = dither)
    set.seed(seed)
    expect_identical(null_counts(stream$x, episodes, 4, method, dither = dither), expected)
  }
})

test_that("few episodes behind wide windows are counted alike", {
  for (seed in 1:6) {
    withr::local_seed(seed)
    x <- spike_trains(sample(0:200, 600, replace = TRUE) / 1000,
                      sample(c("A", "B", "C"), 600, replace = TRUE), start = 0, end = 0.2,
                      resolution = 1e-3)
    episodes <- c(episode(c("A", "B"), 0.001, 0.08), episode(c("A", "B", "C"), 0.001, 0.08),
                  episode(c("C", "C", "A", "B"), c(0, 0.02, 0.001), c(0.001, 0.1, 0.08)))
    set.seed(seed)
    expected <- oracle_null(x, episodes, 5, "dither", dither = 0.02)
    set.seed(seed)
    expect_identical(null_counts(x, episodes, 5, "dither", dither = 0.02), expected)
  }
})

test_that("threads, and the surrogate counting begins with, change nothing", {
  set.seed(1)
  x <- simulate_sym26(duration = 5)
  found <- mine_episodes(x, 30, c(0, 0.010), threads = 2)
  set.seed(2)
  one <- null_counts(x, found, 20)
  set.seed(2)
  expect_identical(null_counts(x, found, 20, threads = 2), one)
  set.seed(2)
  expect_identical(null_counts(x, found, 5, first = 15), one[, 16:20])
})

test_that("the summary is the plain one", {
  withr::local_seed(3)
  counts <- matrix(rpois(40 * 99, rep(c(0.01, 0.5, 20, 700), 10)), 40)
  storage.mode(counts) <- "integer"
  counts[1, ] <- 0L
  counts[2, ] <- 70000L
  count <- as.integer(rpois(40, rep(c(0, 1, 25, 700), 10)))
  size <- rep(c(2L, 3L, 5L, 2L), 10)
  probs <- c(0, 0.025, 0.5, 0.975, 1)
  found <- .Call(r_null_summary, counts, count, size, probs, 2L)
  expect_equal(found$mean, rowMeans(counts))
  expect_equal(found$sd, apply(counts, 1, sd))
  expect_identical(found$reached, as.integer(rowSums(counts >= count)))
  expect_equal(found$quantile, t(apply(counts, 1, quantile, probs, type = 1, names = FALSE)))
  score <- oracle_score(count, counts)
  expect_equal(found$score, unname(score[, 100]))
  expect_identical(dim(found$maximum), c(5L, 99L))
  expect_equal(found$maximum[2, ], unname(apply(score[size == 2, 1:99], 2, max)))
  expect_equal(found$maximum[5, ], unname(apply(score[size == 5, 1:99], 2, max)))
  expect_true(all(found$maximum[c(1, 4), ] == -Inf))
})

test_that("p values, and those adjusted by the maximum, are the plain ones", {
  set.seed(4)
  x <- simulate_sym26(duration = 4)
  # Counted again, episodes are no longer those that were chosen by their counts.
  found <- count_episodes(x, mine_episodes(x, 20, c(0, 0.010), threads = 2, max_size = 3))
  set.seed(5)
  counts <- oracle_null(x, found, 39, "joint_isi", dither = 0.03)
  for (plus_one in c(TRUE, FALSE)) {
    set.seed(5)
    tested <- episode_significance(found, n_surrogates = 39, threads = 2,
                                   p_estimator = if (plus_one) "(k+1)/(n+1)" else "k/n")
    several <- found$size > 1
    reached <- rowSums(counts >= found$count)
    p <- if (plus_one) (reached + 1) / 40 else reached / 39
    expect_equal(tested$p, ifelse(several, p, NA))
    expect_equal(tested$mean, rowMeans(counts))
    expect_equal(tested$excess, found$count - rowMeans(counts))
    adjusted <- oracle_max_p(found$count, counts, found$size, plus_one)
    expect_equal(tested$p_adjusted, ifelse(several, adjusted, NA))
    expect_identical(tested$significant, several & adjusted <= 0.05 + 1e-9)
  }
  set.seed(5)
  holm <- episode_significance(found, n_surrogates = 39, threads = 2, correction = "holm")
  expect_equal(holm$p_adjusted[several], p.adjust(holm$p[several], "holm"))
})

test_that("episodes taken in parts give the same", {
  set.seed(6)
  x <- simulate_sym26(duration = 2)
  found <- count_episodes(x, mine_episodes(x, 10, c(0, 0.010), threads = 2))
  n <- ceiling(1.5 * 1e7 / 2 / (4 * nrow(found)))
  set.seed(7)
  whole <- episode_significance(found, n_surrogates = n, threads = 2)
  set.seed(7)
  parts <- episode_significance(found, n_surrogates = n, threads = 1, max_memory = 1e7)
  expect_equal(as.data.frame(parts), as.data.frame(whole))
  expect_equal(attr(parts, "maxima"), attr(whole, "maxima"))
})

test_that("planted links stand out, and the network has no others", {
  set.seed(8)
  x <- simulate_sym26(duration = 20)
  found <- mine_episodes(x, 60, cbind(c(0, 0.005, 0.010), c(0.005, 0.010, 0.015)),
                         threads = 2)
  tested <- episode_significance(found, n_surrogates = 199, threads = 2)
  links <- attr(x, "truth")$links
  planted <- sprintf("%s -(%s,%s]-> %s", links$from, exact(links$low), exact(links$high),
                     links$to)
  pairs <- tested[tested$size == 2, ]
  expect_true(all(planted %in% pairs$episode[pairs$significant]))
  chained <- c(LETTERS[1:3], LETTERS[6:17])
  stray <- vapply(pairs$units, \(u) !all(u %in% chained), NA)
  expect_lte(sum(pairs$significant & stray), 1)
  drawn <- without_steps(episode_steps(significant_episodes(tested)),
                         insignificant_pairs(tested))
  own <- do.call(paste, drawn[c("from", "to", "low", "high")])
  kept <- episode_steps(significant_episodes(pairs))
  expect_setequal(own, do.call(paste, kept[c("from", "to", "low", "high")]))
  expect_lt(length(own), nrow(episode_steps(significant_episodes(tested))))
})

test_that("units that are independent have few significant episodes", {
  hits <- vapply(1:20, \(seed) {
    set.seed(seed)
    n <- rpois(8, 200)
    x <- spike_trains(runif(sum(n), 0, 10), rep(LETTERS[1:8], n), start = 0, end = 10)
    found <- mine_episodes(x, 1, c(0, 0.005), threads = 2, max_size = 2)
    any(episode_significance(found, n_surrogates = 39, threads = 2)$significant)
  }, NA)
  # 5 % of 20 on average; 5 or more in 0.3 % of all cases.
  expect_lte(sum(hits), 4)
})

test_that("what is empty stays empty", {
  x <- spike_trains(c(0.1, 0.2, 0.3), c("A", "B", "A"), start = 0, end = 1)
  none <- mine_episodes(x, 3, c(0, 0.005))
  tested <- episode_significance(none, n_surrogates = 10)
  expect_identical(nrow(tested), 0L)
  expect_output(print(summary(tested)), "There is no episode")

  one <- mine_episodes(x, 1, c(0, 0.2))
  tested <- episode_significance(one, n_surrogates = 0)
  expect_true(all(is.na(tested$p)) && !any(tested$significant))
  expect_output(print(summary(tested)), "No surrogate was made")

  single <- one[one$size == 1, ]
  tested <- episode_significance(single, n_surrogates = 10)
  expect_true(all(is.na(tested$p)))
  expect_identical(tested$count, single$count)
  expect_output(print(summary(tested)), "Single units are not tested")

  alone <- spike_trains(c(0.1, 0.102, 0.3), "A", start = 0, end = 1)
  tested <- episode_significance(mine_episodes(alone, 1, c(0, 0.005), distinct_units = FALSE),
                               n_surrogates = 19)
  expect_identical(sum(!is.na(tested$p)), 1L)
})

test_that("wrong arguments are named", {
  x <- spike_trains(c(0.1, 0.2, 0.3), c("A", "B", "A"), start = 0, end = 1)
  found <- mine_episodes(x, 1, c(0, 0.2))
  refused <- \(..., must = NULL) {
    expect_error(episode_significance(...), must, class = "synfire_error_argument")
  }
  refused(1)
  refused(episode(c("A", "B"), 0, 0.1))
  refused(episode(c("A", "Z"), 0, 0.1), x)
  refused(found, n_surrogates = -1)
  refused(found, alpha = 1)
  refused(found, correction = "best")
  refused(found, p_estimator = "k")
  refused(found, surrogate = "bootstrap", must = "`surrogate` must be")
  refused(found, refract = 0.003, must = "It is `refract`")
  refused(found, x, 9, "dither_refractory", 0.015, 0.003, must = "without a name")
  refused(found, dither = 2)
  refused(found, device = "tpu")
  refused(found, spike_trains(double(), character(), start = 0, end = 1))
  refused(found, max_memory = 1)
})

test_that("a recording beyond the budget is refused", {
  x <- spike_trains(seq_len(2e5) / 1000, rep_len(c("F", "G"), 2e5))
  pair <- episode(c("F", "G"), 0, 0.005)
  expect_error(episode_significance(pair, x, 1, max_memory = 1e7),
               class = "synfire_error_budget")
})

test_that("tables are printed, said in words and cut", {
  set.seed(9)
  x <- simulate_sym26(duration = 5)
  found <- mine_episodes(x, 30, c(0, 0.005), threads = 2)
  tested <- episode_significance(found, n_surrogates = 99, threads = 2, p_estimator = "k/n")
  shown <- capture.output(print(tested))
  expect_match(shown[[1]], "tested against 99 surrogates (joint_isi, dither = 0.015, sigma = 0.001)",
               fixed = TRUE)
  expect_true(any(grepl("< 0.01 \\*", shown)))
  expect_false(any(grepl(" 0 \\*| 0.000 ", shown)))
  words <- summary(tested)
  expect_match(words$words[[1]], "stand out from chance")
  expect_match(words$words[[2]], "in surrogates .* on average")
  expect_identical(sum(words$by_size$significant), as.double(sum(tested$significant)))
  few <- summary(episode_significance(found, n_surrogates = 9, threads = 2))
  expect_match(few$warning, "9 surrogates give no p value below 0.1.*19 surrogates")
  expect_identical(sum(few$by_size$significant), 0)
  expect_match(few$words[[1]], "No episode stands out")

  cut <- tested[tested$significant, ]
  expect_s3_class(cut, "episode_significance")
  expect_identical(attr(cut, "n_surrogates"), 99)
  expect_identical(row.names(cut), as.character(seq_len(nrow(cut))))
  expect_false(inherits(tested[c("episode", "p")], "episode_significance"))
  expect_identical(class(as.data.frame(tested)), "data.frame")
})

test_that("what a p value of 0 is less than is adjusted, too", {
  x <- withr::with_seed(1, simulate_sym26(duration = 5))
  found <- mine_episodes(x, 50, c(0, 0.005), threads = 2)
  with_zeros <- \(correction) withr::with_seed(2, {
    episode_significance(found, n_surrogates = 19, correction = correction,
                         p_estimator = "k/n", threads = 2)
  })
  tested <- with_zeros("bonferroni")
  zero <- tested$p %in% 0
  expect_true(any(zero))
  m <- sum(!is.na(tested$p))
  expect_equal(attr(tested, "below"), min(1, m / 20))
  expect_match(summary(tested)$words[[2]], paste0("\\(p < ", short_p(min(1, m / 20)), "\\)"))
  expect_match(summary(tested)$warning,
               sprintf("%d are significant with a p value of 0.*use more", sum(zero)))
  expect_equal(attr(with_zeros("max"), "below"), 1 / 20)
  expect_null(summary(with_zeros("max"))$warning)
})

test_that("the pictures show what was tested", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("igraph")
  set.seed(9)
  x <- simulate_sym26(duration = 5)
  found <- mine_episodes(x, 30, c(0, 0.005), threads = 2)
  tested <- episode_significance(found, n_surrogates = 99, threads = 2)
  counts <- ggplot2::ggplot_build(ggplot2::autoplot(tested, episodes = 7))
  points <- counts$data[[4]]
  best <- order(-tested$excess, tested$episode)
  best <- best[tested$size[best] > 1][1:7]
  expect_identical(as.integer(points$x), tested$count[best])
  expect_identical(counts$data[[2]]$xend, as.double(tested$upper[best]))
  chance <- ggplot2::autoplot(tested, type = "chance")
  expect_identical(nrow(chance$data), sum(tested$size > 1))
  expect_s3_class(ggplot2::autoplot(tested, type = "network"), "ggplot")
  none <- episode_significance(found, n_surrogates = 1, threads = 2)
  expect_message(drawn <- ggplot2::autoplot(none, type = "network"), "No episode is significant",
                 class = "synfire_message_empty")
  expect_s3_class(drawn, "ggplot")
  none <- episode_significance(found, n_surrogates = 0, threads = 2)
  expect_message(ggplot2::autoplot(none), "No episode was tested", class = "synfire_message_empty")
})

test_that("the device is chosen aloud, and its absence is said", {
  set.seed(1)
  x <- simulate_sym26(duration = 1)
  pair <- episode(c("F", "G"), 0, 0.005)
  # So little work is never worth a GPU.
  expect_message(episode_significance(pair, x, 5, device = "auto"), "Using the CPU",
                 class = "synfire_message_device")
  skip_if(length(gpu_survey()$name) > 0L, "there is a GPU")
  expect_error(episode_significance(pair, x, 5, device = "gpu"),
               class = "synfire_error_device")
})

test_that("the GPU counts the same", {
  skip_without_gpu()
  for (seed in 1:20) {
    stream <- random_stream(seed, spikes = 80, span = 120)
    if (shortest_trial(stream$x) < 0.001 || !any(!is.na(stream$trial))) next
    withr::local_seed(seed)
    episodes <- random_episodes(stream, 20)
    method <- c("dither", "isi_shuffle", "randomise", "train_shift")[[seed %% 4 + 1]]
    set.seed(seed)
    expected <- null_counts(stream$x, episodes, 9, method, dither = 0.001)
    set.seed(seed)
    expect_identical(null_counts(stream$x, episodes, 9, method, dither = 0.001, place = 0L),
                     expected)
  }
  set.seed(1)
  x <- simulate_sym26()
  found <- mine_episodes(x, 300, cbind(c(0, 0.005, 0.010), c(0.005, 0.010, 0.015)),
                         threads = 2)
  set.seed(2)
  cpu <- episode_significance(found, n_surrogates = 50, threads = 2)
  set.seed(2)
  gpu <- episode_significance(found, n_surrogates = 50, device = "gpu")
  expect_equal(as.data.frame(gpu), as.data.frame(cpu))
})

test_that("the core is not given episodes or shares that it could not read", {
  x <- spike_trains(1:20 / 10, rep(c("A", "B"), 10), start = 0, end = 3, resolution = 1e-3)
  counts <- function(units = 1:2, low = 0, high = 100, place = NULL) {
    .Call(synfire:::r_episode_null, synfire:::trains_of(x), synfire:::surrogate_options(x),
          list(list(units), list(low), list(high)),
          list(first = 0, n = 2, threads = 1, max_memory = 1e9, gpus = place))
  }
  expect_identical(dim(counts()), c(1L, 2L))
  expect_error(counts(units = integer()), "wrong with its units")
  expect_error(counts(units = c(1, 2)), "wrong with its units")
  expect_error(counts(units = c(1L, 3L)), "wrong with its units")
  expect_error(counts(units = c(1L, NA)), "wrong with its units")
  expect_error(counts(low = c(0, 0), high = c(1, 1)), "wrong with its lags")
  expect_error(counts(high = numeric()), "wrong with its lags")
  expect_error(counts(low = NA_real_), "wrong with its intervals")
  expect_error(counts(low = 101), "wrong with its intervals")
  expect_error(counts(place = "0"), "option `gpus`", class = "synfire_mistake")
  summed <- function(probs) {
    .Call(synfire:::r_null_summary, matrix(1:3, 1), 2L, 2L, probs, 1L)
  }
  expect_identical(summed(c(0, 1))$quantile, matrix(c(1L, 3L), 1))
  expect_error(summed(1.5), "wrong with its probs")
  expect_error(summed(NaN), "wrong with its probs")
})

test_that("a dither that is code is refused as such", {
  x <- spike_trains(seq(0.1, 2, 0.1), rep(c("A", "B"), 10), start = 0, end = 3)
  found <- mine_episodes(x, 5, c(0, 0.2), max_size = 2, threads = 1)
  for (code in list(quote(a + b), quote(abc))) {
    expect_error(episode_significance(found, n_surrogates = 2, dither = code), "`dither` must be",
                 class = "synfire_error_argument")
  }
})

test_that("dither scales with the intervals, is printed, and clocks widen the histogram", {
  withr::local_seed(1)
  x <- simulate_sym26(duration = 3)
  dither_of <- function(...) {
    tested <- episode_significance(mine_episodes(x, 5, ..., max_size = 2, threads = 1),
                                   n_surrogates = 2, threads = 1)
    expect_match(capture.output(print(tested))[[1L]],
                 sprintf("dither = %s", exact(attr(tested, "surrogate")$parameters$dither)),
                 fixed = TRUE)
    attr(tested, "surrogate")$parameters$dither
  }
  expect_equal(dither_of(c(0, 0.005)), 0.015)
  expect_equal(dither_of(c(0.005, 0.015)), 0.03)
  expect_equal(dither_of(cbind(c(0, 0.005), c(0.005, 0.025))), 0.06)
  # No longer than a trial.
  expect_equal(suppressWarnings(dither_of(c(0, 2))), 3)
  clock <- spike_trains(seq(0.16, 30, by = 0.16), "A", start = 0, end = 31)
  expect_equal(synfire:::isi_histogram(clock, 0.03)[1:2],
               list(truncation_limit = 0.48, n_bins = 400))
  expect_equal(synfire:::isi_histogram(x, 0.03),
               list(truncation_limit = 0.1, n_bins = 100, sigma = 0.002))
})

test_that("rare chains of independent units that were chosen by their counts do not stand out", {
  hits <- vapply(1:6, \(seed) {
    withr::local_seed(seed)
    n <- rpois(40, 60)
    x <- spike_trains(round(runif(sum(n), 0, 60), 4), rep(seq_along(n), n), start = 0, end = 60,
                      resolution = 1e-4)
    found <- mine_episodes(x, 3, c(0, 0.05), threads = 1, max_size = 4)
    by_size <- \(t) any(t$significant[t$size >= 3])
    expect_gt(sum(found$size >= 3), 0)
    c(by_size(episode_significance(found, n_surrogates = 39, threads = 1)),
      by_size(episode_significance(count_episodes(x, found), n_surrogates = 39, threads = 1)))
  }, c(NA, NA))
  # Of two sizes 10 % at most; four of six in 0.1 %. Without the choice nearly all of them.
  expect_lte(sum(hits[1, ]), 3)
  expect_gt(sum(hits[2, ]), 3)
})
