# The GPU draws the libraries and finds the neighbours that the CPU does.

# rho of predictions that differ by little more than rounding is rounding itself.
expect_same_skill <- function(gpu, cpu, info, tolerance = 1e-10) {
  for (what in c("rho", "MAE", "RMSE")) {
    expect_identical(dim(gpu[[what]]), dim(cpu[[what]]), info = info)
    expect_identical(is.na(gpu[[what]]), is.na(cpu[[what]]), info = paste(what, info))
    scale <- if (what == "rho") 1 else max(abs(cpu[[what]]), 1e-300, na.rm = TRUE)
    off <- max(abs(gpu[[what]] - cpu[[what]]), 0, na.rm = TRUE) / scale
    expect_lte(off, tolerance, label = paste(what, "of case", info))
  }
}

on_both <- function(..., gpus = 0L, info = NULL, tolerance = 1e-10) {
  cpu <- map_in_c(..., threads = 2)
  gpu <- map_in_c(..., threads = 2, gpus = gpus)
  expect_same_skill(gpu, cpu, info, tolerance)
  gpu
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- coupled_maps(60)
  for (map in list(\() ccm(x, "x", "y", E = 2, device = "gpu"),
                   \() ccm_lag(x, "x", "y", E = 2, device = "gpu"))) {
    condition <- expect_error(map(), class = "synfire_error_device")
    expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
  }
  expect_message(ccm(x, "x", "y", E = 2, device = "auto"),
                 "Using the CPU: there is no GPU", class = "synfire_message_device")
  expect_error(ccm(x, "x", "y", E = 2, gpus = 1), "gpus", class = "synfire_error_argument")
})

test_that("small random problems have the skill that the CPU finds", {
  skip_without_gpu()
  for (seed in 1:80) {
    case <- random_case(seed)
    n <- length(case$lib)
    sizes <- unique(sort(c(sample(n, 2), 1, n)))
    targets <- cbind(case$target, rev(case$target), 3)
    for (samples in c(1, 3, 40)) {
      with(case, on_both(points, lib, pred, targets, sizes, k, exclusion, samples,
                         seed %% 2, info = paste(seed, samples)))
    }
  }
})

# All ways to find neighbours: short and long lists, their ends, libraries by themselves.
test_that("libraries of all sizes of a long series", {
  skip_without_gpu()
  set.seed(4)
  n <- 9001
  series <- list(
    noise = as.double(arima.sim(list(ar = 0.7), n)),
    counts = as.double(rpois(n, 0.3)),
    constant = rep(2, n),
    gaps = replace(rnorm(n), sample(n, n / 5), NA),
    tiny = 1 + 1e-13 * rnorm(n)
  )
  target <- cbind(rnorm(n), as.double(rpois(n, 0.2)), 1, replace(rnorm(n), 1:3000, NA))
  sizes <- c(8, 30, 150, 900, 4000, 8900)
  for (kind in names(series)) {
    x <- series[[kind]]
    points <- cbind(x, c(NA, head(x, -1)), c(NA, NA, head(x, -2)))
    lib <- which(!is.na(rowSums(points)))
    sizes <- unique(pmin(c(sizes, length(lib)), length(lib)))
    for (k in c(1, 4, 40)) {
      for (samples in c(2, 70)) {
        if (samples == 70 && k == 40) next
        exclusion <- c(0, 7, 600)[[1 + k %% 3]]
        # Where neighbours are equally far but for 1e-7, so may be all predictions.
        on_both(points, lib, lib, target, sizes, k, exclusion, samples,
                info = paste(kind, k, samples), tolerance = if (kind == "tiny") 1e-7 else 1e-10)
      }
    }
  }
})

test_that("small libraries of many rows, which are searched one by one", {
  skip_without_gpu()
  set.seed(6)
  n <- 30000
  for (kind in c("noise", "counts", "constant")) {
    x <- switch(kind, noise = cumsum(rnorm(n)), counts = as.double(rpois(n, 0.2)),
                constant = rep(1, n))
    for (dims in c(1, 3, 11)) {
      points <- sapply(seq_len(dims) - 1, \(lag) c(rep(NA, lag), head(x, n - lag)))
      lib <- dims:n
      k <- c(2, dims + 1, 33)[[1 + dims %% 3]]
      on_both(points, lib, lib[seq(1, length(lib), 3)], rnorm(n), c(k + 1, 130, 700), k,
              exclusion = c(0, 4, 5000)[[1 + dims %% 3]], samples = 6,
              info = paste(kind, dims))
    }
  }
})

test_that("any number of GPUs gives the same", {
  skip_without_gpu()
  set.seed(5)
  n <- 20000
  x <- as.double(arima.sim(list(ar = 0.9), n))
  points <- cbind(x, c(NA, head(x, -1)))
  run <- function(gpus) {
    map_in_c(points, 2:n, 2:n, cbind(x + rnorm(n), x^2), c(30, 500, 15000, n - 1), 3,
             gpus = gpus)
  }
  set.seed(1)
  one <- run(0L)
  set.seed(1)
  expect_identical(run(c(0L, 0L)), one)
  skip_if(nrow(synfire_sitrep(test_devices = FALSE)$devices) < 2L, "there is one GPU")
  set.seed(1)
  expect_identical(run(0:1), one)
})

test_that("all arguments of ccm() and ccm_lag() in any combination", {
  skip_without_gpu()
  set.seed(9)
  for (case in 1:60) {
    n <- sample(c(40, 90, 300), 1)
    x <- coupled_maps(n, to_y = 0.1)
    x$z <- sample(c(0, 0, 0, 1, 2), n, TRUE)
    if (case %% 3 == 0) x$y[sample(n, 4)] <- NA
    columns <- if (case %% 5 == 0) c("x", "z") else sample(c("x", "z"), 1)
    args <- list(x, columns, "y", E = sample(1:3, 1), tau = sample(c(-2, -1, 1), 1),
                 exclusion_radius = sample(c(0, 0, 3), 1), both = case %% 4 > 0,
                 samples = sample(c(1, 5, 100), 1))
    if (case %% 2) args$segments <- rep(1:2, length.out = n) |> sort()
    if (case %% 7 == 0) args$valid_lib <- runif(n) < 0.9
    if (case %% 6 == 0) args$knn <- 6
    both <- lapply(c("cpu", "gpu"), function(device) {
      set.seed(case)
      table <- do.call(ccm, c(args, list(Tp = sample(-3:3, 1), device = device,
                                         lib_sizes = c(12, 20, Inf))))
      lags <- do.call(ccm_lag, c(args, list(Tp = -3:3, device = device, lib_size = 13)))
      list(attr(table, "samples"), as.data.frame(table), as.data.frame(lags))
    })
    expect_equal(both[[2]], both[[1]], tolerance = 1e-9, info = case)
  }
})

test_that("surrogates are mapped by the same neighbours", {
  skip_without_gpu()
  x <- coupled_maps(200, to_y = 0.1)
  found <- lapply(c("cpu", "gpu"), function(device) {
    set.seed(2)
    attr(ccm(x, "y", "x", E = 2, lib_sizes = c(20, 100, Inf), samples = 10,
             n_surrogates = 30, device = device), "surrogates")
  })
  expect_equal(found[[2]], found[[1]], tolerance = 1e-9)
})
