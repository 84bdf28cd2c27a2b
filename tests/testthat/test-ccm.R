test_that("each library's skill is that of the slow oracle", {
  skip_on_cran()
  for (seed in cases(60)) {
    case <- random_case(seed)
    n <- length(case$lib)
    sizes <- unique(sort(c(sample(n, 2), 1, n)))
    for (direction in 0:1) {
      got <- with(case, map_in_c(points, lib, pred, target, sizes, k, exclusion,
                                 direction = direction))
      of <- data.frame(size = c(rep(sizes[sizes < n], each = 3), n),
                       sample = c(rep(1:3, sum(sizes < n)), 1))
      want <- vapply(seq_len(nrow(of)), function(i) {
        library <- oracle_library(case$lib, of$size[i], of$sample[i], direction, c(17, 4))
        with(case, oracle_cross_map(points, library, pred, target, k, exclusion))
      }, numeric(3))
      want[is.nan(want)] <- NA
      comparable <- colSums(is.na(want)) == 0
      expect_equal(nrow(got$rho), nrow(of))
      expect_equal(got$rho[, 1], unname(want["rho", ]), tolerance = 1e-9, info = seed)
      expect_equal(got$MAE[comparable, 1], unname(want["MAE", comparable]),
                   tolerance = 1e-9, info = seed)
      expect_equal(got$RMSE[comparable, 1], unname(want["RMSE", comparable]),
                   tolerance = 1e-9, info = seed)
    }
  }
})

test_that("small and large libraries of a long series are searched alike", {
  set.seed(3)
  n <- 700
  series <- as.double(arima.sim(list(ar = 0.7), n))
  points <- cbind(series, c(NA, head(series, -1)))
  target <- series^2 + rnorm(n)
  lib <- 2:n
  sizes <- c(4, 7, 15, 40, 120, 600, n - 1)
  got <- map_in_c(points, lib, lib, target, sizes, 3, samples = 2)
  of <- data.frame(size = c(rep(sizes[-7], each = 2), n - 1), sample = c(rep(1:2, 6), 1))
  want <- vapply(seq_len(nrow(of)), function(i) {
    library <- oracle_library(lib, of$size[i], of$sample[i], 0, c(17, 4))
    oracle_cross_map(points, library, lib, target, 3)[["rho"]]
  }, 0)
  expect_equal(got$rho[, 1], want, tolerance = 1e-10)
})

test_that("long series are searched by blocks, small libraries one by one", {
  set.seed(5)
  n <- 1500
  for (series in list(as.double(arima.sim(list(ar = 0.7), n)), rpois(n, 0.2) + 0)) {
    points <- cbind(series, c(NA, head(series, -1)))
    target <- series^2 + rnorm(n)
    lib <- 2:n
    pred <- sort(sample(lib, 300))
    sizes <- c(4, 20, 400, n - 2, n - 1)
    for (exclusion in c(0, 20)) {
      got <- map_in_c(points, lib, pred, target, sizes, 3, exclusion, samples = 2)
      of <- data.frame(size = c(rep(sizes[-5], each = 2), n - 1),
                       sample = c(rep(1:2, 4), 1))
      want <- vapply(seq_len(nrow(of)), function(i) {
        library <- oracle_library(lib, of$size[i], of$sample[i], 0, c(17, 4))
        oracle_cross_map(points, library, pred, target, 3, exclusion)[["rho"]]
      }, 0)
      expect_equal(got$rho[, 1], want, tolerance = 1e-10)
    }
  }
})

test_that("libraries are drawn without replacement, evenly, each from its own stream", {
  drawn <- function(size, sample, direction = 0, n = 30, key = c(5, 6)) {
    as.integer(.Call(r_ccm_library, n, size, sample, direction, key))
  }
  for (size in c(1, 14, 15, 16, 29, 30)) expect_equal(sum(drawn(size, 0)), size)
  times <- rowSums(vapply(0:1999, function(s) drawn(10, s), integer(30)))
  expect_gt(chisq.test(times)$p.value, 1e-4)
  expect_false(identical(drawn(10, 0), drawn(10, 1)))
  expect_false(identical(drawn(10, 0), drawn(10, 0, direction = 1)))
  expect_equal(which(drawn(20, 3, 1) == 1), oracle_library(1:30, 20, 4, 1, c(5, 6)))
})

test_that("several targets at once are mapped as each alone", {
  case <- random_case(7)
  targets <- cbind(case$target, rnorm(nrow(case$points)), 3)
  sizes <- c(5, length(case$lib))
  together <- with(case, map_in_c(points, lib, pred, targets, sizes, k))
  for (t in 1:3) {
    alone <- with(case, map_in_c(points, lib, pred, targets[, t], sizes, k))
    expect_equal(together$rho[, t], alone$rho[, 1])
    expect_equal(together$MAE[, t], alone$MAE[, 1])
  }
  expect_true(all(is.na(together$rho[, 3])))
})

test_that("anchovy and sea surface temperature are mapped as rEDM does", {
  x <- read.csv(shared_data("edm/redm/sardine_anchovy_sst.csv"))
  want <- read.csv(shared_data("edm/redm/CCM_anch_sst_valid.csv"), check.names = FALSE)
  set.seed(1)
  found <- ccm(x, "anchovy", "np_sst", E = 3, lib_sizes = want$LibSize, threads = 2)
  expect_named(found, names(want))
  expect_lt(max(abs(as.matrix(as.data.frame(found)[-1]) - as.matrix(want[-1]))), 0.06)
  expect_equal(found$LibSize, want$LibSize)
})

test_that("ten series are mapped all to all as kEDM does", {
  x <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_input.csv"))
  want_E <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_e.csv"))$E
  want <- as.matrix(read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_rho.csv")))
  skill <- function(name, E) {
    data <- edm_data(x, name, name, E = E, Tp = 1, no_time = TRUE)
    data$points <- points_matrix(data$points)
    predicted <- oracle_simplex(data$points, data$lib, data$pred, data$target, E + 1)
    oracle_rho(data$target[data$pred], predicted$predictions)
  }
  best <- vapply(names(x), function(name) {
    which.max(vapply(1:20, function(E) skill(name, E), 0))
  }, 0L)
  expect_equal(unname(best), want_E)
  got <- want
  for (i in names(x)) for (j in setdiff(names(x), i)) {
    found <- ccm(x, i, j, E = best[[j]], lib_sizes = Inf, both = FALSE, no_time = TRUE)
    got[match(i, names(x)), j] <- found[[2]]
  }
  expect_lt(max(abs(got - want)), 1e-5)
})

test_that("one library of all rows is simplex projection across series", {
  x <- coupled_maps(150, 0.02, 0.1)
  for (Tp in c(0, 2)) {
    found <- ccm(x, "x", "y", E = 3, Tp = Tp, lib_sizes = Inf)
    predicted <- simplex(x, "x", "y", E = 3, Tp = Tp)
    amid <- predicted$time >= 3 & predicted$time <= 150
    expect_equal(found[["x:y"]], prediction_error(as.data.frame(predicted)[amid, ])$rho,
                 tolerance = 1e-10)
  }
  samples <- attr(found, "samples")
  expect_equal(samples$sample, c(1, 1))
  expect_equal(samples$rho, unname(unlist(as.data.frame(found)[-1])))
})

test_that("with a negative Tp the rows of the library are all that have a target", {
  x <- coupled_maps(80, 0.1, 0.1)
  found <- ccm(x, "x", "y", E = 3, Tp = -4, lib_sizes = Inf, both = FALSE)
  rows <- 5:80
  later <- c(rep(NA, 4), x$y)[1:80]
  predicted <- oracle_simplex(oracle_embed(x$x, 3), rows, rows, later, 4)$predictions
  expect_equal(found$LibSize, 76)
  expect_equal(found[["x:y"]], cor(predicted, later[rows]), tolerance = 1e-10)
})

test_that("rEDM's rows are those of a library, for Tp and tau of both signs", {
  # What pyEDM 2.5 gives with libSizes = 80, printed with six decimals.
  set.seed(3)
  x <- data.frame(t = 1:80, x = rnorm(80), y = rnorm(80))
  rho <- function(...) unlist(as.data.frame(ccm(x, "x", "y", E = 3, lib_sizes = Inf, ...))[-1])
  expect_equal(unname(rho(Tp = -4)), c(-0.038871, -0.211031), tolerance = 1e-5)
  expect_equal(unname(rho(valid_lib = 1:80 %% 3 > 0)), c(0.229209, -0.270871),
               tolerance = 1e-5)
})

test_that("ccm(), ccm_lag() and causal_map() are one map", {
  skip_on_cran()
  x <- coupled_maps(60, 0.1, 0.2, 3.8, 3.7)
  set.seed(5)
  x[2:3] <- x[2:3] + rnorm(120, sd = 0.05)
  gaps <- x
  gaps$x[c(1, 20, 44)] <- NA
  gaps$y[c(21, 33)] <- NA
  delays <- c(-5, -2, -1, 0, 1, 4)
  for (data in list(x, gaps)) for (tau in c(-2, -1, 1, 3)) for (E in c(1, 2, 4)) {
    lags <- ccm_lag(data, "x", "y", E = E, Tp = delays, tau = tau)
    for (k in seq_along(delays)) {
      all <- ccm(data, "x", "y", E = E, Tp = delays[[k]], tau = tau, lib_sizes = Inf)
      map <- causal_map(as.matrix(data[-1]), E = E, Tp = delays[[k]], tau = tau)
      about <- paste("E", E, "tau", tau, "Tp", delays[[k]])
      expect_identical(lags[["x:y"]][[k]], all[["x:y"]], info = about)
      expect_identical(lags[["y:x"]][[k]], all[["y:x"]], info = about)
      expect_equal(c(all[["x:y"]], all[["y:x"]]), c(map[1, 2], map[2, 1]),
                   tolerance = 1e-4, info = about)
    }
  }
})

test_that("Inf is all rows of each direction", {
  x <- coupled_maps(80, 0.1, 0.2)
  x$y[c(10, 30, 50)] <- NA
  found <- ccm(x, "x", "y", E = 3, lib_sizes = c(20, Inf), samples = 5)
  samples <- attr(found, "samples")
  expect_equal(samples$LibSize, c(rep(20, 5), 78, rep(20, 5), 69))
  expect_equal(samples$sample, c(1:5, 1, 1:5, 1))
  expect_equal(found$LibSize, c(20, 78))
  expect_equal(attr(found, "convergence")$largest, c(78, 69))
  alone <- ccm(x, "y", "x", E = 3, lib_sizes = Inf, both = FALSE)
  expect_identical(alone$LibSize, 69)
  expect_identical(found[["y:x"]][[2]], alone[["y:x"]])
  expect_identical(ccm_lag(x, "x", "y", E = 3, Tp = 0)[["y:x"]], alone[["y:x"]])
  # What is more than a direction has are all of its rows.
  more <- ccm(x, "x", "y", E = 3, lib_sizes = c(70, 80), samples = 3)
  expect_identical(more$LibSize, c(70, 78))
  expect_identical(more[["y:x"]], rep(alone[["y:x"]], 2))
  expect_identical(more[["x:y"]][[2]], found[["x:y"]][[2]])
  expect_error(ccm(x, "x", "y", E = 3, lib_sizes = 81), "at most 80, the rows of `x`",
               class = "synfire_error_argument")
  # All rows of one direction asked for by number and by Inf are one size.
  twice <- ccm(x, "x", "y", E = 3, lib_sizes = c(69, Inf), samples = 3)
  expect_identical(twice[["y:x"]][[1]], twice[["y:x"]][[2]])
  expect_identical(is.na(summary(twice)$difference), c(FALSE, FALSE))
  expect_identical(summary(twice)$smallest, c(69, 69))
})

test_that("the other direction of columns as coordinates has as many neighbours", {
  x <- coupled_maps(120, 0.05, 0.2)
  x$z <- c(0.5, head(x$x, -1))
  found <- ccm(x, c("x", "z"), "y", embedded = TRUE, lib_sizes = Inf)
  back <- simplex(x, "y", "x", embedded = TRUE, knn = 3, Tp = 0)
  expect_equal(found[["y:x"]], prediction_error(back)$rho, tolerance = 1e-10)
  expect_identical(attr(found, "parameters")$knn, 3L)
})

test_that("several columns and targets are embedded together, the first is predicted", {
  x <- coupled_maps(150, 0.05, 0.2)
  x$z <- c(0.5, head(x$x, -1)) * 0.7
  found <- ccm(x, c("x", "z"), "y, z", E = 2, lib_sizes = Inf)
  expect_named(found, c("LibSize", "x:y", "y:x"))
  map <- function(...) prediction_error(simplex(x, ..., E = 2, Tp = 0))$rho
  expect_equal(found[["x:y"]], map(c("x", "z"), "y"), tolerance = 1e-10)
  expect_equal(found[["y:x"]], map(c("y", "z"), "x"), tolerance = 1e-10)
  expect_identical(attr(found, "parameters")$target, c("y", "z"))
  expect_match(format(found)[[1]], "x, z -> y, z", fixed = TRUE)
  expect_identical(summary(found)$cause, c("y", "x"))
  lag <- ccm_lag(x, c("x", "z"), c("y", "z"), E = 2, Tp = c(-1, 0))
  expect_identical(unlist(as.data.frame(lag)[2, -1]), unlist(as.data.frame(found)[1, -1]))
  expect_identical(summary(lag)$effect, c("x", "y"))
  flat <- ccm(x, c("x", "z"), c("y", "z"), embedded = TRUE, lib_sizes = Inf)
  map <- function(...) prediction_error(simplex(x, ..., embedded = TRUE, Tp = 0))$rho
  expect_equal(flat[["y:x"]], map(c("y", "z"), "x"), tolerance = 1e-10)
  # One direction takes no notice of the other targets.
  one <- ccm(x, c("x", "z"), "y", E = 2, lib_sizes = Inf, both = FALSE)
  expect_identical(one[["x:y"]], found[["x:y"]])
})

test_that("a series mapped to itself has one direction, which says nothing of causes", {
  x <- coupled_maps(100, 0.05, 0.2)
  found <- ccm(x, "x", "x", E = 2, Tp = 1, lib_sizes = c(20, 40, 60, Inf), samples = 5)
  expect_named(found, c("LibSize", "x:x"))
  # simplex() has a row less at the end.
  expect_equal(found[["x:x"]][[4]], prediction_error(simplex(x, "x", E = 2))$rho,
               tolerance = 1e-2)
  said <- summary(found)
  expect_identical(said$supported, NA)
  expect_match(said$words, "whether x drives x, because the library is made of x, so that x predicts")
  expect_no_match(format(found)[[2]], "NA")
  lag <- summary(ccm_lag(x, "x", "x", E = 2, Tp = 0:2))
  expect_identical(lag$supported, NA)
  expect_identical(lag$reason, "itself")
  lag <- summary(ccm_lag(x, c("y", "x"), "x", E = 2, Tp = 0:2))
  expect_identical(lag$reason[[1]], "itself")
  expect_match(lag$words[[1]], "^Of these Tp, y \\+ x tells x best at [0-2]")
  # Directions that would have the same name are named by all of their columns.
  two <- ccm(x, c("x", "y"), "x", E = 2, Tp = 1, lib_sizes = Inf)
  expect_named(two, c("LibSize", "x y:x", "x:x"))
  expect_identical(two[["x:x"]], found[["x:x"]][[4]])
  expect_identical(unique(attr(two, "samples")$direction), c("x y:x", "x:x"))
  expect_identical(summary(two)$supported, c(NA, NA))
  # So is a target that is among several columns; other directions are judged as ever.
  set.seed(1)
  part <- summary(ccm(x, c("y", "x"), "x", E = 2, samples = 20))
  expect_identical(part$reason, c("itself", "short"))
  expect_match(part$words[[1]], "whether x drives y \\+ x, because the library is made of y \\+ x, so that x")
})

test_that("replicates are one library, and no delay vector crosses them", {
  set.seed(5)
  plots <- lapply(1:12, \(plot) {
    data.frame(time = 1:9, plot, coupled_from(stats::runif(1), stats::runif(1), 9))
  })
  x <- do.call(rbind, plots)
  found <- ccm(x, "y", "x", E = 2, Tp = -1, segments = "plot", lib_sizes = Inf)
  # By hand: points of each plot by itself, put together.
  points <- do.call(rbind, lapply(plots, \(p) oracle_embed(p$y, 2)))
  lib <- which(!is.na(rowSums(points)))
  expect_identical(attr(found, "samples")$LibSize[[1]], 12L * 8L)
  slow <- oracle_cross_map(points, lib, lib, c(NA, head(x$x, -1)), 3)
  expect_equal(found[["y:x"]], slow[["rho"]], tolerance = 1e-10)
  # x drives y, and each plot alone is too short to tell.
  expect_gt(found[["y:x"]], 0.8)
  alone <- vapply(plots, \(p) ccm(p, "y", "x", E = 2, Tp = -1, lib_sizes = Inf)[["y:x"]], 0)
  expect_lt(mean(alone), 0.5)
})

test_that("rows that may not be in the library are not compared", {
  x <- coupled_maps(120, 0.05, 0.2)
  mask <- seq_len(120) %% 3 > 0
  lib <- setdiff(which(mask), 1)
  found <- ccm(x, "x", "y", E = 2, lib_sizes = Inf, both = FALSE, valid_lib = mask)
  want <- oracle_cross_map(oracle_embed(x$x, 2), lib, lib, x$y, 3)
  expect_equal(found[["x:y"]], want[["rho"]], tolerance = 1e-10)
})

test_that("the seed decides everything, and threads nothing", {
  x <- coupled_maps(120, 0.02, 0.1)
  run <- function(threads = 1, seed = 4, sizes = c(10, 50, 119), ...) {
    set.seed(seed)
    ccm(x, "x", "y", E = 2, lib_sizes = sizes, samples = 70, threads = threads, ...)
  }
  one <- run()
  expect_identical(attr(run(2), "samples"), attr(one, "samples"))
  expect_identical(attr(run(3), "samples"), attr(one, "samples"))
  expect_false(identical(run(seed = 5)[["x:y"]], one[["x:y"]]))
  set.seed(4)
  expect_false(identical(runif(1), {
    run()
    runif(1)
  }))
  more <- attr(run(sizes = c(10, 20, 50)), "samples")
  of_ten <- function(samples) samples$rho[samples$LibSize == 10]
  expect_equal(of_ten(more), of_ten(attr(one, "samples")))
  alone <- run(both = FALSE)
  expect_named(alone, c("LibSize", "x:y"))
  expect_equal(alone[["x:y"]], one[["x:y"]])
  tested <- run(1, n_surrogates = 20)
  expect_identical(attr(run(2, n_surrogates = 20), "surrogates"), attr(tested, "surrogates"))
  expect_equal(tested[["x:y"]], one[["x:y"]])
})

test_that("the table holds the means of the samples", {
  set.seed(2)
  found <- ccm(coupled_maps(90, 0.02, 0.1), "x", "y", E = 2, lib_sizes = c(10, 40),
               samples = 11)
  samples <- attr(found, "samples")
  expect_equal(nrow(samples), 2 * 2 * 11)
  means <- tapply(samples$rho, list(samples$LibSize, samples$direction), mean)
  expect_equal(found[["x:y"]], unname(means[, "x:y"]))
  expect_equal(found[["y:x"]], unname(means[, "y:x"]))
  about <- attr(found, "convergence")
  of <- function(size) samples$rho[samples$direction == "x:y" & samples$LibSize == size]
  expect_equal(about$difference[[1]], mean(of(40)) - mean(of(10)))
  expect_equal(c(about$low[[1]], about$high[[1]]),
               unname(quantile(outer(of(40), of(10), "-"), c(0.025, 0.975))))
  expect_equal(about$tau[[1]], cor(found$LibSize, found[["x:y"]], method = "kendall"))
})

test_that("the direction of a cause is found and said in words", {
  set.seed(1)
  # x drives y, nothing drives x: y cross-maps x.
  found <- ccm(coupled_maps(400, 0, 0.3), "x", "y", E = 2, samples = 40, n_surrogates = 40,
               surrogate = "shuffle", threads = 2)
  said <- summary(found)
  expect_equal(said$direction, c("x:y", "y:x"))
  expect_equal(said$supported, c(FALSE, TRUE))
  expect_match(said$words[[2]], "This supports that x drives y", fixed = TRUE)
  expect_match(said$words[[1]], "This does not support that y drives x", fixed = TRUE)
  expect_gt(found[["y:x"]][[10]], 0.9)
  expect_output(print(said), "supports that\\s+x\\s+drives y")
})

test_that("unrelated series are told to be so", {
  skip_on_cran()
  supported <- vapply(1:8, function(seed) {
    set.seed(seed)
    x <- data.frame(time = 1:200, a = as.double(arima.sim(list(ar = 0.5), 200)),
                    b = as.double(arima.sim(list(ar = 0.5), 200)))
    sum(summary(ccm(x, "a", "b", E = 2, samples = 30, n_surrogates = 40, threads = 2))$supported %in% TRUE)
  }, 0L)
  expect_identical(sum(supported), 0L)
})

test_that("surrogates with the same season show that it explains the skill", {
  set.seed(6)
  season <- sin(2 * pi * (1:240) / 12)
  x <- data.frame(time = 1:240, a = season + rnorm(240, sd = 0.3),
                  b = season + rnorm(240, sd = 0.3))
  found <- ccm(x, "a", "b", E = 3, samples = 20, n_surrogates = 60, surrogate = "seasonal",
               period = 12, threads = 2)
  band <- attr(found, "surrogates")
  expect_equal(nrow(band), 20)
  expect_true(all(band$low <= band$median & band$median <= band$high))
  last <- band[band$LibSize == max(band$LibSize), ]
  expect_true(all(last$p > 0.05))
  expect_equal(attr(found, "convergence")$p, last$p)
  expect_gt(found[["a:b"]][[10]], 0.5)
  expect_false(any(summary(found)$supported %in% TRUE))
})

test_that("segments are not crossed, by lags, targets or surrogates", {
  x <- coupled_maps(100, 0.02, 0.3)
  x$trial <- rep(c("a", "b"), each = 50)
  found <- ccm(x, "x", "y", E = 3, Tp = 1, lib_sizes = Inf, segments = "trial")
  both <- edm_data(x, "x", "y", E = 3, Tp = 1, segments = "trial")
  both$points <- points_matrix(both$points)
  expect_equal(both$lib, c(3:49, 53:99))
  want <- oracle_cross_map(both$points, both$lib, both$lib, both$target, 4)
  expect_equal(found[["x:y"]], want[["rho"]], tolerance = 1e-10)
  expect_equal(found$LibSize, 94)
  set.seed(1)
  others <- surrogate_targets(c(both, direction = "x:y"), 3, "shuffle", NULL)
  expect_equal(sort(c(x$y[1], others[1:49, 2])), sort(c(x$y[1], others[1:49, 2])))
  expect_true(all(others[1:49, ] %in% x$y[1:50]))
  expect_true(all(is.na(others[c(50, 100), ])))
})

test_that("missing values are left out", {
  x <- coupled_maps(90, 0.02, 0.3)
  x$x[20] <- NA
  x$y[50] <- NaN
  found <- ccm(x, "x", "y", E = 2, lib_sizes = c(20, 60, 80), samples = 20)
  expect_false(anyNA(found))
  full <- ccm(x, "x", "y", E = 2, lib_sizes = Inf, both = FALSE)
  data <- edm_data(x, "x", "y", E = 2, Tp = 0)
  data$points <- points_matrix(data$points)
  want <- oracle_cross_map(data$points, data$lib, data$pred, data$target, 3)
  expect_equal(full[["x:y"]], want[["rho"]], tolerance = 1e-10)
  expect_error(ccm(x, "x", "y", E = 2, n_surrogates = 5), "missing in row 50")
})

test_that("a constant has no skill", {
  x <- data.frame(time = 1:50, a = rnorm(50), b = 0.1)
  found <- ccm(x, "a", "b", E = 2, lib_sizes = c(10, 30), samples = 5)
  rho <- unlist(as.data.frame(found)[-1])
  expect_true(all(is.na(rho[1:2])))
  expect_false(any(is.nan(rho)))
  said <- summary(found)
  expect_identical(said$supported[[1]], NA)
  expect_match(said$words[[1]], "because b is constant")
})

test_that("library sizes are told apart as by rEDM, and checked", {
  x <- coupled_maps(60, 0.1, 0.1)
  sizes <- function(...) ccm(x, "x", "y", E = 2, samples = 2, ...)$LibSize
  expect_equal(sizes(lib_sizes = c(10, 50, 20)), c(10, 30, 50))
  expect_equal(sizes(lib_sizes = c(10, 20, 50)), c(10, 20, 50))
  expect_equal(sizes(lib_sizes = "10 50 20"), c(10, 30, 50))
  expect_equal(sizes(lib_sizes = c(30, 10, Inf, 30)), c(10, 30, 59))
  expect_equal(range(sizes()), c(4, 59))
  expect_length(sizes(), 10)
  expect_equal(sizes(lib_sizes = c(20, 60)), c(20, 59))
  expect_error(sizes(lib_sizes = 61), "at most 60", class = "synfire_error_argument")
  expect_error(sizes(lib_sizes = 3), "at least 4", class = "synfire_error_argument")
  expect_error(sizes(lib_sizes = 10.5), "whole", class = "synfire_error_argument")
  expect_error(sizes(lib_sizes = "ten"), "whole", class = "synfire_error_argument")
  expect_error(sizes(lib_sizes = NA_real_), "whole", class = "synfire_error_argument")
  expect_error(ccm(x[1:5, ], "x", "y", E = 3), class = "synfire_error_argument")
  expect_error(ccm(x, "x", "z", E = 2), class = "synfire_error_argument")
  expect_error(ccm(x, "x", "y"), "embed_dimension", class = "synfire_error_argument")
  expect_error(ccm(x, "x", "y", E = 2, samples = 0), class = "synfire_error_argument")
})

test_that("exclusion, neighbours and embedded columns do what simplex() does", {
  x <- coupled_maps(120, 0.05, 0.2)
  x$z <- c(0.5, head(x$x, -1))
  rho <- function(...) {
    predicted <- simplex(x, ..., Tp = 0)
    prediction_error(predicted)$rho
  }
  full <- function(...) ccm(x, ..., lib_sizes = Inf, both = FALSE)[[2]]
  expect_equal(full("x", "y", E = 3, exclusion_radius = 4),
               rho("x", "y", E = 3, exclusion_radius = 4), tolerance = 1e-10)
  expect_equal(full("x", "y", E = 3, knn = 9), rho("x", "y", E = 3, knn = 9),
               tolerance = 1e-10)
  expect_equal(full(c("x", "z"), "y", embedded = TRUE),
               rho(c("x", "z"), "y", embedded = TRUE), tolerance = 1e-10)
  expect_equal(full("x z", "y", E = 2, tau = 2), rho("x z", "y", E = 2, tau = 2),
               tolerance = 1e-10)
})

test_that("delays are found on the side of the past", {
  skip_on_cran()
  x <- y <- c(0.4, 0.3, 0.6)
  for (t in 3:299) {
    x[t + 1] <- x[t] * (3.8 - 3.8 * x[t])
    y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.3 * x[t - 1])
  }
  data <- data.frame(time = 1:300, x, y)
  found <- ccm_lag(data, "y", "x", E = 2, Tp = -4:4)
  expect_equal(attr(found, "best"), c("y:x" = -2L, "x:y" = 4L))
  set.seed(1)
  said <- summary(ccm_lag(data, "y", "x", E = 2, Tp = -4:4))
  expect_identical(said$best, c(-2L, 4L))
  expect_identical(said$supported[[1]], TRUE)
  expect_match(said$words[[1]], "^Of these Tp, y tells x best at -2 \\(rho 0.9[0-9]\\). This supports")
  expect_match(said$words[[2]], "^Of these Tp, x tells y best at 4, in the future of y \\(rho")
  set.seed(1)
  cross <- summary(ccm(data, "y", "x", E = 2, lib_sizes = Inf))
  shared <- setdiff(names(cross), c(names(attr(found, "convergence")), "words"))
  shared <- c("direction", "cause", "effect", intersect(names(said), shared))
  expect_identical(as.list(said[shared]), as.list(cross[shared]))
  expect_identical(mapply(endsWith, said$words, cross$words, USE.NAMES = FALSE), c(TRUE, TRUE))
  expect_null(attr(said, "closing"))
  few <- summary(ccm_lag(data, "y", "x", E = 2, Tp = 0:1))
  expect_match(attr(few, "closing"), "`ccm_lag(Tp = )` with the delay", fixed = TRUE, all = FALSE)
  for (Tp in c(-4, 0, 3)) {
    alone <- ccm(data, "y", "x", E = 2, Tp = Tp, lib_sizes = Inf)
    expect_equal(unlist(as.data.frame(found)[found$Tp == Tp, 2:3]),
                 unlist(as.data.frame(alone)[2:3]))
  }
  expect_error(ccm_lag(data, "y", "x", E = 2, Tp = c(1, 1)), "different",
               class = "synfire_error_argument")
  expect_error(ccm_lag(data, "y", "x", E = 2, Tp = 0.5), class = "synfire_error_argument")
  expect_error(ccm_lag(data, "y", "x", E = 2, lib_size = nrow(data) + 1), "at most",
               class = "synfire_error_argument")
})

test_that("tables are plain ones when asked, and print what they are", {
  set.seed(1)
  found <- ccm(coupled_maps(80, 0.02, 0.2), "x", "y", E = 2, samples = 5)
  expect_s3_class(found, c("ccm", "edm", "data.frame"))
  plain <- as.data.frame(found)
  expect_identical(class(plain), "data.frame")
  expect_named(attributes(plain), c("names", "row.names", "class"), ignore.order = TRUE)
  expect_output(print(found), "x -> y, E 2")
  expect_output(print(found), "x:y: rho")
  expect_s3_class(found[1:3, ], "ccm")
  few <- ccm(coupled_maps(80, 0.02, 0.2), "x", "y", E = 2, samples = 20,
             lib_sizes = c(5, 79))
  expect_identical(summary(few)$supported[[2]], NA)
  expect_match(summary(few)$words[[2]], "It cannot be told whether")
})

test_that("results without their parts are refused", {
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  for (class in c("ccm", "ccm_lag", "edm_prediction", "edm_skill", "smap", "multiview")) {
    bare <- structure(list(), class = c(class, if (!class %in% c("smap", "multiview")) {
      c("edm", "data.frame")
    }))
    refused(format(bare), paste("a whole result of class", class))
    refused(summary(bare), paste("a whole result of class", class))
    refused(print(bare), paste("a whole result of class", class))
  }
  for (class in c("smap", "multiview")) {
    refused(as.data.frame(structure(list(), class = class)), "a whole result")
  }
})
