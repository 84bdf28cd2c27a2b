test_that("bad arguments of mine_episodes() are named", {
  skip_on_cran()
  x <- spike_trains(c(0.001, 0.004, 0.020, 0.024), c("A", "B", "A", "B"), resolution = 1e-3)
  ok <- c(0, 0.005)
  expect_snapshot(error = TRUE, {
    mine_episodes()
    mine_episodes(x, 2)
    mine_episodes(x, 2, c(0.005, 0))
    mine_episodes(x, 2, c(0.005, 0.005))
    mine_episodes(x, 2, c(-0.005, 0.005))
    mine_episodes(x, 2, c(NA, 0.005))
    mine_episodes(x, 2, c(0, Inf))
    mine_episodes(x, 2, c(0, 0.0015))
    mine_episodes(x, 2, rbind(ok, c(0.010, 0.005)))
    mine_episodes(x, 2, rbind(ok, ok))
    mine_episodes(x, 2, c(0, 1e16))
    mine_episodes(x, 2, 0.005)
    mine_episodes(x, 2, c(0, 0.005, 0.010))
    mine_episodes(x, 2, matrix(0, 2, 3))
    mine_episodes(x, 2, matrix(0, 0, 2))
    mine_episodes(x, 2, "0-5 ms")
    mine_episodes(x, 2, data.frame(low = "a", high = "b"))
    mine_episodes(x, 2, list(0, 0.005))
    mine_episodes(x, intervals = ok)
    mine_episodes(x, 2, ok, min_support = 0.1)
    mine_episodes(x, 0, ok)
    mine_episodes(x, -1, ok)
    mine_episodes(x, NA, ok)
    mine_episodes(x, 2.5, ok)
    mine_episodes(x, c(1, 2), ok)
    mine_episodes(x, "two", ok)
    mine_episodes(x, Inf, ok)
    mine_episodes(x, intervals = ok, min_support = 0)
    mine_episodes(x, intervals = ok, min_support = 1.1)
    mine_episodes(x, intervals = ok, min_support = NA)
    mine_episodes(x, 2, ok, max_size = 0)
    mine_episodes(x, 2, ok, max_size = 1.5)
    mine_episodes(x, 2, ok, max_size = NA)
    mine_episodes(x, 2, ok, units = "Z")
    mine_episodes(x, 2, ok, units = character())
    mine_episodes(x, 2, ok, units = NA)
    mine_episodes(x, 2, ok, target = "all")
    mine_episodes(x, 2, ok, top = 0)
    mine_episodes(x, 2, ok, engine = "gpu")
    mine_episodes(x, 2, ok, threads = 0)
    mine_episodes(x, 2, ok, threads = "two")
    mine_episodes(x, 2, ok, max_memory = 10)
    mine_episodes(x, 2, ok, max_memory = NA)
  })
})

test_that("what is no recording is refused", {
  expect_snapshot(error = TRUE, {
    mine_episodes(NULL, 2, c(0, 0.005))
    mine_episodes(1:10, 2, c(0, 0.005))
    mine_episodes("recording.csv", 2, c(0, 0.005))
    mine_episodes(data.frame(a = 1, b = 2), 2, c(0, 0.005))
  })
  # What as_spike_trains() takes is a recording.
  plain <- data.frame(time = c(0.001, 0.004, 0.020, 0.024), unit = c("A", "B", "A", "B"))
  expect_identical(nrow(mine_episodes(plain, 2, c(0, 0.005))), 3L)
})

test_that("bad episodes are named", {
  expect_snapshot(error = TRUE, {
    episode()
    episode(character())
    episode(c("A", NA), 0, 0.005)
    episode(list("A"), 0, 0.005)
    episode(c("A", "B"))
    episode(c("A", "B"), 0)
    episode(c("A", "B"), 0.005, 0)
    episode(c("A", "B"), -1, 0.005)
    episode(c("A", "B", "C"), 0, c(0.005, 0.005, 0.005))
    episode(c("A", "B"), NA, 0.005)
    episode(c("A", "B"), "0", 0.005)
    episode(c("A", "B"), 0, Inf)
    c(episode("A"), "B")
  })
})

test_that("episodes a recording cannot hold are refused, silent units counted", {
  x <- spike_trains(c(0.001, 0.004), c("A", "B"), resolution = 1e-3)
  expect_snapshot(error = TRUE, {
    count_episodes(x)
    count_episodes(x, "A -> B")
    count_episodes(x, data.frame(units = "A"))
    count_episodes(x, episode(c("A", "Z"), 0, 0.005))
    count_episodes(x, episode(c("A", "B"), 0, 0.0005))
    count_episodes(x, episode(c("A", "B"), 0, 0.005), threads = 0)
    count_episodes(1:3, episode("A"))
  })
  silent <- spike_trains(c(0.001, 0.004), factor(c("A", "B"), c("A", "B", "C")))
  got <- count_episodes(silent, c(episode("C"), episode(c("A", "C"), 0, 0.005)))
  expect_identical(got$count, c(0L, 0L))
  expect_identical(got$support, c(0, 0))
})

test_that("every error about an argument has the class to catch", {
  x <- spike_trains(c(0.001, 0.004), c("A", "B"))
  for (code in expression(
    mine_episodes(x, 2, c(0.005, 0)), mine_episodes(x, 0, c(0, 0.005)),
    mine_episodes(x, 2, c(0, 0.005), units = "Z"), mine_episodes(1:3, 2, c(0, 0.005)),
    mine_episodes(x, 2, c(0, 5e-7)), episode(c("A", "B"), 1, 0), count_episodes(x, 1),
    count_episodes(x, episode("Z")), episode_occurrences(x, 1)
  )) {
    expect_error(eval(code), class = "synfire_error_argument", label = deparse(code))
  }
})

test_that("intervals that overlap or contain each other are mined each for itself", {
  x <- spike_trains(c(0, 4, 10, 14, 20, 24) / 1000, rep(c("A", "B"), 3), resolution = 1e-3)
  found <- mine_episodes(x, 3, rbind(c(0, 0.005), c(0.003, 0.008), c(0, 0.008)), max_size = 2)
  expect_identical(found$episode, c("A", "B", "A -(0,0.005]-> B", "A -(0,0.008]-> B",
                                    "A -(0.003,0.008]-> B"))
  expect_identical(found$count, rep(3L, 5))
})

test_that("bounds that only rounding keeps off a tick are taken as meant", {
  x <- spike_trains(c(0, 0.1, 0.3, 0.4), c("A", "B", "A", "B"), resolution = 1e-3)
  found <- mine_episodes(x, 2, c(0.3 - 0.3, 0.3 - 0.2))
  expect_identical(found$count[found$size == 2L], 2L)
  found <- mine_episodes(x, 2, c(0.3 - 0.2, 0.2))
  expect_identical(nrow(found[found$size == 2L, ]), 0L)
})
