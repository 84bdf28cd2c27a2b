# A session whose groups, conditions and drive are known (helper-session.R), through the whole way
# from spikes to causes.

test_that("the session holds the spikes that were planted, in the blocks that it names", {
  session <- withr::with_seed(1, make_session(duration = 400))
  expect_identical(session$blocks$condition, rep(c("rest", "task"), 2))
  x <- session$recording
  truth <- session_truth$A3
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

test_that("assemblies and the causal map of their rates are those planted, and nothing else", {
  skip_on_cran()
  session <- make_session()
  set.seed(1)
  found <- find_assemblies(session$recording, max_lag = 0.2, threads = 2)
  expect_length(found$units, 3)
  is_of <- \(truth) which(vapply(found$units, setequal, NA, truth$units))
  at <- vapply(session_truth, is_of, 1L)
  expect_setequal(at, 1:3)
  rate <- activation_rate(found, bin_size = 4)
  colnames(rate)[at] <- names(session_truth)
  set.seed(1)
  map <- causal_map(rate, E_max = 3, Tp = -5:5, exclusion_radius = 12, n_surrogates = 199,
                    threads = 1)
  # The past of the cause is seen in the effect, with a p value that counts all six pairs.
  link <- 6 * attr(map, "p_value") <= 0.05 & attr(map, "lag") < 0 & row(map) != col(map)
  at <- which(link, arr.ind = TRUE)
  expect_identical(c(effect = rownames(map)[at[, 1]], cause = colnames(map)[at[, 2]]),
                   c(effect = "A2", cause = "A1"))
})
