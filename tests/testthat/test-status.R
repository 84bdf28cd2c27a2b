test_that("results pass, interrupts interrupt", {
  expect_identical(finish_status(list(1, "a"), "a test"), list(1, "a"))
  expect_identical(
    tryCatch(finish_status(new_status("interrupted"), "a test"), interrupt = \(condition) "stop"),
    "stop"
  )
})

test_that("errors say what was needed and what to do", {
  error <- function(...) {
    rlang::catch_cnd(finish_status(..., advice = "Use fewer {units}."), "error")
  }
  text <- function(condition) gsub("\\s+", " ", conditionMessage(condition))

  x <- error(new_status("no_memory", 3.2e9), "mining episodes")
  expect_s3_class(x, c("synfire_error_memory", "synfire_error"), exact = FALSE)
  expect_match(text(x), "Not enough memory for mining episodes", fixed = TRUE)
  expect_match(text(x), "About 3.2 GB could not be had", fixed = TRUE)
  expect_match(text(x), "Use fewer {units}.", fixed = TRUE)
  expect_no_match(text(error(new_status("no_memory"), "mining")), "About")

  x <- error(new_status("over_budget", 5e6, 1e6), "mining episodes")
  expect_s3_class(x, c("synfire_error_budget", "synfire_error"), exact = FALSE)
  expect_match(text(x), "About 5 MB would be needed; `max_memory` is 1 MB", fixed = TRUE)
  expect_match(text(error(new_status("over_budget"), "mining")), "More than the budget")

  x <- error(new_status("too_large", 5e9, 2^32 - 1), "mining episodes", limit_of = "spikes")
  expect_s3_class(x, c("synfire_error_too_large", "synfire_error"), exact = FALSE)
  expect_match(text(x), "At most 4,294,967,295 spikes can be handled, not 5,000,000,000",
               fixed = TRUE)
})

test_that("bytes are readable", {
  expect_identical(bytes_text(0), "0 B")
  expect_identical(bytes_text(999), "999 B")
  expect_identical(bytes_text(1500), "1.5 kB")
  expect_identical(bytes_text(2^32), "4.29 GB")
  expect_identical(bytes_text(1e20), "1e+05 PB")
})
