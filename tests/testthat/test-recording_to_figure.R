# What vignette("recording-to-figure") says of its simulated session, with the functions of the
# page, which are no part of the package.
page_functions <- function() {
  folder <- test_path("..", "..", "vignettes", "recording-to-figure")
  skip_if_not(dir.exists(folder), "the sources are not there")
  page <- new.env(parent = globalenv())
  for (name in c("session.R", "figure.R")) sys.source(file.path(folder, name), page)
  page
}

test_that("the session holds the spikes that were planted, in the blocks that it names", {
  page <- page_functions()
  session <- withr::with_seed(1, page$make_session(duration = 400))
  expect_identical(session$blocks$condition, rep(c("rest", "task"), 2))
  x <- session$recording
  truth <- page$session_truth$A3
  # Chance coincidences of four units within 3 ms are far below one in 400 s.
  first <- x$time[x$unit == truth$units[[1]]]
  all_four <- Reduce(`&`, lapply(truth$units[-1], \(unit) {
    own <- x$time[x$unit == unit]
    vapply(first, \(t) any(abs(own - t) <= truth$width / 1000), NA)
  }))
  in_task <- session$blocks$condition[findInterval(first[all_four], session$blocks$start)] == "task"
  expect_gt(sum(all_four), 30)
  expect_gt(sum(in_task), 2 * sum(!in_task))
})

test_that("a link of the page is one whose cause comes first, with a corrected p of 0.05 at most", {
  page <- page_functions()
  names <- c("A", "B", "C")
  square <- \(v) matrix(v, 3, 3, dimnames = list(library = names, target = names))
  map <- square(0.5)
  attr(map, "p_value") <- square(c(0, 0.008, 0.01, 0.008, 0, 0.008, 0.008, 0.9, 0))
  attr(map, "lag") <- square(c(-1, -3, -2, 2, -1, 0, -1, -1, -1))
  # Library B, target A: A drives B; library A, target C: C drives A. The lags of the others are
  # not before 0, or their p values too high.
  links <- page$causal_links(map)
  expect_identical(as.character(links$cause), c("A", "C"))
  expect_identical(as.character(links$effect), c("B", "A"))
  expect_identical(page$lag_text(c(-4, 0, 8)), c("4 s before", "same step", "8 s after"))
})

test_that("the page finds what was planted, and nothing else", {
  skip_on_cran()
  page <- page_functions()
  session <- page$make_session()
  set.seed(1)
  found <- find_assemblies(session$recording, max_lag = 0.2, threads = 2)
  expect_length(found$units, 3)
  is_of <- \(truth) which(vapply(found$units, setequal, NA, truth$units))
  at <- vapply(page$session_truth, is_of, 1L)
  expect_setequal(at, 1:3)
  rate <- activation_rate(found, bin_size = 4)
  colnames(rate)[at] <- names(page$session_truth)
  set.seed(1)
  map <- causal_map(rate, E_max = 3, Tp = -5:5, exclusion_radius = 12, n_surrogates = 199,
                    threads = 1)
  links <- page$causal_links(map)
  expect_identical(as.character(links$cause), "A1")
  expect_identical(as.character(links$effect), "A2")
})
