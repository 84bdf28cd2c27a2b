# What a causal map finds where the wiring is known. rho[i, j] is high where j causes i, and
# truth[cause, effect]: so the scores of links are t(rho).

# Area under the ROC: the share of pairs of a link and a non-link in which the link has the
# higher score.
roc_area <- function(map, truth) {
  score <- t(as.matrix(map))
  off <- row(truth) != col(truth)
  link <- score[off & truth > 0]
  none <- score[off & truth == 0]
  mean(outer(link, none, `>`) + outer(link, none, `==`) / 2)
}

# Share of the links without one back that have the higher rho of the two directions.
directions_right <- function(map, truth) {
  rho <- as.matrix(map)
  one_way <- truth > 0 & t(truth) == 0
  mean(t(rho)[one_way] > rho[one_way])
}

test_that("the wiring of coupled logistic maps is recovered, and its directions", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- simulate_coupled_maps(600, series = 12, causes = 2)
    truth <- attr(x, "truth")
    map <- causal_map(x, E_max = 8, threads = 2)
    expect_gt(roc_area(map, truth), 0.97)
    expect_gte(directions_right(map, truth), 0.95)
    # Correlation tells nothing here.
    expect_lt(roc_area(abs(cor(x)), truth), 0.75)
  }
})

test_that("a link the wrong way round is not found in two maps, one of which drives", {
  set.seed(1)
  wiring <- matrix(c(0, 0, 0.05, 0), 2, dimnames = rep(list(c("cause", "effect")), 2))
  x <- simulate_coupled_maps(600, wiring)
  map <- causal_map(x, E = 2, lib_sizes = c(30, Inf), threads = 2)
  expect_gt(map["effect", "cause"], 0.7)
  expect_lt(map["cause", "effect"], 0.3)
  gain <- attr(map, "convergence")
  expect_gt(gain["effect", "cause"], 0.2)
})

# Systems of vignette("error-rates-causes"), which are in the sources and not in the package.
source_simulated <- function() {
  file <- test_path("..", "..", "vignettes", "causal-maps", "simulated.R")
  skip_if_not(file.exists(file), "the sources of the vignettes are not here")
  source(file, local = rlang::caller_env())
}

test_that("neighbours on a Lorenz ring are found, and directions by their lags", {
  source_simulated()
  for (seed in 1:2) {
    set.seed(seed)
    x <- simulate_lorenz96(1000, series = 10, interval = 0.1)
    truth <- attr(x, "truth")
    expect_message(map <- causal_map(x, E_max = 6, Tp = -2:0, threads = 2),
                   class = "synfire_message_slow")
    expect_gt(roc_area(map, truth), 0.88)
    # The two directions of a link have much the same rho here; the cause comes first.
    one_way <- truth > 0 & t(truth) == 0
    expect_message(map <- causal_map(x, E = attr(map, "E"), Tp = -5:5, threads = 2),
                   class = "synfire_message_slow")
    lag <- t(attr(map, "lag"))
    expect_gte(mean(lag[one_way] < t(lag)[one_way]), 0.9)
  }
})

test_that("hubs of a calcium recording, and the links a stimulus changes, are found", {
  source_simulated()
  take <- function(condition) {
    set.seed(2)
    simulate_calcium(1200, neurons = 40, condition = condition)
  }
  rest <- take("rest")
  stimulus <- take("stimulus")
  at_rest <- causal_map(rest, E_max = 8, Tp = -1, threads = 2)
  maps <- list(at_rest, causal_map(stimulus, E = attr(at_rest, "E"), Tp = -1, threads = 2))
  expect_gt(roc_area(maps[[1]], attr(rest, "truth")), 0.98)
  expect_gt(roc_area(maps[[2]], attr(stimulus, "truth")), 0.98)
  expect_gte(directions_right(maps[[1]], attr(rest, "truth")), 0.98)
  # Drives most: highest mean rho as a target.
  drives <- colMeans(as.matrix(maps[[1]]) - diag(diag(maps[[1]])))
  expect_setequal(names(sort(drives, decreasing = TRUE))[1:4], attr(rest, "hubs"))
  changed <- attr(stimulus, "truth") - attr(rest, "truth")
  gain <- t(as.matrix(maps[[2]]) - as.matrix(maps[[1]]))
  expect_gt(mean(gain[changed > 0]), mean(gain[changed == 0]) + 0.15)
  expect_lt(mean(gain[changed < 0]), mean(gain[changed == 0]) - 0.1)
})
