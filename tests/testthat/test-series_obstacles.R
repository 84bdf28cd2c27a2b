test_that("each series is told what forbids a sentence about it", {
  set.seed(1)
  n <- 400
  chaotic <- coupled_maps(n, 0, 0.1)
  gaps <- replace(chaotic$x, c(5, 80:90), NA)
  x <- cbind(
    clear = chaotic$x, gaps, still = 3, drift = chaotic$x + seq_len(n) / 50,
    round = sin(2 * pi * seq_len(n) / 12), counts = rpois(n, 0.5),
    noise = rnorm(n), linear = as.double(arima.sim(list(ar = 0.9), n)),
    season = 0.3 * cos(seq_len(n) * 2 * pi / 7) + chaotic$y, none = chaotic$y,
    short = replace(chaotic$y, seq_len(n) %% 3 == 0 | seq_len(n) > 200, NA)
  )
  E <- rep(2, ncol(x))
  E[[10]] <- NA
  found <- series_obstacles(x, E, 2, key = random_key())
  expect_identical(found$series, colnames(x))
  expect_identical(found$reason, c(NA, NA, "constant", "drift", "cycle", "counts", "noise",
                                   "linear", NA, "short", "short"))
  expect_identical(is.na(found$said), is.na(found$reason))
  expect_identical(found$as_cause, c(FALSE, FALSE, TRUE, TRUE, TRUE, TRUE, FALSE, FALSE, FALSE,
                                     TRUE, TRUE))
  expect_match(found$said[[4]], "^drift drifts and does not come back to earlier states")
  expect_match(found$said[[8]], "^linear is predicted from its own past .* no better than surrogates")
  expect_match(found$said[[11]], "^only [0-9]+ rows can be used, and a verdict takes 100")
  one <- series_obstacles(unname(x[, 1:2]), 2, 1)
  expect_identical(one$series, c("V1", "V2"))
})

test_that("the skill is that of simplex projection beyond the season", {
  set.seed(2)
  x <- coupled_maps(200, 0, 0.1)$y + rep(c(0, 1, 3, 1), 50)
  x[c(20, 77)] <- NA
  series <- list(value = x, name = "x", E = 3L, number = 1L,
                 traits = series_traits(x, rep(1L, 200)))
  expect_identical(series$traits$period, 4L)
  found <- own_forecasts(series, -2L, 1, 1)
  points <- sapply(c(0, 2, 4), \(lag) c(rep(NA, lag), head(x, 200 - lag)))
  target <- c(series$traits$rest[-1], NA)
  rows <- which(complete.cases(points) & !is.na(target))
  expect_identical(found$rows, rows)
  expect_equal(found$skill(series$traits$rest, rows),
               oracle_cross_map(points, rows, rows, target, 4, 1)[["rho"]])
  expect_identical(found$skill(rep(1, 200) * (x - x + 1), rows), 0)
})

test_that("a short recording has a sentence for each of its series", {
  x <- matrix(runif(60), 20)
  expect_identical(series_obstacles(x, 1, 1)$reason, rep("short", 3))
  expect_identical(nrow(series_obstacles(x[, 0], integer(), 1)), 0L)
  expect_identical(series_obstacles(x[1:5, ], 1, 1)$reason, rep("constant", 3))
})
