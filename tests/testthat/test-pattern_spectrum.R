test_that("the spectrum counts patterns by signature", {
  found <- mine_patterns(planted_recording(), 0.005, 8, min_spikes = 2, min_count = 3, threads = 1)
  expect_gt(length(found), 100)
  own <- oracle_signatures(found)
  two <- pattern_spectrum(found)
  counts <- table(own$size, own$count)
  expect_identical(names(two), c("size", "count", "patterns"))
  expect_identical(two$patterns, counts[cbind(as.character(two$size),
                                              as.character(two$count))])
  expect_identical(sum(two$patterns), length(found))
  expect_false(is.unsorted(two$size * 1e6 + two$count, strictly = TRUE))

  three <- pattern_spectrum(found, "3d#")
  expect_identical(names(three), c("size", "duration", "count", "patterns"))
  name <- paste(own$size, own$duration, own$count)
  expect_identical(three$patterns, as.integer(table(name)[
    paste(three$size, round(three$duration / 0.005), three$count)
  ]))
  expect_identical(sum(three$patterns), length(found))
  expect_true(all(three$duration %in% found$duration))
  expect_identical(attr(three, "spectrum"), "3d#")
})

test_that("no patterns have an empty spectrum", {
  none <- mine_patterns(plain_recording(), 0.005, 8, min_count = 1000, threads = 1)
  for (spectrum in c("#", "3d#")) {
    empty <- pattern_spectrum(none, spectrum)
    expect_identical(nrow(empty), 0L)
    expect_identical(names(empty), names(pattern_spectrum(
      mine_patterns(plain_recording(), 0.005, 8, min_count = 3, threads = 1), spectrum
    )))
    expect_output(print(empty), "# 0 signatures of 0 patterns", fixed = TRUE)
  }
})

test_that("maxima become the number of surrogates that reach each signature", {
  withr::local_seed(3)
  for (case in cases(30)) {
    n <- sample(1:6, 1)
    by_duration <- case %% 2 == 0
    dims <- c(n, sample(0:4, 1), if (by_duration) sample(1:3, 1))
    maxima <- array(sample(0:7, prod(dims), replace = TRUE), dims)
    filters <- list(min_spikes = sample(1:4, 1), min_count = sample(1:4, 1))
    columns <- synfire:::reached_signatures(maxima, filters, n)
    expect_identical(columns$reached, oracle_reached(maxima, filters$min_spikes, columns$size,
                                                     columns$count, columns$duration))
    # All that some surrogate reaches are listed, and no others.
    expect_true(all(columns$reached >= 1L & columns$count >= filters$min_count))
    expect_identical(length(columns$reached), sum(pmax(0, apply(
      maxima, setdiff(seq_along(dims), 1L), max
    ) - filters$min_count + 1) |> as.integer()))
    pvalues <- structure(list(), maxima = maxima, parameters = filters)
    asked <- list(size = sample(filters$min_spikes + 0:5, 20, replace = TRUE),
                  duration = if (by_duration) sample(seq_len(dims[[3L]]) - 1, 20, replace = TRUE),
                  count = sample(9, 20, replace = TRUE))
    expect_identical(
      synfire:::surrogates_reaching(pvalues, asked),
      oracle_reached(maxima, filters$min_spikes, asked$size, asked$count, asked$duration)
    )
  }
})

test_that("the p value spectrum is that of mining every surrogate", {
  x <- plain_recording(2, units = 6)
  for (spectrum in c("#", "3d#")) {
    trains <- withr::with_seed(5, surrogate_trains(x, 12, "dither", dither = 0.02))
    got <- withr::with_seed(5, pvalue_spectrum(
      x, 0.005, 5, min_spikes = 2, min_count = 3, n_surrogates = 12, dither = 0.02,
      spectrum = spectrum, threads = 1, p_estimator = "k/n"
    ))
    maxima <- oracle_maxima(trains, 0.005, 5, list(min_spikes = 2, min_count = 3), spectrum == "3d#")
    expect_gt(max(maxima), 4)
    expect_equal(attr(got, "maxima"), maxima, ignore_attr = TRUE)
    bins <- if (spectrum == "3d#") round(got$duration / 0.005)
    expect_identical(got$reached,
                     oracle_reached(maxima, 2, got$size, got$count, bins))
    expect_identical(got$p, got$reached / 12)
  }
})

test_that("all filters hold for surrogates, too", {
  x <- plain_recording(4, units = 5, rate = 8)
  trains <- withr::with_seed(6, surrogate_trains(x, 8, "dither", dither = 0.01))
  got <- withr::with_seed(6, pvalue_spectrum(
    x, 0.005, 6, min_spikes = 2, min_count = 2, max_spikes = 3, max_count = 9, min_units = 1,
    n_surrogates = 8, dither = 0.01, threads = 1
  ))
  maxima <- oracle_maxima(trains, 0.005, 6, list(
    min_spikes = 2, min_count = 2, max_spikes = 3, max_count = 9, min_units = 1
  ))
  expect_lte(max(maxima), 9)
  expect_equal(attr(got, "maxima"), maxima, ignore_attr = TRUE)
})

test_that("set.seed() decides the spectrum, threads do not", {
  x <- plain_recording(units = 6)
  spectrum <- function(seed, threads) {
    made <- withr::with_seed(seed, pvalue_spectrum(x, 0.005, 5, min_spikes = 2, min_count = 3,
                                                   n_surrogates = 20, threads = threads))
    attr(made, "maxima")
  }
  one <- spectrum(1, 1)
  expect_identical(spectrum(1, 3), one)
  expect_false(identical(spectrum(2, 1), one))
})

test_that("the seed that is kept repeats the spectrum", {
  x <- plain_recording(units = 5)
  run <- \() pvalue_spectrum(x, 0.005, 5, min_spikes = 2, min_count = 3, n_surrogates = 5,
                             threads = 1)
  withr::local_seed(9)
  first <- run()
  expect_false(identical(attr(run(), "maxima"), attr(first, "maxima")))
  assign(".Random.seed", attr(first, "seed"), globalenv())
  expect_identical(attr(run(), "maxima"), attr(first, "maxima"))
})

test_that("arguments of the spectrum are checked", {
  x <- plain_recording(units = 3, duration = 5)
  bad <- function(...) expect_error(pvalue_spectrum(x, 0.005, 5, ...),
                                    class = "synfire_error_argument")
  bad(n_surrogates = 0)
  bad(n_surrogates = 1e12)
  bad(spectrum = "4d#")
  bad(p_estimator = "k")
  bad(device = "tpu")
  bad(surrogate = "nonsense")
  bad(dither = -1)
  bad(dither = 6)
  expect_error(pvalue_spectrum(), class = "synfire_error_argument")
  expect_error(pattern_spectrum(1), class = "synfire_error_argument")
})

test_that("spectra print, and rows of them too", {
  found <- mine_patterns(planted_recording(), 0.005, 8, min_spikes = 3, min_count = 3, threads = 1)
  two <- pattern_spectrum(found, "3d#")
  expect_output(print(two, n = 3), "duration (ms)", fixed = TRUE)
  expect_output(print(two, n = 3), sprintf("... and %d more", nrow(two) - 3), fixed = TRUE)
  pvalues <- made_pvalues(matrix(c(3L, 5L, 3L, 0L), 2), found)
  expect_output(print(pvalues), "# 4 signatures that some of 2 surrogates reach", fixed = TRUE)
  expect_s3_class(pvalues[pvalues$size == 3, ], "data.frame", exact = TRUE)
  expect_s3_class(as.data.frame(pvalues), "data.frame", exact = TRUE)
})

test_that("signatures that would not fit max_memory are refused", {
  maxima <- matrix(1e5L, 2, 1)
  filters <- list(min_count = 1, min_spikes = 2)
  expect_error(synfire:::reached_signatures(maxima, filters, 2, 1e6), "signatures",
               class = "synfire_error_budget")
  expect_length(synfire:::reached_signatures(maxima, filters, 2, 1e7)$reached, 1e5)
})
