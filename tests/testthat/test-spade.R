find_planted <- function(..., n_surrogates = 60) {
  withr::with_seed(2, spade(planted_recording(), 0.005, 8, min_count = 4, ..., threads = 1,
                            n_surrogates = n_surrogates))
}

test_that("a planted pattern is found, and nothing else", {
  for (spectrum in c("#", "3d#")) {
    found <- find_planted(spectrum = spectrum)
    expect_identical(format(found$patterns), "u01@0 u02@1 u03@2 u04@4 u05@5")
    expect_identical(found$p, 1 / 61)
    expect_lte(found$p_adjusted, 0.05)
    truth <- attr(planted_recording(), "truth")$patterns[[1]]$times
    table <- as.data.frame(found, times = TRUE)
    # A window opens at the bin in which the first spike lies.
    expect_equal(table$times[[1L]], floor(truth / 0.005 + 1e-9) * 0.005)
    expect_identical(table$units[[1L]], sprintf("u%02d", 1:5))
  }
})

test_that("every stage of spade() is that stage alone", {
  x <- planted_recording()
  for (spectrum in c("#", "3d#")) {
    whole <- withr::with_seed(3, spade(
      x, 0.005, 6, min_spikes = 2, min_count = 4, n_surrogates = 40, dither = 0.02,
      spectrum = spectrum, correction = "TSBH", alpha = 0.2, threads = 1,
      reduction = list("combined", h = 1, k = 2, l = 1)
    ))
    mined <- mine_patterns(x, 0.005, 6, min_spikes = 2, min_count = 4, threads = 1)
    pvalues <- withr::with_seed(3, pvalue_spectrum(
      x, 0.005, 6, min_spikes = 2, min_count = 4, n_surrogates = 40, dither = 0.02,
      spectrum = spectrum, threads = 1
    ))
    tests <- test_signatures(mined, pvalues, 0.2, "TSBH")
    significant <- significant_patterns(mined, tests)
    kept <- reduce_patterns(significant, tests, "combined", h = 1, k = 2, l = 1)
    expect_identical(format(kept), format(reduce_patterns(
      significant, synfire:::non_significant(tests), "combined", h = 1, k = 2, l = 1
    )))
    expect_gt(length(significant), length(kept))
    expect_identical(format(whole$mined), format(mined))
    expect_identical(as.data.frame(whole$spectrum),
                     as.data.frame(pattern_spectrum(mined, spectrum)))
    expect_identical(attr(whole$pvalues, "maxima"), attr(pvalues, "maxima"))
    expect_identical(as.data.frame(whole$tests), as.data.frame(tests))
    expect_identical(whole$significant, length(significant))
    expect_identical(format(whole$patterns), format(kept))
  }
})

test_that("the p value of a pattern is the share of mined surrogates that reach it", {
  x <- plain_recording(5, units = 6, rate = 10, duration = 10)
  found <- withr::with_seed(4, spade(
    x, 0.005, 5, min_spikes = 2, min_count = 2, n_surrogates = 15, alpha = 0.9,
    correction = "none", reduction = "none", threads = 1, p_estimator = "k/n"
  ))
  trains <- withr::with_seed(4, surrogate_trains(x, 15, "dither", dither = 0.015))
  maxima <- oracle_maxima(trains, 0.005, 5, list(min_spikes = 2, min_count = 2))
  own <- oracle_signatures(found$mined)
  p <- oracle_reached(maxima, 2, own$size, own$count) / 15
  expect_true(any(p > 0 & p < 0.9) && any(p == 1))
  expect_identical(format(found$patterns), format(found$mined[p <= 0.9]))
  expect_equal(found$p, p[p <= 0.9])
  expect_equal(found$p_adjusted, found$p)
})

test_that("neither threads nor what was drawn before change the result, seeds do", {
  run <- function(seed, threads) {
    withr::with_seed(seed, spade(planted_recording(), 0.005, 6, min_count = 3, n_surrogates = 20,
                                 threads = threads))
  }
  one <- run(1, 1)
  other <- run(1, 3)
  expect_identical(attr(other$pvalues, "maxima"), attr(one$pvalues, "maxima"))
  expect_identical(as.data.frame(other), as.data.frame(one))
  expect_false(identical(attr(run(2, 1)$pvalues, "maxima"), attr(one$pvalues, "maxima")))
})

test_that("without surrogates there are patterns, and no p values", {
  found <- find_planted(n_surrogates = 0)
  expect_identical(format(found$patterns), format(found$mined))
  expect_true(all(is.na(found$p)) && all(is.na(found$p_adjusted)))
  expect_null(found$pvalues)
  expect_null(found$tests)
  expect_output(print(found), "without p values", fixed = TRUE)
  expect_output(print(found), "unknown", fixed = TRUE)
  expect_match(summary(found)$words[["Surrogates"]], "None were asked for")
})

test_that("nothing found is a result", {
  none <- find_planted(max_spikes = 8, min_units = 8)
  one <- withr::with_seed(1, spade(spike_trains(c(0.1, 0.2, 0.3), rep("A", 3)), 0.005, 4,
                                   n_surrogates = 5, threads = 1))
  empty <- spade(spike_trains(double(), character(), start = 0, end = 1), 0.005, 4,
                 n_surrogates = 5, threads = 1)
  for (found in list(none, one, empty)) {
    expect_length(found, 0)
    expect_identical(nrow(as.data.frame(found, times = TRUE)), 0L)
    expect_output(print(found), "# No significant spike patterns, of 0 found", fixed = TRUE)
    words <- summary(found)$words
    expect_match(words[["Surrogates"]], "no pattern to test")
    expect_match(words[["Found"]], "No pattern passes the filters")
  }
  # Patterns there are, but none that stands out.
  chance <- withr::with_seed(1, spade(plain_recording(), 0.005, 6, min_spikes = 2, min_count = 3,
                                      n_surrogates = 40, threads = 1))
  expect_gt(length(chance$mined), 0)
  expect_length(chance, 0)
  expect_match(summary(chance)$words[["Found"]], "No significant pattern")
  expect_match(summary(chance)$words[["Tested"]], "none is significant")
})

test_that("a unit may repeat, and one unit may be enough", {
  x <- spike_trains(outer(c(0, 0.01), seq(0.1, 5, by = 0.1), `+`) |> as.vector(), rep("A", 100),
                    start = 0, end = 6)
  found <- withr::with_seed(1, spade(x, 0.005, 4, min_spikes = 2, min_count = 4, min_units = 1,
                                     n_surrogates = 40, threads = 1))
  expect_identical(format(found$patterns), "A@0 A@2")
})

test_that("trials are kept apart", {
  trials <- data.frame(start = c(0, 10), end = c(9.5, 19.5))
  x <- planted_recording()
  cut <- spikes_outside(spike_trains(x$time, as.character(x$unit), 0, 20, trials = trials))
  found <- withr::with_seed(1, spade(cut, 0.005, 8, min_count = 4, n_surrogates = 40, threads = 1))
  expect_identical(format(found$patterns), "u01@0 u02@1 u03@2 u04@4 u05@5")
  inside <- attr(x, "truth")$patterns[[1]]$times
  inside <- inside[(inside < 9.47 | inside > 10) & inside < 19.47]
  expect_identical(found$patterns$count, length(inside))
})

test_that("the summary says what was found, and when surrogates are too few", {
  words <- summary(find_planted())$words
  expect_match(words[["Mined"]], "closed patterns of 3 or more spikes and 4 or more occurrences")
  expect_match(words[["Mined"]], "10 units, 20 s")
  expect_match(words[["Surrogates"]],
               "60 surrogates, made by the method \"dither\" (dither = 0.015) and", fixed = TRUE)
  expect_match(words[["Found"]], "which leaves 1 pattern. Largest: u01@0 u02@1")
  few <- find_planted(n_surrogates = 3, correction = "bonferroni")
  m <- attr(few$tests, "tests")
  expect_match(summary(few)$words[["Tested"]],
               sprintf("can give no less than 0.25: use %d or more", ceiling(m / 0.05) - 1))
  enough <- find_planted(n_surrogates = ceiling(m / 0.05) - 1, correction = "bonferroni")
  if (attr(enough$tests, "tests") == m) expect_length(enough, 1)
  share <- find_planted(n_surrogates = 3, correction = "bonferroni", p_estimator = "k/n")
  expect_length(share, 1)
  expect_identical(share$p, 0)
  expect_match(format(share), "p < 0.25")
  expect_match(summary(share)$words[["Found"]], "p < 0.25")
  expect_match(summary(share)$words[["Tested"]],
               "of which 3 surrogates say no more than that it is less than 0.25, adjusted less")
})

test_that("results print on one screen, are cut and listed", {
  found <- find_planted(reduction = "none")
  n <- length(found)
  expect_gt(n, 2)
  expect_output(print(found), sprintf("# %d significant spike patterns of up to 5 spikes", n))
  expect_lte(length(capture.output(print(found))), 16)
  expect_output(print(found, n = 1), sprintf("... and %d more", n - 1), fixed = TRUE)
  part <- found[c(n, 1)]
  expect_identical(format(part), format(found)[c(n, 1)])
  expect_identical(part$p_adjusted, found$p_adjusted[c(n, 1)])
  expect_true(all(found[found$patterns$size == 5]$patterns$size == 5))
  expect_identical(length(found[-1]), n - 1L)
  expect_error(found[n + 1], class = "synfire_error_argument")
  expect_identical(names(as.data.frame(found)),
                   c("pattern", "size", "units", "lags", "count", "duration", "p",
                     "p_adjusted"))
  expect_output(str(found), "List of")
})

test_that("arguments are checked before any work", {
  skip_on_cran()
  x <- plain_recording(units = 3, duration = 5)
  bad <- function(..., must = NULL) {
    expect_error(spade(x, 0.005, 5, ...), must, class = "synfire_error_argument")
  }
  bad(alpha = 0, must = "above 0 and below 1")
  bad(alpha = 1, must = "above 0 and below 1")
  bad(n_surrogates = -1, must = "n_surrogates")
  bad(n_surrogates = 1e12, must = "n_surrogates")
  bad(correction = "fdr_bh", must = "BH")
  bad(spectrum = "2d", must = "3d#")
  bad(p_estimator = "k", must = "k/n")
  bad(reduction = "psr", must = "combined")
  bad(reduction = list("subset", h = -1), must = "reduction.h")
  bad(reduction = list("subset", l = 1e12), must = "reduction.l")
  bad(reduction = list(h = 1), must = "a list of a method and any of h, k, l")
  expect_error(spade(x, 0.005, 5, h = 1), "reduction = list", class = "synfire_error_argument")
  bad(correction = "simes-hochberg", must = "\"hochberg\"")
  bad(surrogate = "dither_spikes", must = "\"dither\" for what Elephant calls")
  bad(surrogate = character(), must = "surrogate")
  bad(spectrum = NA_character_, must = "spectrum")
  bad(reduction = character(), must = "reduction")
  bad(mining = list(engine = "fp"), must = "fpgrowth")
  bad(mining = list(closed_within = TRUE), must = "max_spikes")
  bad(mining = list(shifted_subsets = ""), must = "keep")
  bad(mining = list(min_count = 3), must = "a list of any of closed_within")
  expect_error(spade(x, 0.005, 5, shifted_subsets = "drop"), "mining = list",
               class = "synfire_error_argument")
  bad(alpha = structure(0.05, class = "integer64"), must = "integer64")
  bad(dither = 0.004, must = "`dither` must be at least a bin, 0.005 s")
  bad(dither = 0.009, surrogate = "jitter", must = "`dither` must be at least two bins")
  bad(dither = 0.02, surrogate = "randomise", must = "`dither` must be left out")
  bad(refractory = 0.002, must = "`surrogate` must be given where `refractory` is")
  # Also where no surrogates are made.
  bad(surrogate = "shake", n_surrogates = 0, must = "`surrogate`")
  bad(sigma = 0.002, n_surrogates = 0, must = "`surrogate` must be given where `sigma` is")
  bad(stability = 10, must = "pattern_stability")
  bad(stability = mean, must = "a function")
  bad(stability = list(delta = 0.1, delta = 0.2), must = "\"delta\" twice")
  bad(stability = list(threshold = 0.3), must = "without names")
  bad(stability = list(threshold = c(intensional = 2)), must = "from 0 to 1")
  bad(stability = list(threshold = c(both = 0.2)), must = "as names")
  bad(stability = list(type = "intensional", threshold = c(extensional = 0.2)), must = "as names")
  bad(stability = list(n = 10), must = "n_subsets")
  bad(stability = list(10), must = "n_subsets")
  bad(stability = list(delta = 2), must = "delta")
  bad(stability = list(type = "both"), must = "intensional")
  bad(stability = list(type = NULL), must = "intensional")
  bad(dither = 6, must = "dither")
  bad(surrogate = "shake", must = "`surrogate`")
  bad(refract = 0.003, must = "refractory")
  bad(surrogate = "trial_shift", must = "trials")
  bad(min_spikes = 0, must = "min_spikes")
  bad(threads = 0, must = "threads")
  expect_error(spade(), "x", class = "synfire_error_argument")
  expect_error(spade(x), "bin_size", class = "synfire_error_argument")
})

test_that("stability comes with the patterns that are left", {
  found <- find_planted(reduction = "none", stability = list(n_subsets = 4))
  expect_identical(found$stability$pattern, format(found$patterns))
  table <- as.data.frame(found[2:1])
  expect_identical(table$extensional, found$stability$extensional[2:1])
  expect_identical(names(table)[7:10], c("p", "p_adjusted", "intensional", "extensional"))
  # Five spikes have 32 subsets: all are looked at.
  whole <- find_planted(stability = list(type = "intensional"))
  expect_identical(whole$stability$intensional,
                   pattern_stability(whole$patterns, type = "intensional")$intensional)
  expect_null(whole$stability$extensional)
  none <- find_planted(max_spikes = 8, min_units = 8, stability = list())
  expect_identical(nrow(none$stability), 0L)
})

test_that("patterns that are not stable enough are dropped, and all signatures tested", {
  x <- planted_recording()
  stages <- function(threshold, ...) {
    set.seed(5)
    pvalues <- pvalue_spectrum(x, 0.005, 6, min_spikes = 2, min_count = 4, n_surrogates = 40,
                               threads = 1)
    mined <- mine_patterns(x, 0.005, 6, min_spikes = 2, min_count = 4, threads = 1)
    tests <- test_signatures(mined, pvalues, 0.2)
    kept <- significant_patterns(mined, tests)
    stable <- pattern_stability(kept, n_subsets = 50, threads = 1)
    enough <- rep(FALSE, length(kept))
    for (kind in names(threshold)) enough <- enough | stable[[kind]] > threshold[[kind]]
    list(significant = length(kept), stable = stable[enough, ], tests = tests,
         left = reduce_patterns(kept[enough], tests))
  }
  for (threshold in list(c(intensional = 0.4), c(intensional = 0.6, extensional = 0.9))) {
    found <- withr::with_seed(5, spade(
      x, 0.005, 6, min_spikes = 2, min_count = 4, n_surrogates = 40, alpha = 0.2, threads = 1,
      stability = list(n_subsets = 50, threshold = threshold)
    ))
    expected <- withr::with_seed(5, stages(threshold))
    expect_identical(as.data.frame(found$tests), as.data.frame(expected$tests))
    expect_identical(format(found$patterns), format(expected$left))
    rows <- match(format(expected$left), expected$stable$pattern)
    expect_identical(found$stability$intensional, expected$stable$intensional[rows])
    expect_identical(found$unstable, expected$significant - nrow(expected$stable))
    expect_identical(found$explained, nrow(expected$stable) - length(expected$left))
    expect_gt(found$unstable, 0)
    words <- summary(found)$words[["Found"]]
    expect_match(words, sprintf("Of these %d are not stable enough", found$unstable))
    expect_match(words, sprintf("leaves %d pattern", length(expected$left)))
  }
  # Without surrogates, of all.
  all <- spade(x, 0.005, 6, min_count = 4, n_surrogates = 0, threads = 1,
               stability = list(threshold = c(extensional = 0.99)))
  expect_length(all, length(all$mined) - all$unstable)
  expect_true(all(all$stability$extensional > 0.99))
})

test_that("what a pattern is, and who searches, reaches the search and the surrogates", {
  x <- planted_recording()
  find <- function(...) {
    withr::with_seed(6, spade(x, 0.005, 8, min_spikes = 2, min_count = 4, max_spikes = 3,
                              n_surrogates = 20, threads = 1, ...))
  }
  for (closed in c("all", "max_spikes")) for (shifted in c("keep", "drop")) {
    found <- find(mining = list(closed_within = closed, shifted_subsets = shifted,
                                engine = "fpgrowth"))
    mined <- mine_patterns(x, 0.005, 8, min_spikes = 2, min_count = 4, max_spikes = 3,
                           closed_within = closed, shifted_subsets = shifted, threads = 1)
    expect_identical(format(found$mined), format(mined))
    expect_identical(attr(found$mined, "engine"), "fpgrowth")
    pvalues <- withr::with_seed(6, pvalue_spectrum(
      x, 0.005, 8, min_spikes = 2, min_count = 4, max_spikes = 3, n_surrogates = 20,
      closed_within = closed, threads = 1
    ))
    expect_identical(attr(found$pvalues, "maxima"), attr(pvalues, "maxima"))
    expect_identical(as.data.frame(found$tests), as.data.frame(test_signatures(mined, pvalues)))
  }
  trains <- withr::with_seed(6, surrogate_trains(x, 20, "dither", dither = 0.015, threads = 1))
  filters <- list(min_spikes = 2, min_count = 4, max_spikes = 3, closed_within = "max_spikes")
  expect_identical(attr(find(mining = list(closed_within = "max_spikes"))$pvalues, "maxima"),
                   oracle_maxima(trains, 0.005, 8, filters))
})

test_that("with the choices that the help page names, patterns are those of Elephant", {
  for (seed in 1:3) for (most in c(3, Inf)) {
    x <- withr::with_seed(seed, simulate_patterns(
      duration = 6, units = 5, rate = 12,
      patterns = list(list(units = 1:4, lags = c(0, 0.005, 0.01, 0.02), count = 12))
    ))
    found <- spade(x, 0.005, 5, min_spikes = 2, min_count = 3, max_spikes = most, min_units = 1,
                   mining = list(shifted_subsets = "drop", closed_within = "max_spikes"),
                   n_surrogates = 0, threads = 1)
    ours <- vapply(seq_along(found$mined), \(k) {
      lags <- as.list(found$mined[k])[[1L]]
      paste(paste(sort(paste0(match(names(lags), levels(x$unit)), "@", lags)), collapse = " "),
            "x", found$mined$count[[k]])
    }, "")
    theirs <- elephant_patterns(x, 0.005, 5, 2, 3, most)
    # With a largest size Elephant's miner loses some.
    expect_length(setdiff(theirs, ours), 0)
    expect_lte(length(setdiff(ours, theirs)), if (is.finite(most)) 2 else 0)
  }
})

test_that("the parameters are all that decides the result", {
  found <- find_planted(stability = list(n_subsets = 5), surrogate = "dither_refractory",
                        dither = 0.02, refractory = 0.003)
  own <- c("bin_size", "window_bins", "min_spikes", "min_count", "max_spikes", "max_count", "min_units",
           "closed_within", "shifted_subsets", "engine", "n_surrogates", "alpha", "correction",
           "spectrum", "p_estimator", "reduction", "h", "k", "l", "device", "surrogate",
           "dither", "refractory", "stability")
  expect_setequal(names(found$parameters), own)
  expect_identical(found$parameters[c("bin_size", "window_bins", "dither", "refractory", "stability")],
                   list(bin_size = 0.005, window_bins = 8, dither = 0.02, refractory = 0.003,
                        stability = list(n_subsets = 5)))
  # They are arguments: the same call again.
  given <- found$parameters
  given$mining <- given[c("closed_within", "shifted_subsets", "engine")]
  given$reduction <- c(list(given$reduction), given[c("h", "k", "l")])
  given <- given[setdiff(names(given), c(names(given$mining), "h", "k", "l"))]
  again <- withr::with_seed(2, do.call(spade, c(list(planted_recording(), threads = 1), given)))
  expect_identical(as.data.frame(again), as.data.frame(found))
  shuffled <- find_planted(n_surrogates = 2, surrogate = "window_shuffle")$parameters
  expect_identical(shuffled[c("window_bins", "shuffle_window")], list(window_bins = 8, shuffle_window = 0.03))
  expect_identical(find_planted(n_surrogates = 0)$parameters$surrogate, "dither")
})

test_that("Elephant's names of arguments are answered with ours", {
  x <- plain_recording(units = 3, duration = 5)
  answered <- function(expr, ours) {
    expect_error(expr, ours, class = "synfire_error_argument", fixed = TRUE)
  }
  answered(spade(x, binsize = 0.005, winlen = 5), "`binsize` must be given as `bin_size`")
  answered(spade(x, 0.005, winlen = 5), "`winlen` must be given as `window_bins`")
  answered(spade(x, 0.005, 5, psr_param = c(0, 0, 3)), "`h`, `k` and `l`")
  answered(spade(x, 0.005, 5, stat_corr = "fdr_bh"), "`correction`")
  answered(spade(x, 0.005, 5, surr_method = "dither_spikes"), "`surrogate`")
  answered(spade(x, 0.005, 5, min_neu = 2), "`min_units`")
  answered(spade(x, 0.005, 5, approx_stab_pars = list()), "`stability`")
  answered(spade(x, 0.005, 5, surrogate = "dither_refractory", refractory_period = 0.003),
           "`refractory`")
  answered(pvalue_spectrum(x, binsize = 0.005), "`bin_size`")
})

test_that("a table can have a row for each spike, for files", {
  found <- find_planted(reduction = "none", stability = list(n_subsets = 4))
  long <- as.data.frame(found, long = TRUE)
  expect_identical(names(long), c("number", "pattern", "size", "count", "duration", "p",
                                  "p_adjusted", "intensional", "extensional", "unit", "lag",
                                  "delay"))
  expect_false(any(vapply(long, is.list, NA)))
  wide <- as.data.frame(found)
  expect_identical(unname(split(long$unit, long$number)), wide$units)
  expect_identical(unname(split(long$lag, long$number)), wide$lags)
  expect_equal(long$delay, long$lag * 0.005)
  for (column in c("pattern", "size", "count", "duration", "p", "intensional")) {
    expect_identical(long[[column]], wide[[column]][long$number])
  }
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(long, file, row.names = FALSE)
  expect_equal(utils::read.csv(file), long)
  patterns <- as.data.frame(found$patterns, long = TRUE)
  expect_identical(patterns, long[names(patterns)])
  expect_identical(nrow(as.data.frame(found[0], long = TRUE)), 0L)
  expect_identical(nrow(as.data.frame(found$patterns[0], long = TRUE)), 0L)
  expect_error(as.data.frame(found, long = TRUE, times = TRUE), "pattern_occurrences",
               class = "synfire_error_argument")
  expect_error(as.data.frame(found, long = NA), "`long`", class = "synfire_error_argument")
})

test_that("an empty result prints what would have been enough", {
  few <- find_planted(n_surrogates = 3, correction = "bonferroni")
  enough <- ceiling(attr(few$tests, "tests") / 0.05) - 1
  text <- paste(capture.output(print(few)), collapse = " ")
  expect_match(text, sprintf("use %d or more", enough))
  expect_match(text, "No significant pattern.", fixed = TRUE)
  none <- find_planted(max_spikes = 8, min_units = 8)
  expect_output(print(none), "No pattern passes the filters.", fixed = TRUE)
})

test_that("some of a result say what they are some of", {
  found <- find_planted(reduction = "none")
  n <- length(found)
  expect_output(print(found[1:2]), sprintf("# 2 of %d significant spike patterns", n))
  expect_output(print(found[0]), sprintf("# 0 of %d significant spike patterns", n))
  reduced <- find_planted()
  expect_identical(summary(reduced[1])$words, summary(reduced)$words)
  expect_match(summary(reduced[0])$words[["Found"]], "which leaves 1 pattern")
})

test_that("a result that was changed by hand is refused", {
  found <- find_planted()
  uses <- list(print, summary, format, as.data.frame, \(x) x[1])
  for (part in c("patterns", "p", "p_adjusted", "mined", "spectrum", "tests", "parameters",
                 "significant", "explained", "device", "threads")) {
    changed <- found
    changed[[part]] <- NULL
    for (use in uses) {
      expect_error(use(changed), "was changed, or is damaged", class = "synfire_error_argument")
    }
  }
  changed <- found
  changed$p <- c(0.1, 0.2)
  expect_error(print(changed), "was changed", class = "synfire_error_argument")
  expect_error(print(structure(list(), class = "spade")), "was changed",
               class = "synfire_error_argument")
})

test_that("stages say how long they took", {
  elapsed <- find_planted(stability = list(n_subsets = 2))$elapsed
  expect_identical(names(elapsed), c("mining", "surrogates", "tests", "reduction", "stability"))
  expect_true(all(elapsed >= 0))
})

test_that("without a GPU the CPU takes over, or the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  expect_message(found <- find_planted(device = "auto"), "Using the CPU: there is no GPU",
                 class = "synfire_message_device")
  expect_identical(found$device, "cpu")
  expect_identical(attr(found$pvalues, "maxima"), attr(find_planted()$pvalues, "maxima"))
  condition <- expect_error(find_planted(device = "gpu"), class = "synfire_error_device")
  expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
})

test_that("a GPU finds the same", {
  skip_without_gpu()
  for (spectrum in c("#", "3d#")) {
    cpu <- find_planted(spectrum = spectrum)
    gpu <- find_planted(spectrum = spectrum, device = "gpu")
    expect_identical(gpu$device, "gpu")
    expect_identical(attr(gpu$pvalues, "maxima"), attr(cpu$pvalues, "maxima"))
    expect_identical(as.data.frame(gpu), as.data.frame(cpu))
  }
})

test_that("`dither` is checked where no method is named", {
  x <- planted_recording()
  for (wrong in list(new.env(), -1, NA, c(0.01, 0.02), "far")) {
    expect_error(spade(x, 0.005, 8, dither = wrong), "`dither` must be a finite number above 0",
                 class = "synfire_error_argument")
  }
})
