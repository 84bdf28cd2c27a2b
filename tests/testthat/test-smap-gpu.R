# S-maps on a GPU against those on the CPU: predictions, variance, coefficients and singular
# values agree to 1e-7, as the CPU's own two ways do.

on_cpu_and_gpu <- function(points, lib, pred, target, theta, ..., local = TRUE, gpus = 0L) {
  fit <- function(gpus) {
    options <- utils::modifyList(
      list(k = max(length(lib) - 1, 1), exclusion = 0, ridge = 0, threads = 2), list(...)
    )
    called_smap(points, lib, pred, target, theta, local, c(options, list(gpus = gpus)))
  }
  list(cpu = fit(NULL), gpu = fit(gpus))
}

# Coefficients and singular values only of rows whose condition says that two ways must agree.
expect_same_fits <- function(both, info = NULL, tolerance = 1e-7) {
  cpu <- both$cpu
  gpu <- both$gpu
  parts <- names(Filter(Negate(is.null), cpu))
  testthat::expect_named(Filter(Negate(is.null), gpu), parts)
  for (part in parts) {
    testthat::expect_identical(dim(gpu[[part]]), dim(cpu[[part]]), info = info)
    testthat::expect_identical(is.na(gpu[[part]]), is.na(cpu[[part]]), info = info)
    scale <- max(1, abs(cpu[[part]]), na.rm = TRUE)
    off <- max(0, abs(gpu[[part]] - cpu[[part]]), na.rm = TRUE) / scale
    testthat::expect_lt(off, tolerance, label = paste(part, "of", info))
  }
}

ar <- function(n, seed = 7) {
  set.seed(seed)
  as.double(stats::arima.sim(list(ar = c(0.6, -0.3)), n))
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- data.frame(time = 1:60, x = ar(60))
  for (call in list(\() smap(x, "x", E = 2, device = "gpu"),
                    \() predict_nonlinear(x, "x", E = 2, device = "gpu"))) {
    condition <- expect_error(call(), class = "synfire_error_device")
    expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
  }
  expect_message(smap(x, "x", E = 2, device = "auto"), "Using the CPU: there is no GPU",
                 class = "synfire_message_device")
  expect_error(smap(x, "x", E = 2, gpus = 1), "gpus", class = "synfire_error_argument")
  expect_error(smap(x, "x", E = 2, device = "abacus"), "device",
               class = "synfire_error_argument")
})

test_that("any number of coordinates, and libraries of all lengths", {
  skip_without_gpu()
  x <- ar(1200)
  y <- c(x[-1], NA)
  for (E in c(1:9, 13, 14, 15, 20, 21, 22, 31, 45, 101)) {
    points <- oracle_embed(x, E)
    n <- max(500, 3 * E)
    expect_same_fits(on_cpu_and_gpu(points, E:n, E:1200, y, c(0, 0.5, 3)),
                     paste("E", E))
  }
  points <- oracle_embed(x, 3)
  for (last in c(10, 11, 17, 18, 33, 34, 66, 67, 129, 130, 131, 258, 1000)) {
    expect_same_fits(on_cpu_and_gpu(points, 3:last, c(3, 5, 300, 600), y, c(0, 4)),
                     paste("library to", last))
  }
})

test_that("rows that are left out, neighbours, ridge, gaps and columns cross", {
  skip_without_gpu()
  set.seed(3)
  n <- 700
  x <- ar(n)
  for (case in 1:60) {
    E <- sample(1:6, 1)
    points <- oracle_embed(x, E)
    y <- c(x[-1], NA)
    if (case %% 3 == 0) y[sample(n, n / 4)] <- NA
    lib <- sort(sample(E:n, sample(c(30, 200, 500), 1)))
    pred <- sort(sample(E:n, sample(c(1, 9, 300), 1)))
    k <- sample(c(length(lib), length(lib) - 1, 25, length(lib) %/% 2), 1)
    expect_same_fits(
      on_cpu_and_gpu(points, lib, pred, y, sample(c(0, 0.1, 1, 4, 9), 3), k = k,
                     exclusion = sample(c(0, 0, 3, 40, 690), 1),
                     ridge = sample(c(0, 0, 0.3), 1), local = case %% 2 == 0),
      paste("case", case)
    )
  }
})

test_that("what normal equations do not give is made again on the host", {
  skip_without_gpu()
  n <- 600
  t <- seq_len(n)
  smooth <- sin(t / 20) + 0.5 * sin(t / 8.7)
  set.seed(2)
  series <- list(constant = rep(4, n), smooth = smooth, counts = as.double(rpois(n, 0.2)),
                 far = ar(n) + 1e7, tiny = 1e-9 * ar(n), huge = 1e150 * ar(n),
                 spike = replace(ar(n), 300, 1e8))
  for (name in names(series)) {
    x <- series[[name]]
    scale <- if (name == "huge") 1e150 else 1
    points <- oracle_embed(x, 4)
    both <- on_cpu_and_gpu(points / scale, 4:(n - 1), 4:n, c(x[-1], NA) / scale, c(0, 2, 8))
    for (place in c("cpu", "gpu")) {
      # The condition decides how well coefficients are known; predictions are.
      well <- both$cpu$singular[, 1, ] < 1e4 * both$cpu$singular[, 5, ]
      both[[place]]$coefficients <- both[[place]]$coefficients[, 1, ] * well
    }
    expect_same_fits(both, name)
  }
  huge <- on_cpu_and_gpu(oracle_embed(series$huge, 2), 2:(n - 1), 2:n, c(x[-1], NA), 1,
                         local = FALSE)
  expect_identical(is.na(huge$gpu$predictions), is.na(huge$cpu$predictions))
})

test_that("ties of the farthest neighbour, and neighbours without targets", {
  skip_without_gpu()
  x <- rep(c(0, 1, 3, 1), 60)
  points <- oracle_embed(x, 2)
  y <- c(x[-1], NA) + 1e-3 * seq_along(x)
  # Rows after the library are predicted: the farthest of all is left out.
  expect_same_fits(on_cpu_and_gpu(points, 2:180, 181:240, y, c(0, 1, 3)), "ties")
  y[100:170] <- NA
  expect_same_fits(on_cpu_and_gpu(points, 2:180, 100:240, y, c(0, 1, 3)), "gaps")
  nothing <- on_cpu_and_gpu(points, 2:180, 181:240, rep(NA_real_, 240), c(0, 2))
  expect_true(all(is.na(nothing$gpu$predictions)))
  expect_same_fits(nothing, "no target")
  expect_same_fits(on_cpu_and_gpu(points, 2:180, 2:180, y, 1, exclusion = 300), "nobody")
})

test_that("several parts and several GPUs give what one gives", {
  skip_without_gpu()
  x <- ar(9000)
  points <- oracle_embed(x, 3)
  y <- c(x[-1], NA)
  both <- on_cpu_and_gpu(points, 3:8999, 3:9000, y, c(0.5, 3))
  expect_same_fits(both, "9,000 rows")
  devices <- seq_len(nrow(synfire_sitrep(test_devices = FALSE)$devices)) - 1L
  shared <- on_cpu_and_gpu(points, 3:8999, 3:9000, y, c(0.5, 3), gpus = rep(devices, 2))
  expect_same_fits(list(cpu = both$gpu, gpu = shared$gpu), "all GPUs, twice", 1e-9)
})

test_that("smap() and predict_nonlinear() give the same on both devices", {
  skip_without_gpu()
  x <- data.frame(time = 1:500, x = ar(500), y = ar(500, 8))
  x$x[c(77, 200)] <- NA
  calls <- list(
    \(device) smap(x, "x", E = 3, theta = 2, device = device),
    \(device) smap(x, c("x", "y"), "y", theta = 1, embedded = TRUE, ridge = 0.1,
                   exclusion_radius = 4, device = device),
    \(device) smap(x, "y", E = 2, knn = 30, theta = 4, device = device),
    \(device) smap(x, "y", E = 2, theta = 4, generate = 20, device = device),
    \(device) predict_nonlinear(x, "y", E = 4, device = device)
  )
  plain <- function(found) lapply(unclass(found), \(part) {
    if (is.list(part)) lapply(part, as.double) else as.double(part)
  })
  for (call in calls) expect_equal(plain(call("gpu")), plain(call("cpu")), tolerance = 1e-7)
})
