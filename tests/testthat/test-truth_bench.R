# How bench/truth.R scores what a method finds, which is in the sources and not in the package.
truth_bench <- function() {
  folder <- test_path("..", "..", "bench", "truth")
  skip_if_not(file.exists(folder), "the sources are not here")
  names <- new.env()
  for (part in c("others.R", "recordings.R", "score.R", "methods.R")) {
    sys.source(file.path(folder, part), names)
  }
  names
}

assemblies_of <- function(units, lags = lapply(units, \(u) numeric(length(u))), ...) {
  table <- data.frame(..., row.names = seq_along(units))
  table$units <- units
  table$lags <- lags
  table$times <- rep(list(NA_real_), length(units))
  table
}

planted <- assemblies_of(
  list(c("a", "b", "c", "d"), c("e", "f", "g")), list(c(0, 0.01, 0.02, 0.03), c(0, 0.1, 0.2)),
  kind = c("sequence", "rate_sequence"), width = c(0.002, 0.2)
)
planted$times <- list(1, 2)

test_that("each planted assembly has one found one, the most alike first", {
  skip_unless_nightly()
  bench <- truth_bench()
  found <- assemblies_of(list(c("a", "b"), c("d", "c", "b", "a", "x"), c("g", "y"), c("y", "z")),
                         p = c(0.01, 0.02, 0.03, 0.04))
  expect_equal(bench$overlaps(planted, found),
               rbind(c(2 / 4, 4 / 5, 0, 0), c(0, 0, 1 / 4, 0)))
  expect_identical(bench$pair_up(planted, found), c(2L, NA))
  expect_identical(bench$is_false(planted, found), c(FALSE, FALSE, TRUE, TRUE))
  score <- bench$score_recording(planted, found)
  expect_identical(score$found, 4L)
  expect_identical(score$false, 2L)
  expect_identical(score$pieces, 1L)
  expect_equal(score$members$recall, c(1, 0))
  expect_equal(score$members$precision, c(4 / 5, NA))
  expect_identical(score$members$exact, c(FALSE, FALSE))
})

test_that("half of the units of a planted assembly are not enough, more than half are", {
  skip_unless_nightly()
  bench <- truth_bench()
  found <- assemblies_of(list(c("a", "b", "x", "y"), c("a", "b", "x"), c("a", "x")), p = rep(0.1, 3))
  expect_identical(bench$is_false(planted, found), c(TRUE, FALSE, TRUE))
  nothing <- planted[0, ]
  expect_identical(bench$is_false(nothing, found), rep(TRUE, 3))
  expect_identical(bench$score_recording(nothing, found)$false, 3L)
})

test_that("lags are right within the width, from whatever zero they are counted", {
  skip_unless_nightly()
  bench <- truth_bench()
  of <- \(lags, units = c("a", "b", "c", "d")) {
    bench$lags_right(planted[1, ], assemblies_of(list(units), list(lags), p = 0.1))
  }
  expect_equal(of(c(0, 0.01, 0.02, 0.03) + 5), 1)
  expect_equal(of(c(0, 0.01, 0.02, 0.033) + 5), 0.75)
  expect_equal(of(c(0.03, 0.02, 0.01, 0), c("d", "c", "b", "a")), 1)
  expect_equal(of(c(0, 0.01), c("b", "c")), 1)
  expect_identical(of(c(0, 0.01), c("a", "z")), NA_real_)
})

test_that("times of activations are right within the width, each planted one once", {
  skip_unless_nightly()
  bench <- truth_bench()
  truth <- planted[1, ]
  truth$times <- list(c(10, 20, 30, 40))
  of <- \(times, lags = c(0, 0.01, 0.02, 0.03)) {
    found <- assemblies_of(list(c("a", "b", "c", "d")), list(lags), p = 0.1)
    found$times <- list(times)
    bench$score_times(truth, found)
  }
  expect_equal(of(c(30.001, 10.001, 40.001, 20.001)), c(recall = 1, precision = 1))
  # One is planted twice as far away as allowed, one is found twice, one is not there.
  expect_equal(of(c(10.015, 20, 20.004, 30, 35)), c(recall = 2 / 4, precision = 2 / 5))
  # Lags that are counted from another zero.
  expect_equal(of(c(10, 20, 30) - 5, c(0, 0.01, 0.02, 0.03) + 5), c(recall = 3 / 4, precision = 1))
  expect_equal(of(NA_real_), c(recall = NA_real_, precision = NA_real_))
  expect_identical(bench$matched(c(1, 2, 3), c(1.4, 2.4), 0.5), 2L)
  table <- data.frame(assembly = c(1, 1), unit = 1:2, lag = c(0, 0.1), p = 0.1, times = "1.5 2.25")
  expect_identical(bench$as_found(table, c("u1", "u2"))$times[[1]], c(1.5, 2.25))
  expect_identical(bench$as_found(table[-5], c("u1", "u2"))$times[[1]], NA_real_)
})

test_that("the threshold allows as many false assemblies as asked for", {
  skip_unless_nightly()
  bench <- truth_bench()
  results <- list(
    list(planted = planted, found = assemblies_of(
      list(c("a", "b", "c", "d"), c("y", "z"), c("e", "f")), p = c(0.01, 0.02, 0.03)
    )),
    list(planted = planted, found = assemblies_of(list(c("x", "z")), p = 0.05)),
    list(planted = planted, found = bench$no_assemblies())
  )
  expect_identical(bench$p_at_false_rate(results, 0), 0.01)
  expect_identical(bench$p_at_false_rate(results, 1 / 3), 0.03)
  expect_identical(bench$p_at_false_rate(results, 2 / 3), Inf)
  kinds <- bench$score_kinds(bench$up_to(results, 0.01))
  expect_identical(kinds$kind, c("sequence", "rate_sequence"))
  expect_equal(kinds$recall, c(100 / 3, 0))
  expect_equal(kinds$exact, c(100 / 3, 0))
  expect_equal(bench$score_kinds(bench$up_to(results, 1))$recall, 100 / 3 * c(1, 2 / 3))
  expect_identical(bench$exactly_right(results), c(1, 0, 0))
  # A tie of a right and a false one cannot be cut.
  tie <- list(list(planted = planted, found = assemblies_of(
    list(c("a", "b", "c", "d"), c("y", "z")), p = c(0.01, 0.01)
  )))
  expect_identical(bench$p_at_false_rate(tie, 0), -1)
  expect_identical(nrow(bench$up_to(tie, -1)[[1]]$found), 0L)
})

test_that("several bins make one list, the surest of the same units, with corrected p", {
  skip_unless_nightly()
  bench <- truth_bench()
  runs <- data.frame(result = c("done", "done", "stopped"))
  runs$found <- list(
    assemblies_of(list(c("a", "b"), c("c", "d")), p = c(0.02, 0.4)),
    assemblies_of(list(c("b", "a"), c("e", "f")), p = c(0.01, 0.9)),
    bench$no_assemblies()
  )
  pooled <- bench$pool_bins(runs)
  expect_identical(pooled$units, list(c("b", "a"), c("c", "d"), c("e", "f")))
  expect_equal(pooled$p, c(0.02, 0.8, 1))
})

test_that("found tables become assemblies, and recordings have the seeds that are printed", {
  skip_unless_nightly()
  bench <- truth_bench()
  found <- bench$as_found(data.frame(assembly = c(1, 1, 2, 2), unit = c(2, 1, 3, 1),
                                     lag = c(0, 0.1, 0, 0), p = c(0.1, 0.1, 0.2, 0.2)),
                          c("u1", "u2", "u3"))
  expect_equal(unname(found$units), list(c("u2", "u1"), c("u3", "u1")))
  expect_equal(found$p, c(0.1, 0.2))
  expect_identical(nrow(bench$as_found(data.frame(assembly = numeric()), "u1")), 0L)
  x <- bench$make_recording("small_none", 2)
  set.seed(1)
  expect_identical(bench$make_recording("small_none", 2), x)
  expect_false(identical(bench$make_recording("small_none", 3)$time, x$time))
  expect_identical(nrow(attr(x, "truth")$assemblies), 0L)
  for (k in 1:8) expect_s3_class(bench$make_recording("any", k), "spike_trains")
})
