neighbours <- function(points, lib, pred, k, exclusion = 0, threads = 1, bits = 0) {
  .Call(r_edm_neighbours, points, as.integer(lib), as.integer(pred),
        list(k = k, exclusion = exclusion, gpus = NULL, threads = threads,
             vector_bits = bits))
}

simplex_c <- function(points, lib, pred, targets, k = ncol(points) + 1, exclusion = 0,
                      threads = 1, bits = 0) {
  .Call(r_edm_simplex, points, as.integer(lib), as.integer(pred), targets,
        list(k = k, exclusion = exclusion, gpus = NULL, threads = threads,
             vector_bits = bits))
}

sweep_c <- function(points, lib, lib_E, pred, pred_E, target, step = 1, exclusion = 0,
                    threads = 1, bits = 0) {
  .Call(r_edm_sweep, points, as.integer(lib), as.integer(lib_E), as.integer(pred),
        as.integer(pred_E), target,
        list(step = step, exclusion = exclusion, gpus = NULL, threads = threads,
             vector_bits = bits, observed = NULL))
}

random_points <- function(rows, dims, values = NULL) {
  x <- if (is.null(values)) rnorm(rows * dims) else sample(values, rows * dims, TRUE) + 0
  matrix(x, rows, dims)
}

random_rows <- function(rows, share) sort(sample(rows, max(1, round(share * rows))))

logistic_map <- function(n, r = 3.8) Reduce(function(x, i) r * x * (1 - x), seq_len(n - 1),
                                            0.4, accumulate = TRUE)

test_that("neighbours are those of the oracle, in its order", {
  withr::local_seed(1)
  for (case in cases(60)) {
    rows <- sample(c(1, 2, 5, 63, 64, 65, 130, 300), 1)
    points <- random_points(rows, sample(c(1, 2, 3, 5, 8, 20), 1))
    lib <- random_rows(rows, runif(1))
    pred <- random_rows(rows, runif(1))
    k <- sample(c(1, 4, 21, 70), 1)
    exclusion <- sample(c(0, 0, 3, 40), 1)
    expect_identical(neighbours(points, lib, pred, k, exclusion),
                     oracle_all_neighbours(points, lib, pred, k, exclusion))
  }
})

test_that("the order of ties is a fixed shuffle of rows", {
  place <- oracle_shuffle(1:10000)
  expect_identical(anyDuplicated(place), 0L)
  expect_true(all(place >= 0 & place < 2^32))
  expect_identical(place[1:3], c(0, 1753845952, 3507691905))
  expect_lt(abs(cor(place, 1:10000)), 0.03)
  expect_lt(abs(cor(place[-1], place[-10000])), 0.03)
})

test_that("ties go to the rows that come next in the shuffle, which goes on at its beginning", {
  points <- matrix(c(1, 0, 1, 5, 1, 0, 1))
  found <- neighbours(points, 1:7, 4, 6)
  order <- order(oracle_rank(1:7, 4))
  expect_identical(found$row, matrix(c(intersect(order, c(1L, 3L, 5L, 7L)), intersect(order, c(2L, 6L))), 1))
  # Among points that are all alike, each is a neighbour about as often as any other.
  alike <- tabulate(neighbours(matrix(0, 3000, 2), 1:1000, 1001:3000, 10)$row, 1000)
  expect_gt(min(alike), 0)
  expect_lt(max(alike), 80)
  withr::local_seed(2)
  for (case in cases(60)) {
    rows <- sample(c(20, 64, 200, 400), 1)
    points <- random_points(rows, sample(c(1, 2, 4, 9), 1), values = 0:sample(3, 1))
    lib <- random_rows(rows, runif(1, 0.3, 1))
    k <- sample(c(1, 3, 10, 50), 1)
    exclusion <- sample(c(0, 2, 30), 1)
    expect_identical(neighbours(points, lib, seq_len(rows), k, exclusion),
                     oracle_all_neighbours(points, lib, seq_len(rows), k, exclusion))
  }
})

test_that("ties are found among thousands of rows, near and far in time", {
  withr::local_seed(4)
  rows <- 9000
  turn <- 0
  for (values in list(0, c(0, 0, 0, 0, 0, 0, 0, 1), 0:1, 0:3)) {
    for (dims in c(1, 4)) {
      points <- random_points(rows, dims, values)
      points[1:3000, 1] <- points[1, 1]
      pred <- c(1, 2, rows, random_rows(rows, 0.002))
      pred <- sort(unique(pred))
      for (exclusion in c(0, 300)) {
        for (k in c(3, 100)) {
          turn <- turn + 1
          for (lib in some_of(list(seq_len(rows), 2000:5000, random_rows(rows, 0.6)), turn)) {
            expect_identical(neighbours(points, lib, pred, k, exclusion),
                             oracle_all_neighbours(points, lib, pred, k, exclusion))
          }
        }
      }
    }
  }
})

test_that("all E find the same ties among thousands of rows", {
  withr::local_seed(5)
  rows <- 6000
  pred <- c(1, 700, 2500, 4999, rows)
  target <- rnorm(rows)
  for (values in list(0, c(0, 0, 0, 0, 1))) {
    points <- random_points(rows, 4, values)
    for (exclusion in c(0, 300)) {
      for (lib in list(seq_len(rows), 2000:3000)) {
        got <- sweep_c(points, lib, rep(4, length(lib)), pred, rep(4, 5), target,
                       exclusion = exclusion)
        for (E in 1:4) {
          want <- simplex_c(points[, 1:E, drop = FALSE], lib, pred, target, E + 1,
                            exclusion)
          slow <- oracle_simplex(points[, 1:E, drop = FALSE], lib, pred, target, E + 1,
                                 exclusion)
          expect_identical(got[, E], want$predictions[, 1])
          expect_equal(got[, E], slow$predictions, tolerance = 1e-12)
        }
      }
    }
  }
})

test_that("rows that are all the same are told apart by the shuffle", {
  points <- matrix(7, 500, 3)
  expect_identical(neighbours(points, 1:500, 1:500, 5),
                   oracle_all_neighbours(points, 1:500, 1:500, 5))
})

test_that("a trajectory's neighbours are found in blocks that few boxes reach", {
  points <- oracle_embed(logistic_map(3000), 3)
  rows <- 3:3000
  pred <- c(3:40, 1500:1540, 2990:3000)
  expect_identical(neighbours(points, rows, pred, 4),
                   oracle_all_neighbours(points, rows, pred, 4))
  expect_identical(neighbours(points, 3:1400, pred, 4, exclusion = 100),
                   oracle_all_neighbours(points, 3:1400, pred, 4, exclusion = 100))
})

test_that("there are fewer than k neighbours in a small library", {
  points <- matrix(c(0, 1, 3, 6))
  found <- neighbours(points, 1:4, 1:4, 10)
  expect_identical(found, oracle_all_neighbours(points, 1:4, 1:4, 10))
  expect_identical(rowSums(!is.na(found$row)), rep(3, 4))
  expect_true(all(is.na(neighbours(points, 2L, 2L, 2)$row)))
  expect_true(all(is.na(neighbours(points, integer(), 1:4, 2)$distance)))
  expect_identical(dim(neighbours(points, 1:4, integer(), 2)$row), c(0L, 2L))
  expect_identical(neighbours(points, 1:4, 1:4, 2, exclusion = 3)$row,
                   matrix(NA_integer_, 4, 2))
})

test_that("rows that are not in use may be missing", {
  points <- random_points(100, 2)
  points[c(10, 50), ] <- NA
  rows <- setdiff(1:100, c(10, 50))
  expect_identical(neighbours(points, rows, rows, 3),
                   oracle_all_neighbours(points, rows, rows, 3))
})

test_that("every kind of processor and number of threads finds the same", {
  withr::local_seed(3)
  for (dims in c(1, 3, 7, 20)) {
    points <- random_points(700, dims)
    points[300:600, ] <- round(points[300:600, ], 1)
    targets <- matrix(rnorm(1400), 700)
    every <- seq_len(700)
    reach <- pmin(every, dims)
    found <- neighbours(points, every, every, dims + 1)
    predicted <- simplex_c(points, every, every, targets)
    swept <- sweep_c(points, every, reach, every, reach, targets[, 1])
    for (bits in c(1, 256, 512)) {
      expect_identical(neighbours(points, every, every, dims + 1, bits = bits), found)
      expect_identical(simplex_c(points, every, every, targets, bits = bits), predicted)
      expect_identical(sweep_c(points, every, reach, every, reach, targets[, 1],
                               bits = bits), swept)
    }
    expect_identical(neighbours(points, every, every, dims + 1, threads = 2), found)
    expect_identical(simplex_c(points, every, every, targets, threads = 2), predicted)
    expect_identical(sweep_c(points, every, reach, every, reach, targets[, 1],
                             threads = 2), swept)
  }
})

test_that("simplex projection is the oracle's, for several targets at once", {
  withr::local_seed(4)
  for (case in cases(20)) {
    points <- random_points(200, sample(6, 1), if (case %% 2) 0:4)
    targets <- matrix(rnorm(600), 200)
    targets[sample(600, 20)] <- NA
    lib <- random_rows(200, runif(1, 0.1, 1))
    pred <- random_rows(200, runif(1, 0.1, 1))
    k <- sample(c(1, 4, 9), 1)
    found <- simplex_c(points, lib, pred, targets, k, exclusion = 2)
    for (j in 1:3) {
      expected <- oracle_simplex(points, lib, pred, targets[, j], k, exclusion = 2)
      expect_equal(found$predictions[, j], expected$predictions, tolerance = 1e-12)
      expect_equal(found$variance[, j], expected$variance, tolerance = 1e-12)
    }
    expect_false(any(is.nan(unlist(found))))
  }
})

test_that("a neighbour at distance 0 decides alone", {
  points <- matrix(c(0, 0, 1, 2))
  found <- simplex_c(points, 1:4, 1, c(10, 20, 30, 40), 3)
  expect_equal(found$predictions[[1]], 20)
})

test_that("there is no prediction without a neighbour or without its target", {
  points <- matrix(c(0, 1, 2, 3))
  found <- simplex_c(points, 1:2, 1:4, c(1, NA, 3, 4), 2)
  expect_identical(found$predictions, matrix(c(NA, 1, NA, NA), 4))
  expect_identical(found$variance, matrix(c(NA, 0, NA, NA), 4))
})

test_that("the sweep is one simplex projection for each E", {
  withr::local_seed(5)
  for (case in cases(12)) {
    rows <- sample(c(40, 150, 500), 1)
    E_max <- sample(c(1, 4, 12), 1)
    tau <- sample(c(-2, -1, 1), 1)
    series <- if (case %% 3) rnorm(rows) else sample(3, rows, TRUE) + 0
    series[sample(rows, 3)] <- NA
    points <- oracle_embed(series, E_max, tau)
    reach <- rowSums(t(apply(!is.na(points), 1, cumprod)))
    if (E_max == 1) reach <- as.numeric(!is.na(points))
    target <- c(series[-1], NA)
    lib <- random_rows(rows, 0.7)
    pred <- random_rows(rows, 0.7)
    found <- sweep_c(points, lib, reach[lib], pred, reach[pred], target, exclusion = 1)
    expect_identical(dim(found), c(length(pred), as.integer(E_max)))
    for (E in seq_len(E_max)) {
      used <- pred[reach[pred] >= E]
      one <- simplex_c(points[, seq_len(E), drop = FALSE], lib[reach[lib] >= E], used,
                       target, E + 1, exclusion = 1)
      expect_identical(found[reach[pred] >= E, E], one$predictions[, 1])
      expect_true(all(is.na(found[reach[pred] < E, E])))
    }
    expect_false(any(is.nan(found)))
  }
})

test_that("a step of the sweep can add several coordinates", {
  withr::local_seed(6)
  points <- random_points(200, 6)
  every <- 1:200
  target <- rnorm(200)
  found <- sweep_c(points, every, rep(3, 200), every, rep(3, 200), target, step = 2)
  for (E in 1:3) {
    one <- simplex_c(points[, seq_len(2 * E)], every, every, target, E + 1)
    expect_identical(found[, E], one$predictions[, 1])
  }
})

test_that("no call of C can go wrong on what R's side has missed", {
  points <- matrix(c(1, 2, NA, 4))
  wrong <- "cannot be used"
  expect_error(neighbours(points, 1:4, 1:2, 1), wrong)
  expect_error(neighbours(points, 1:2, 3L, 1), wrong)
  expect_error(neighbours(points, c(2L, 1L), 1L, 1), wrong)
  expect_error(neighbours(points, c(1L, 5L), 1L, 1), wrong)
  expect_error(neighbours(points, c(1L, NA), 1L, 1), wrong)
  expect_error(neighbours(points, 1:2, 1:2, 0), "option `k` that is wrong")
  expect_error(neighbours(points, 1:2, 1:2, NA), "option `k` that is wrong")
  expect_error(neighbours(1:4, 1:2, 1:2, 1), wrong)
  expect_error(simplex_c(points, 1:2, 1:2, c(1, 2)), wrong)
  expect_error(sweep_c(points, 1:2, 1L, 1:2, c(1, 1), c(1, 2, 3, 4)), wrong)
  expect_error(sweep_c(points, 1:2, c(1, 2), 1:2, c(1, 1), c(1, 2, 3, 4)), wrong)
  expect_error(sweep_c(points, 1:3, c(1, 1, 1), 1L, 1L, c(1, 2, 3, 4)), wrong)
  expect_error(sweep_c(points, 1L, 1L, 1L, 1L, c(1, 2)), wrong)
  expect_error(sweep_c(points, 1L, 1L, 1L, 1L, c(1, 2, 3, 4), step = 2), "option `step`")
})
