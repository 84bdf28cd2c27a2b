# Results of rEDM and kEDM on their own test data, and what their and pyEDM's tests say.

redm <- function(name) {
  read.csv(shared_data(file.path("edm", "redm", paste0(name, ".csv"))), check.names = FALSE)
}

kedm <- function(name) {
  read.csv(shared_data(file.path("edm", "kedm", paste0(name, ".csv"))), check.names = FALSE)
}

# Printed with six decimals.
expect_projection <- function(found, valid, tolerance = 1e-6) {
  expect_equal(nrow(found), nrow(valid))
  expect_equal(found[[1]], valid$Time)
  for (column in c("Observations", "Predictions", "Pred_Variance")) {
    expect_identical(is.na(found[[column]]), is.na(valid[[column]]))
    expect_lte(max(abs(found[[column]] - valid[[column]]), na.rm = TRUE), tolerance)
  }
}

test_that("simplex() gives rEDM's predictions", {
  x <- redm("block_3sp")
  expect_projection(simplex(x, "x_t", "x_t", lib = c(1, 100), pred = c(101, 195), E = 3),
                    redm("Smplx_E3_block_3sp_valid"))
  expect_projection(simplex(x, "x_t y_t z_t", "x_t", lib = "1 99", pred = "100 198",
                            E = 3, embedded = TRUE),
                    redm("Smplx_E3_embd_block_3sp_valid"))
  expect_projection(simplex(x, "x_t", "y_t", lib = c(1, 100), pred = c(50, 80), E = 3,
                            Tp = -2),
                    redm("Smplx_negTp_block_3sp_valid"))
})

test_that("embed_dimension() and predict_interval() give rEDM's skill", {
  found <- embed_dimension(redm("LorenzData1000"), "V1", "V1", lib = c(1, 500),
                           pred = c(501, 800), E_max = 12, Tp = 15, tau = -5,
                           exclusion_radius = 20)
  valid <- redm("EmbedDim_valid")
  expect_identical(found$E, valid$E)
  expect_lte(max(abs(found$rho - valid$rho)), 1e-6)

  found <- predict_interval(redm("block_3sp"), "x_t", "x_t", lib = c(1, 150),
                            pred = c(151, 198), Tp_max = 15, E = 3)
  valid <- redm("PredictInterval_valid")
  expect_identical(found$Tp, valid$Tp)
  expect_lte(max(abs(found$rho - valid$rho)), 1e-6)
})

test_that("embed_dimension() gives kEDM's skill", {
  # kEDM predicts no row beyond the data: the last point is row 499.
  found <- embed_dimension(kedm("TentMap_rEDM"), "TentMap", lib = c(1, 100),
                           pred = c(201, 499), E_max = 20)
  expect_lte(max(abs(found$rho - kedm("TentMap_rEDM_validation")$rho)), 1e-5)
})

test_that("simplex() gives kEDM's leave-one-out predictions", {
  found <- simplex(kedm("simplex_test_data"), E = 2, no_time = TRUE)
  valid <- kedm("simplex_full_lib_test_validation")$Predictions
  expect_lte(max(abs(found$Predictions[-1] - valid)), 1e-5)
})

test_that("simplex() gives kEDM's cross map", {
  x <- redm("sardine_anchovy_sst")
  for (E in 2:5) {
    valid <- kedm(paste0("anchovy_sst_validation_E", E))[[1]]
    # kEDM leaves out the last E - 1 rows.
    rows <- c(1, nrow(x) - E + 1)
    found <- simplex(x, "anchovy", "np_sst", lib = rows, pred = rows, E = E)
    predicted <- found$Predictions[-1]
    expect_length(predicted, length(valid))
    # Printed with six decimals.
    expect_lte(max(abs(predicted - valid) - 1.2e-5 * abs(valid)), 1e-6)
  }
})

test_that("embed_dimension() and simplex() give kEDM's all-to-all cross map", {
  x <- kedm("xmap_all_to_all_test_input")
  valid_E <- kedm("xmap_all_to_all_test_validation_e")$E
  valid_rho <- kedm("xmap_all_to_all_test_validation_rho")
  E <- vapply(names(x), \(name) {
    attr(embed_dimension(x, name, E_max = 20, no_time = TRUE), "optimal")
  }, 0L)
  expect_identical(unname(E), valid_E)
  rho <- outer(seq_along(x), seq_along(x), Vectorize(\(i, j) {
    found <- simplex(x, names(x)[[i]], names(x)[[j]], E = E[[j]], Tp = 0, no_time = TRUE)
    prediction_error(found)$rho
  }))
  expect_lte(max(abs(rho - as.matrix(valid_rho))), 1e-5)
})

# ---- What rEDM's and pyEDM's own tests say ------------------------------------------
# Their facts on data that can be had here, or on data made by the same rule.

ramp <- data.frame(time = 1:10, x = 0:9)

neighbours_of <- function(x, ...) {
  attr(simplex(x, ..., Tp = 0, include_state = TRUE), "state")
}

test_that("neighbours: disjoint rows, no row itself, the radius, valid rows", {
  near <- neighbours_of(ramp, E = 1, knn = 2, lib = c(1, 5), pred = c(6, 10))
  expect_identical(near$neighbours[c(1, 5), ], rbind(c(5L, 4L), c(5L, 4L)))
  expect_equal(near$distances[1, ], c(1, 2))
  near <- neighbours_of(ramp, E = 1, knn = 2)
  expect_identical(near$neighbours[c(1, 5), ], rbind(c(2L, 3L), c(4L, 6L)))
  expect_equal(near$distances[5, ], c(1, 1))
  near <- neighbours_of(ramp, E = 1, knn = 2, exclusion_radius = 1)
  expect_identical(near$neighbours[c(1, 5), ], rbind(c(3L, 4L), c(7L, 3L)))
  expect_equal(near$distances[5, ], c(2, 2))
  near <- neighbours_of(ramp, E = 1, knn = 2, pred = c(5, 5), valid_lib = !1:10 %in% 4:7)
  expect_identical(near$neighbours[1, ], c(3L, 2L))
  expect_equal(near$distances[1, ], c(2, 3))
})

test_that("neighbours: fewer than asked for, and distances that are not squared", {
  # rEDM warns where it is asked to be verbose; either way none is a row left out.
  near <- neighbours_of(ramp, E = 1, knn = 3, lib = c(1, 4), pred = c(2, 2),
                        exclusion_radius = 5)
  expect_identical(near$neighbours, matrix(NA_integer_, 1, 3))
  expect_warning(near <- neighbours_of(ramp, E = 1, knn = 3, lib = c(1, 2), pred = c(1, 2)),
                 class = "synfire_warning_knn")
  expect_identical(near$neighbours, cbind(2:1, NA_integer_))
  plane <- data.frame(time = 1:3, a = c(0, 1, 3), b = c(0, 1, 3))
  near <- neighbours_of(plane, c("a", "b"), embedded = TRUE, knn = 1, pred = c(2, 2))
  expect_identical(near$neighbours[1, 1], 1L)
  expect_equal(near$distances[1, 1], sqrt(2))
})

test_that("neighbours: one of the Lorenz series, and the nearest beyond a radius", {
  lorenz <- redm("LorenzData1000")
  near <- attr(simplex(lorenz, "V5", lib = c(301, 400), pred = c(350, 355), knn = 1,
                       embedded = TRUE, include_state = TRUE), "state")
  # pyEDM's test names these, in rows from 0.
  expect_identical(near$neighbours[, 1], c(322L, 334L, 362L, 387L, 356L, 355L) + 1L)
  rising <- data.frame(time = lorenz[[1]], x = 1:1000, V1 = lorenz$V1)
  near <- attr(simplex(rising, "x", "V1", lib = c(1, 100), pred = c(101, 110), E = 5,
                       exclusion_radius = 10, include_state = TRUE), "state")
  expect_identical(near$neighbours[, 1], 101:110 - 11L)
})

test_that("circle and Lorenz data: valid rows, disjoint rows, missing values, a radius", {
  circle <- redm("circle")
  valid <- abs(circle$x) > 0.5
  expect_series(simplex(circle, "x", E = 2, valid_lib = valid),
                oracle_series(circle, "x", E = 2, valid_lib = valid))
  expect_series(simplex(circle, "x", lib = c(1, 40, 50, 130), pred = c(80, 170), E = 2, tau = -3),
                oracle_series(circle, "x", lib = c(1, 40, 50, 130), pred = c(80, 170), E = 2,
                              tau = -3))
  expect_series(simplex(circle, "x", "y", lib = c(1, 100), pred = c(21, 81), E = 2,
                        exclusion_radius = 5),
                oracle_series(circle, "x", "y", lib = c(1, 100), pred = c(21, 81), E = 2,
                              exclusion_radius = 5))
  circle$x[c(6, 7, 13)] <- NA
  circle$y[c(11, 12, 18)] <- NA
  expect_series(simplex(circle, "x", "y", lib = c(1, 100), pred = c(1, 95), E = 2),
                oracle_series(circle, "x", "y", lib = c(1, 100), pred = c(1, 95), E = 2))
  expect_series(simplex(circle, "y", "x", lib = c(1, 200), pred = c(1, 195), E = 2),
                oracle_series(circle, "y", "x", lib = c(1, 200), pred = c(1, 195), E = 2))
  map <- smap(circle, "x", "y", lib = c(1, 50), pred = c(1, 50), E = 2, theta = 3)
  points <- oracle_embed(circle$x, 2)
  lib <- setdiff(2:49, c(6:8, 13:14))
  pred <- setdiff(2:50, c(6:8, 13:14))
  slow <- oracle_smap(points, lib, pred, c(circle$y[-1], NA), 3)
  expect_equal(map$predictions$Predictions[match(pred + 1, 2:51)], slow$predictions[, 1],
               tolerance = 1e-6)

  lorenz <- redm("LorenzData1000")
  lorenz[c(9, 51, 502), 2:3] <- NA
  lib <- c(1, 50, 101, 200, 251, 500)
  pred <- c(1, 10, 151, 155, 551, 555, 881, 885, 991, 1000)
  found <- simplex(lorenz, "V1", "V2", lib, pred, E = 5, Tp = 2)
  expect_series(found, oracle_series(lorenz, "V1", "V2", lib, pred, E = 5, Tp = 2))
  expect_identical(nrow(found), 41L)
})

test_that("S-maps: slopes on a circle, least squares, and rows as times", {
  circle <- redm("circle")
  map <- smap(circle, c("x", "y"), "x", E = 2, theta = 3, embedded = TRUE)
  slope <- \(by) mean(map$coefficients[[paste0("\u2202x/\u2202", by)]], na.rm = TRUE)
  # rEDM's and pyEDM's tests have these means, with five digits.
  expect_equal(round(c(slope("x"), slope("y")), 5), c(0.99801, 0.06311))
  expect_named(map, c("predictions", "coefficients", "singular_values"))

  # At theta = 0 all rows weigh the same: it is the model of lm().
  lags <- stats::embed(circle$x, 3)
  known <- 1:98
  linear <- stats::lm(lags[known, 1] ~ lags[known, 2] + lags[known, 3])
  map <- smap(circle, "x", lib = c(1, 100), pred = c(150, 160), E = 2, theta = 0, knn = 98)
  expect_equal(unname(unlist(map$coefficients[3, -1])), unname(stats::coef(linear)),
               tolerance = 1e-6)
  expect_identical(ncol(map$singular_values), 4L)

  rows <- smap(circle[-1], "x", "y", c(1, 100), c(101, 150), E = 2, theta = 3, no_time = TRUE)
  timed <- smap(circle, "x", "y", c(1, 100), c(101, 150), E = 2, theta = 3)
  expect_identical(rows$predictions$Predictions, timed$predictions$Predictions)
  expect_identical(rows$predictions$Time, 101:151)
})

test_that("columns have the names that rEDM's have", {
  x <- redm("block_3sp")
  one <- \(f, ...) f(x, "x_t", lib = c(1, 100), pred = c(101, 190), ...)
  expect_named(one(simplex, E = 3),
               c(names(x)[[1]], "Observations", "Predictions", "Pred_Variance"))
  expect_named(one(embed_dimension, E_max = 2), c("E", "rho"))
  expect_named(one(predict_interval, E = 2, Tp_max = 2), c("Tp", "rho"))
  expect_named(one(predict_exclusion_radius, E = 2, exclusion_radius = 0:1),
               c("ExclusionRadius", "rho"))
  expect_named(one(predict_nonlinear, E = 2, theta = 0:1), c("Theta", "rho"))
  expect_named(delay_embed(x, "x_t", E = 3, tau = -2)[-1], c("x_t(t-0)", "x_t(t-2)", "x_t(t-4)"))
  names(x)[2:4] <- c("Var 1", "Var 2", "Var 3 1")
  found <- ccm(x, c("Var 1", "Var 3 1"), "Var 2", E = 3, lib_sizes = c(20, 50, 90), samples = 1)
  expect_named(found, c("LibSize", "Var 1:Var 2", "Var 2:Var 1"))
  expect_true(all(is.finite(as.matrix(as.data.frame(found)))))
})

test_that("cross mapping of all rows is leave-one-out simplex projection", {
  circle <- redm("circle")
  lorenz <- redm("LorenzData1000")
  all <- \(x, columns, target, E = NULL, tau = -1, exclusion_radius = 0, ...) {
    found <- ccm(x, columns, target, E = E, lib_sizes = nrow(x), tau = tau,
                 exclusion_radius = exclusion_radius, ...)
    c(found[[2]], found[[3]])
  }
  skill <- \(...) prediction_error(simplex(...))$rho
  expect_equal(all(circle, "x", "y", 2, Tp = 1),
               c(skill(circle, "x", "y", E = 2), skill(circle, "y", "x", E = 2)))
  expect_equal(all(circle, "x", "y", 2, tau = 3),
               c(skill(circle, "x", "y", E = 2, tau = 3, Tp = 0),
                 skill(circle, "y", "x", E = 2, tau = 3, Tp = 0)))
  expect_equal(all(circle, "x", "y", 2, Tp = 3, exclusion_radius = 5),
               c(skill(circle, "x", "y", E = 2, Tp = 3, exclusion_radius = 5),
                 skill(circle, "y", "x", E = 2, Tp = 3, exclusion_radius = 5)))
  # Several columns, as lags and as they are.
  expect_equal(all(lorenz, "V3 V5", "V1", 5, Tp = 10, tau = -5),
               c(skill(lorenz, "V3 V5", "V1", E = 5, Tp = 10, tau = -5),
                 skill(lorenz, "V1", "V3", E = 5, Tp = 10, tau = -5)))
  expect_equal(all(lorenz, c("V1", "V2", "V3"), "V5", embedded = TRUE),
               c(skill(lorenz, c("V1", "V2", "V3"), "V5", embedded = TRUE, Tp = 0),
                 skill(lorenz, "V5", "V1", embedded = TRUE, Tp = 0, knn = 4)))
})

test_that("cross mapping is decided by the seed, and tells how samples vary", {
  circle <- redm("circle")
  map <- \(threads) {
    set.seed(42)
    ccm(circle, "x", "y", E = 2, Tp = 1, lib_sizes = c(20, 60, 120), samples = 20,
        threads = threads)
  }
  first <- map(1)
  expect_identical(as.data.frame(map(1)), as.data.frame(first))
  expect_identical(as.data.frame(map(4)), as.data.frame(first))
  # rEDM's includeData gives the variance of rho; here there is each sample.
  samples <- attr(first, "samples")
  means <- tapply(samples$rho, samples[c("LibSize", "direction")], mean)
  expect_equal(unname(means[, "x:y"]), first[["x:y"]])
})

test_that("multiview averages nine of the 84 views of three species", {
  x <- redm("block_3sp")
  many <- multiview(x, "x_t y_t z_t", "x_t", lib = c(1, 100), pred = c(101, 198), D = 0, E = 3,
                    multiview = 0, train_lib = FALSE)
  expect_identical(dim(many$view), c(9L, 11L))
  expect_false(is.unsorted(-many$view$rho))
  expect_identical(attr(many, "views"), 84L)
  # Each is simplex projection from those lags.
  lags <- cbind(delay_embed(x, c("x_t", "y_t", "z_t"), E = 3), target = x$x_t)
  each <- vapply(1:9, \(k) {
    names <- unlist(many$view[k, paste0("name_", 1:3)])
    simplex(lags, names, "target", lib = c(1, 100), pred = c(101, 198), embedded = TRUE)$Predictions
  }, double(99))
  expect_equal(many$predictions$Predictions, rowMeans(each))
})

test_that("surrogates keep what rEDM's keep", {
  x <- redm("circle")$x
  set.seed(1)
  phase <- surrogate_series(x, 20, "phase")
  expect_identical(dim(phase), c(length(x), 20L))
  expect_equal(apply(phase, 2, sd), rep(sd(x), 20))
  expect_equal(sort(Mod(fft(phase[, 1]))), sort(Mod(fft(x))))
  expect_false(anyNA(surrogate_series(x[-1], 3, "phase")))
  shuffled <- surrogate_series(x, 5, "shuffle")
  expect_true(all(apply(shuffled, 2, sort) == sort(x)))
  seasonal <- surrogate_series(x, 5, "seasonal", period = 12, spline = TRUE, alpha = 0.1)
  expect_true(all(is.finite(seasonal)))
  expect_error(surrogate_series(x, 1, "bogus"), class = "synfire_error_argument")
  expect_error(surrogate_series(c(1, 2, NA, 4), 1, "phase"), class = "synfire_error_argument")
})

test_that("what rEDM refuses is refused", {
  circle <- redm("circle")
  refused <- function(expr, text) expect_error(expr, text, class = "synfire_error_argument")
  text <- data.frame(t = 1:3, v = c("a", "b", "c"))
  refused(simplex(text, "v", E = 1), "numeric columns")
  refused(simplex(list(a = 1), "a", E = 1), "data frame")
  refused(simplex(circle, "nope", "x", c(1, 100), c(101, 195), E = 2), "`columns`")
  refused(smap(circle, "x", "gone", c(1, 100), c(110, 160), E = 2, theta = 3), "`target`")
  refused(ccm(circle, "x", "absent", E = 2, lib_sizes = c(20, 40)), "`target`")
  for (f in list(simplex, smap, predict_interval, predict_nonlinear)) {
    refused(f(circle, "x", "x", c(1, 100), c(101, 195)), "`E` must be given")
  }
  refused(simplex(circle, "x", E = 2, lib = c(1, 2, 3)), "pairs of rows")
  refused(simplex(circle, "x", E = 2, lib = c(0, 5)), "row 0")
  refused(multiview(circle, "x y", "x", D = 3), "`D`")
  expect_identical(ncol(smap(circle, c("x", "y"), "y", c(1, 100), c(101, 200), theta = 3,
                             embedded = TRUE)$coefficients), 4L)
})
