# Maxima of surrogates in a folder are those of one call.

folder_recording <- function() {
  set.seed(3)
  simulate_patterns(duration = 10, units = 8)
}

p_of <- function(x, seed, ..., n_surrogates = 300) {
  set.seed(seed)
  suppressMessages(pvalue_spectrum(x, 0.005, 6, min_count = 3, n_surrogates = n_surrogates,
                                   threads = 2, ...))
}

same_result <- function(a, b) {
  for (name in c("maxima", "surrogate", "seed", "n_surrogates")) {
    expect_identical(attr(a, name), attr(b, name))
  }
  expect_identical(as.data.frame(a), as.data.frame(b))
}

test_that("chunks give what one call gives, by size and by duration", {
  x <- folder_recording()
  for (spectrum in c("#", "3d#")) {
    folder <- withr::local_tempdir()
    whole <- p_of(x, 1, spectrum = spectrum)
    expect_gt(max(attr(whole, "maxima")), 0)
    same_result(p_of(x, 1, spectrum = spectrum, folder = folder), whole)
    expect_length(list.files(folder, "^chunk"), 100)
  }
  # Fewer surrogates than chunks, and one.
  for (n in c(1, 5)) {
    same_result(p_of(x, 1, n_surrogates = n, folder = withr::local_tempdir()),
                p_of(x, 1, n_surrogates = n))
  }
})

test_that("a job that was stopped goes on with the surrogates that it began with", {
  x <- folder_recording()
  folder <- withr::local_tempdir()
  whole <- p_of(x, 1, folder = folder)
  chunks <- list.files(folder, "^chunk", full.names = TRUE)
  unlink(chunks[1:40])
  writeLines("no chunk", chunks[[50]])
  kept <- file.mtime(chunks[60:100])
  again <- suppressWarnings(p_of(x, 2, folder = folder), classes = "synfire_warning_folder")
  same_result(again, whole)
  expect_identical(file.mtime(chunks[60:100]), kept)
  expect_warning(
    {
      writeLines("no chunk", chunks[[50]])
      p_of(x, 1, folder = folder)
    },
    class = "synfire_warning_folder"
  )
  expect_message(pvalue_spectrum(x, 0.005, 6, min_count = 3, n_surrogates = 300, threads = 2,
                                 folder = folder),
                 "nothing is done again", class = "synfire_message_folder")
})

test_that("a job whose surrogates have windows of their own goes on", {
  x <- folder_recording()
  for (surrogate in c("window_shuffle", "sliding_shuffle", "jitter")) {
    folder <- withr::local_tempdir()
    first <- p_of(x, 1, surrogate = surrogate, n_surrogates = 9, folder = folder)
    again <- suppressMessages(p_of(x, 2, surrogate = surrogate, n_surrogates = 9,
                                   folder = folder))
    expect_identical(attr(again, "maxima"), attr(first, "maxima"))
    expect_error(p_of(x, 1, surrogate = surrogate, n_surrogates = 9, dither = 0.03,
                      folder = folder), "`shuffle_window`", class = "synfire_error_argument")
  }
})

test_that("the folder of another job is refused, and why is said", {
  skip_on_cran()
  x <- folder_recording()
  folder <- withr::local_tempdir()
  p_of(x, 1, folder = folder)
  refused <- function(code, why) {
    expect_error(code, why, class = "synfire_error_argument")
  }
  refused(p_of(x, 1, n_surrogates = 20, folder = folder), "`n_surrogates` is 300 there, not 20")
  refused(p_of(x, 1, dither = 0.02, folder = folder), "`dither` is 0.015 there, not 0.02")
  refused(p_of(x, 1, surrogate = "train_shift", folder = folder), "`surrogate`")
  refused(p_of(x, 1, spectrum = "3d#", folder = folder), "`spectrum`")
  refused(p_of(x[x$unit != "u01", ], 1, folder = folder), "the recording differs")
  refused(p_of(x, 1, max_spikes = 4, folder = folder), "`max_spikes`")
  for (closed in c("all", "max_spikes")) {
    of <- withr::local_tempdir()
    other <- setdiff(c("all", "max_spikes"), closed)
    p_of(x, 1, max_spikes = 3, closed_within = closed, folder = of)
    refused(p_of(x, 1, max_spikes = 3, closed_within = other, folder = of), "`closed_within`")
  }
  mined <- withr::local_tempdir()
  suppressMessages(mine_patterns(x, 0.005, 6, min_spikes = 3, min_count = 3, threads = 2,
                                 folder = mined))
  refused(p_of(x, 1, folder = mined), "not one of surrogates")
  expect_error(mine_patterns(x, 0.005, 6, min_count = 3, folder = folder),
               class = "synfire_error_argument")
  refused(p_of(x, 1, folder = 1), "`folder`")
})

test_that("spade() takes a folder, and tells the seed that decided", {
  x <- folder_recording()
  folder <- withr::local_tempdir()
  whole <- function(seed, ...) {
    set.seed(seed)
    suppressMessages(spade(x, 0.005, 6, min_count = 3, n_surrogates = 50, threads = 2, ...))
  }
  first <- whole(1, folder = folder)
  plain <- whole(1)
  for (name in c("p", "p_adjusted", "seed", "significant")) {
    expect_identical(first[[name]], plain[[name]])
  }
  expect_identical(whole(2, folder = folder)$seed, plain$seed)
})

test_that("workers of a plan give the same", {
  skip_on_cran()
  skip_if_not_installed("future")
  x <- folder_recording()
  whole <- p_of(x, 1, n_surrogates = 6)
  future::plan(future::multisession, workers = 2)
  withr::defer(future::plan(future::sequential))
  same_result(p_of(x, 1, n_surrogates = 6, folder = withr::local_tempdir()), whole)
})
