# Assemblies whose surrogates are kept in a folder are those of one call.

kept_search <- function(x, seed, ..., n_surrogates = 40, max_lag = 0.05) {
  set.seed(seed)
  suppressMessages(find_assemblies(x, max_lag = max_lag, n_surrogates = n_surrogates,
                                   resamples = 5, threads = 2, ...))
}

kept_recording <- function() {
  set.seed(8)
  simulate_assemblies(60, 14, c("synchrony", "sequence"), size = 4, count = 80)
}

same_assemblies <- function(a, b) {
  for (name in c("maxima", "chains", "best", "seed")) {
    expect_identical(attr(a, name), attr(b, name))
  }
  expect_identical(as.data.frame(a), as.data.frame(b))
}

test_that("chunks give what one call gives, also of trials and with responses", {
  x <- kept_recording()
  whole <- kept_search(x, 1)
  expect_gt(nrow(whole), 0)
  expect_gt(sum(whole$stability[[1L]]), 0)
  folder <- withr::local_tempdir()
  same_assemblies(kept_search(x, 1, folder = folder), whole)
  expect_length(list.files(folder, "^chunk"), 2)
  same_assemblies(kept_search(x, 1, n_surrogates = 99, locked_to = 1:59, max_memory = 2e7,
                              folder = withr::local_tempdir()),
                  kept_search(x, 1, n_surrogates = 99, locked_to = 1:59))
})

test_that("what is lost is found again, with the random numbers of the first call", {
  x <- kept_recording()
  folder <- withr::local_tempdir()
  whole <- kept_search(x, 1, folder = folder)
  chunks <- list.files(folder, "^chunk", full.names = TRUE)
  unlink(chunks[[2L]])
  same_assemblies(kept_search(x, 2, folder = folder), whole)
  writeBin(as.raw(1:200), chunks[[1L]])
  expect_warning(again <- kept_search(x, 2, folder = folder), class = "synfire_warning_folder")
  same_assemblies(again, whole)
  # Surrogates do not know of these.
  other <- kept_search(x, 3, alpha = 0.2, folder = folder)
  expect_identical(attr(other, "maxima"), attr(whole, "maxima"))
  expect_message(find_assemblies(x, max_lag = 0.05, n_surrogates = 40, folder = folder),
                 "nothing is done again", class = "synfire_message_folder")
})

test_that("a recording of too few units has a folder, and the seed of its first call", {
  x <- kept_recording()[unit = c("u01", "u02")]
  folder <- withr::local_tempdir()
  first <- kept_search(x, 1, folder = folder)
  expect_identical(list.files(folder), "job.rds")
  expect_identical(nrow(first), 0L)
  same_assemblies(kept_search(x, 2, folder = folder), first)
})

test_that("the folder of another search is refused, and why is said", {
  x <- kept_recording()
  folder <- withr::local_tempdir()
  kept_search(x, 1, folder = folder)
  refused <- function(code, why) {
    expect_error(code, why, class = "synfire_error_argument", fixed = TRUE)
  }
  refused(kept_search(x, 1, n_surrogates = 41, folder = folder),
          "`n_surrogates` is 40 there, not 41")
  refused(kept_search(x, 1, max_lag = 0.04, folder = folder), "`max_lag` is 0.05 there, not 0.04")
  refused(kept_search(x, 1, segment = 3, folder = folder), "not 3")
  refused(kept_search(x, 1, locked_to = 1:59, folder = folder), "`locked_to` differs")
  refused(kept_search(x[x$unit != levels(x$unit)[[1L]], ], 1, folder = folder),
          "the recording differs")
  mined <- withr::local_tempdir()
  suppressMessages(mine_patterns(x, 0.005, 6, min_count = 30, folder = mined))
  refused(kept_search(x, 1, folder = mined), "not one of assemblies")
  refused(kept_search(x, 1, folder = 1), "`folder`")
})
