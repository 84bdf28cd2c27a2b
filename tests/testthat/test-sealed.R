test_that("a sealed file holds what was written, also for readRDS()", {
  file <- withr::local_tempfile()
  for (object in list(1:5, list(a = NULL, b = "\u00e9"), runif(3e5))) {
    write_whole(object, file)
    expect_identical(read_whole(file), object)
    expect_identical(readRDS(file), object)
  }
  expect_identical(list.files(dirname(file), paste0(basename(file), temporary_mark)), character())
})

test_that("no changed, cut, longer or other file is taken for a sealed one", {
  skip_unless_nightly()
  skip_on_cran()
  file <- withr::local_tempfile()
  write_whole(list(letters, 1:3), file)
  bytes <- readBin(file, "raw", file.size(file))
  for (at in seq_along(bytes)) {
    for (bit in c(1, 128)) {
      changed <- bytes
      changed[[at]] <- xor(changed[[at]], as.raw(bit))
      writeBin(changed, file)
      expect_null(read_whole(file))
    }
  }
  for (n in c(0, 1, 46, 47, length(bytes) - 1)) {
    writeBin(bytes[seq_len(n)], file)
    expect_null(read_whole(file))
  }
  writeBin(c(bytes, as.raw(0)), file)
  expect_null(read_whole(file))
  saveRDS(1, file)
  expect_null(read_whole(file))
  expect_null(read_whole(dirname(file)))
  expect_null(read_whole(paste0(file, "-none")))
})

test_that("a full disk is an error that says so, and leaves nothing", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- withr::local_tempdir()
  # The first needs more than what R holds back, the second does not.
  for (n in c(1e5, 300)) {
    said <- limited_child("-f 8", substitute({
      small <- file.path(FOLDER, "small")
      ns <- asNamespace("synfire")
      ns$write_whole(1:10, small)
      outcome <- tryCatch(ns$write_whole(runif(N), file.path(FOLDER, "large")),
                          synfire_error_write = conditionMessage)
      cat(outcome)
    }, list(FOLDER = folder, N = if (n > 1e4) 1e5 else 1100)))
    expect_match(paste(said, collapse = " "), "cannot be written.*disk is full")
  }
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "small")
  expect_identical(read_whole(file.path(folder, "small")), 1:10)
})
