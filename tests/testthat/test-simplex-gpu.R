# Neighbours on a GPU are the CPU's, and so are predictions except for their last digits.

near_on <- function(gpus, points, lib, pred, k, exclusion = 0) {
  .Call(r_edm_neighbours, points, as.integer(lib), as.integer(pred),
        list(k = k, exclusion = exclusion, gpus = gpus, threads = 2))
}

expect_same_neighbours <- function(points, lib, pred, k, exclusion = 0, gpus = 0L) {
  expect_identical(near_on(gpus, points, lib, pred, k, exclusion),
                   near_on(NULL, points, lib, pred, k, exclusion))
}

# Tables of predictions from both: the same rows, and numbers to within 1e-12 of the series.
expect_same_forecast <- function(call, gpus = NULL) {
  gpu <- call(device = "gpu", gpus = gpus)
  cpu <- call(device = "cpu", gpus = NULL)
  expect_identical(is.na(gpu$Predictions), is.na(cpu$Predictions))
  size <- max(1e-300, abs(cpu$Observations), na.rm = TRUE)
  expect_equal(gpu$Predictions / size, cpu$Predictions / size, tolerance = 1e-12)
  expect_equal(gpu$Pred_Variance / size^2, cpu$Pred_Variance / size^2, tolerance = 1e-12)
}

delayed <- function(x, E, tau = 1) {
  sapply(seq_len(E) - 1, \(d) c(rep(NA, d * tau), head(x, length(x) - d * tau)))
}

# Series whose neighbours are hard to tell from others, or easy.
hard_series <- list(
  noise = \(n) rnorm(n),
  logistic = \(n) Reduce(\(x, i) 3.8 * x * (1 - x), seq_len(n - 1), 0.4, accumulate = TRUE),
  sine = \(n) sin(seq_len(n) / 7),
  repeated = \(n) rep_len(rnorm(50), n),
  walk = \(n) cumsum(rnorm(n)),
  trend = \(n) seq_len(n) + rnorm(n),
  counts = \(n) rpois(n, 0.2) + 0,
  constant = \(n) rep(0.1, n),
  zeros = \(n) rnorm(n) * (runif(n) < 0.05),
  tenths = \(n) sample(0:3, n, TRUE) / 10,
  outlier = \(n) replace(rnorm(n), n %/% 2, 1e12),
  offset = \(n) 1e8 + rnorm(n),
  tiny = \(n) rnorm(n) * 1e-130,
  huge = \(n) rnorm(n) * 1e130
)

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- data.frame(time = 1:60, x = sin(1:60 / 3), y = cos(1:60 / 5))
  calls <- list(\(...) simplex(x, "x", E = 2, ...), \(...) embed_dimension(x, "x", ...),
                \(...) predict_interval(x, "x", E = 2, ...),
                \(...) predict_exclusion_radius(x, "x", E = 2, ...),
                \(...) multiview(x, c("x", "y"), D = 1, ...))
  for (call in calls) {
    condition <- expect_error(call(device = "gpu"), class = "synfire_error_device")
    expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
    expect_message(call(device = "auto"), "Using the CPU: there is no GPU",
                   class = "synfire_message_device")
    expect_error(call(gpus = 1), "`gpus` must be NULL", class = "synfire_error_argument")
  }
})

test_that("neighbours are those of the CPU, whatever the series and the library", {
  skip_without_gpu()
  withr::local_seed(1)
  for (name in names(hard_series)) {
    for (case in 1:3) {
      n <- c(sample(c(3, 64, 700), 1), sample(4100:6000, 1), sample(7000:12000, 1))[[case]]
      E <- if (n < 10) 1 else sample(c(1, 2, 5, 20, 24, 25, 50), 1)
      points <- delayed(hard_series[[name]](n), E)
      all <- which(complete.cases(points))
      lib <- switch(sample(4, 1), all, sort(sample(all, length(all) %/% 2 + 1)),
                    all[all <= n / 2 + E], all[all > n / 4])
      pred <- switch(sample(3, 1), all, sort(sample(all, length(all) %/% 10 + 1)), all[[1]])
      k <- min(length(lib), sample(c(1, 2, E + 1, 30, 128, 129), 1))
      expect_same_neighbours(points, lib, pred, k, sample(c(0, 0, 5, 300, 2500), 1))
    }
  }
})

test_that("libraries may be one row, many neighbours all rows", {
  skip_without_gpu()
  withr::local_seed(2)
  points <- delayed(rnorm(5000), 3)
  expect_same_neighbours(points, 77, 3:5000, 1)
  expect_same_neighbours(points, 3:5000, 5000, 4997)
  expect_same_neighbours(points, 3:4997, c(3, 4000, 5000), 700, 20)
  expect_same_neighbours(points, 3:5000, 3:5000, 4, 6000)
  expect_same_neighbours(matrix(rnorm(9 * 300), 9), 1:9, 1:9, 20)
  expect_same_neighbours(matrix(rnorm(4500 * 300), 4500), 1:4500, 1:40, 5)
})

test_that("forecasts are the CPU's, also of several columns, segments and missing values", {
  skip_without_gpu()
  withr::local_seed(3)
  n <- 6000
  x <- data.frame(time = seq_len(n), x = sin(seq_len(n) / 9) + rnorm(n, sd = 0.2),
                  y = rpois(n, 0.3), trial = rep(1:6, each = n / 6))
  x$x[sample(n, 30)] <- NA
  expect_same_forecast(\(...) simplex(x, "x", E = 4, ...))
  expect_same_forecast(\(...) simplex(x, "x", "y", E = 4, Tp = -3, ...), c(1, 1))
  expect_same_forecast(\(...) simplex(x, c("x", "y"), "x", E = 2, segments = "trial",
                                      exclusion_radius = 9, knn = 30, ...))
  expect_same_forecast(\(...) simplex(x, "y", E = 3, lib = c(1, 5000), pred = c(5001, 6000),
                                      ...))
  expect_same_forecast(\(...) simplex(x[1:300, ], "y", E = 3, generate = 5, ...))
})

test_that("sweeps are the CPU's, of few rows and of many", {
  skip_without_gpu()
  withr::local_seed(4)
  for (n in c(200, 6000)) {
    x <- data.frame(time = seq_len(n), x = sin(seq_len(n) / 9) + rnorm(n, sd = 0.2),
                    y = rpois(n, 0.3))
    x$x[sample(n, 20)] <- NA
    for (call in list(\(...) embed_dimension(x, "x", E_max = 20, ...),
                      \(...) embed_dimension(x, "y", E_max = 7, exclusion_radius = 3, ...),
                      \(...) embed_dimension(x, "x", E_max = 5, validation = "split", ...),
                      \(...) predict_interval(x, "x", E = 3, Tp_max = 4, ...),
                      \(...) predict_exclusion_radius(x, "x", E = 3,
                                                      exclusion_radius = c(0, 9), ...))) {
      cpu <- call()
      expect_equal(as.data.frame(call(device = "gpu")), as.data.frame(cpu), tolerance = 1e-9)
      expect_equal(as.data.frame(call(device = "gpu", gpus = c(1, 1))), as.data.frame(cpu),
                   tolerance = 1e-9)
    }
  }
})

test_that("views are the CPU's", {
  skip_without_gpu()
  withr::local_seed(5)
  n <- 400
  x <- data.frame(time = 1:n, x = cumsum(rnorm(n)), y = rnorm(n), z = rpois(n, 1), w = 1)
  x$y[sample(n, 9)] <- NA
  for (more in list(list(), list(knn = 7, train_lib = FALSE), list(exclusion_radius = 4))) {
    call <- \(...) do.call(multiview, c(list(x, c("x", "y", "z", "w"), "x", D = 3, E = 2,
                                             ...), more))
    cpu <- call()
    gpu <- call(device = "gpu")
    expect_equal(gpu$view, cpu$view, tolerance = 1e-9)
    expect_equal(as.data.frame(gpu), as.data.frame(cpu), tolerance = 1e-9)
  }
})
