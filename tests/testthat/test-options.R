# Options of the compiled code, here those of r_pattern_stability() and of surrogates.

stable <- function(...) {
  x <- spike_trains(1:20 / 100, rep(c("A", "B"), 10), resolution = 1e-3)
  found <- mine_patterns(x, 0.01, 3, threads = 1)
  options <- list(subsets = 5, threads = 1L, max_memory = 1e9, key = c(1, 2), intensional = TRUE,
                  extensional = FALSE)
  .Call(r_pattern_stability, mined_events(found), patterns_to_find(found),
        utils::modifyList(options, list(...), keep.null = TRUE))
}

refused <- function(name, value, must) {
  problem <- rlang::catch_cnd(do.call(stable, rlang::set_names(list(value), name)), "error")
  expect_s3_class(problem, "synfire_mistake")
  expect_false(inherits(problem, "synfire_error"))
  expect_match(conditionMessage(problem), paste0("option `", name, "` that is wrong"))
  expect_match(conditionMessage(problem), must, fixed = TRUE)
}

test_that("options are read by name, whatever their order and what comes with them", {
  expect_length(stable()[[1L]], length(stable(extensional = TRUE)[[2L]]))
  expect_null(stable(another = "one")[[2L]])
  expect_null(stable(intensional = FALSE)[[1L]])
})

test_that("an option that is wrong is named, with what it must be, and as a mistake of ours", {
  for (value in list(0, 2^53 + 2, 1.5, NA, NA_integer_, NaN, "5", 1:2, numeric(), TRUE)) {
    refused("subsets", value, "a whole number from 1 to 9007199254740992")
  }
  refused("subsets", NULL, "and is NULL")
  refused("threads", 1025, "a whole number from 1 to 1024, and is 1025")
  for (value in list(NA, 1, "TRUE", c(TRUE, TRUE), NULL)) {
    refused("intensional", value, "TRUE or FALSE")
  }
})

test_that("an option that is missing, or without a name, is named", {
  x <- spike_trains(1:20 / 10, rep(c("A", "B"), 10), start = 0, end = 3, resolution = 1e-3)
  made <- function(options) {
    .Call(r_surrogate_trains, trains_of(x), surrogate_options(x), options)
  }
  expect_length(made(list(max_memory = 1e9, threads = 1, n = 2)), 2L)
  expect_error(made(list(n = 1, threads = 1)), "option `max_memory` that is wrong")
  expect_error(made(list(1, 1, 1e9)), "option `n` that is wrong")
  expect_error(made(c(n = 1, threads = 1, max_memory = 1e9)), "option `n` that is wrong")
  expect_error(made(NULL), "option `n` that is wrong")
})

test_that("a key that is none is refused", {
  for (key in list(1, c("1", "2"), c(-1, 1), c(1, 2^32), c(NaN, 1), NULL)) {
    expect_error(stable(key = key), "wrong with its key")
    expect_error(random_uniform(3, key, 1), "wrong with its key")
  }
})
