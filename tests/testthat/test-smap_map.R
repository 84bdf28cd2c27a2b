# Every pair against smap() for that pair alone.

test_that("a pair is what smap() finds for the two series", {
  x <- ring_series(4, 120)
  map <- smap_map(x, E = 3, theta = 1.5, threads = 1)
  frame <- data.frame(time = seq_len(nrow(x)), x)
  for (i in 1:4) for (j in 1:4) {
    # Predictions from rows without a target step are not part of a map.
    one <- smap(frame, colnames(x)[[i]], colnames(x)[[j]], E = 3, theta = 1.5, threads = 1)
    seen <- one$predictions$time <= nrow(x)
    expect_equal(map$rho[i, j], summary(one)$rho, tolerance = 1e-9)
    expect_equal(map$strength[i, j], mean(one$coefficients[[3]][seen], na.rm = TRUE),
                 tolerance = 1e-9)
  }
  expect_s3_class(map, "smap_map")
  expect_identical(dimnames(map), list(library = colnames(x), target = colnames(x)))
  expect_identical(attr(map, "E"), rlang::set_names(rep(3L, 4), colnames(x)))
  expect_identical(attr(map, "parameters")[c("tau", "Tp", "theta", "ridge")],
                   list(tau = -1L, Tp = 1L, theta = 1.5, ridge = 0))
})

test_that("all arguments together give what smap() does", {
  set.seed(3)
  series <- list(
    maps = ring_series(3, 90), counts = matrix(stats::rpois(270, 0.4), 90),
    ties = round(ring_series(3, 90) * 4), sparse = matrix(stats::rbinom(240, 1, 0.4), 80),
    waves = outer(1:100, c(0.3, 0.7, 0.31), \(t, w) sin(w * t)), far = 1e6 + ring_series(2, 60),
    short = ring_series(3, 7)
  )
  for (name in names(series)) for (k in 1:3) {
    x <- series[[name]]
    if (k == 3) x[sample(length(x), length(x) / 20)] <- NA
    colnames(x) <- NULL
    given <- list(E = sample(1:4, 1), tau = sample(c(-2, -1, 1), 1), Tp = sample(-2:2, 1),
                  theta = sample(c(0, 0.7, 2, 6), 1), ridge = sample(c(0, 0, 0.01), 1),
                  exclusion_radius = sample(c(0, 0, 4), 1))
    map <- do.call(smap_map, c(list(x, threads = 1), given))
    expect_same_smap_map(map, do.call(oracle_smap_map, c(list(x), given)), x)
  }
})

test_that("targets may differ in E, and libraries and targets may be some", {
  x <- ring_series(6, 80)
  E <- c(s5 = 1, s2 = 3, s6 = 3, s1 = 2)
  map <- smap_map(x, E = E, libraries = c("s4", "s2"), targets = names(E), threads = 1)
  expected <- oracle_smap_map(x, E, libraries = c(4, 2), targets = c(5, 2, 6, 1))
  expect_same_smap_map(map, expected, x, c(4, 2), c(5, 2, 6, 1))
  expect_identical(attr(map, "E"), c(s5 = 1L, s2 = 3L, s6 = 3L, s1 = 2L))
  expect_identical(rownames(map), c("s4", "s2"))
  found <- smap_map(x, E_max = 4, threads = 1)
  best <- embed_dimension(x, E_max = 4, threads = 1)
  expect_identical(unname(attr(found, "E")), best$E)
  same <- smap_map(x, E = best$E, threads = 1)
  expect_identical(found$rho, same$rho)
  expect_identical(found$strength, same$strength)
  # Where there is no E, there is no column.
  none <- smap_map(x, E = c(2, NA, 2, 2, 2, 2), threads = 1)
  expect_true(all(is.na(none$rho[, 2])) && all(is.na(none$strength[, 2])))
  expect_false(anyNA(none$rho[, -2]))
})

test_that("the strength is the derivative where that is known", {
  set.seed(1)
  a <- stats::rnorm(400)
  b <- c(0, 2.5 * a[-400])
  c <- c(0, 1 - 0.5 * a[-400])
  map <- smap_map(cbind(a, b, c), E = 1, libraries = "a", threads = 1)
  expect_equal(map$strength["a", c("b", "c")], c(b = 2.5, c = -0.5), tolerance = 1e-6)
  expect_equal(unname(map$rho["a", c("b", "c")]), c(1, 1), tolerance = 1e-6)
  # In other units it is another number, and the skill is not.
  other <- smap_map(cbind(a = a / 1000, b = b * 10), E = 1, threads = 1)
  expect_equal(other$strength[["a", "b"]], 25000, tolerance = 1e-6)
  expect_equal(other$rho, smap_map(cbind(a, b), E = 1, threads = 1)$rho,
               tolerance = 1e-7)
})

test_that("constants and short series have no results, and no more than these", {
  x <- cbind(ring_series(2, 60), flat = 3, gone = NA_real_)
  map <- smap_map(x, E = 2, threads = 1)
  expect_true(all(is.na(map$rho["flat", ])) && all(is.na(map$strength["flat", ])))
  expect_true(all(is.na(map$rho["gone", ])) && all(is.na(map$rho[, c("flat", "gone")])))
  expect_identical(unname(map$strength[1:2, "flat"]), c(NA_real_, NA_real_))
  expect_false(anyNA(map$rho[1:2, 1:2]))
  expect_true(all(is.na(smap_map(ring_series(2, 3), E = 3, threads = 1)$rho)))
  expect_true(all(is.na(smap_map(ring_series(2, 20), E = 2, Tp = 30, threads = 1)$rho)))
  expect_true(all(is.na(
    smap_map(ring_series(2, 20), E = 2, exclusion_radius = 40, threads = 1)$strength
  )))
})

test_that("threads, other series and memory change no digit", {
  set.seed(2)
  x <- ring_series(7, 300)
  x[40, 3] <- NA
  x[, 6] <- stats::rpois(300, 0.1)
  map <- smap_map(x, E = 3, threads = 1)
  for (other in list(smap_map(x, E = 3, threads = 3),
                     smap_map(x, E = 3, threads = 2, max_memory = 1e6))) {
    expect_identical(other$rho, map$rho)
    expect_identical(other$strength, map$strength)
  }
  part <- smap_map(x, E = 3, libraries = c(6, 2), targets = c(3, 7, 1), threads = 1)
  expect_identical(part$rho, map$rho[c(6, 2), c(3, 7, 1)])
  expect_identical(part$strength, map$strength[c(6, 2), c(3, 7, 1)])
})

test_that("portable code and all registers agree", {
  set.seed(4)
  x <- cbind(ring_series(3, 200), stats::rpois(200, 0.1))
  x[17, 2] <- NA
  options <- list(E = 3, tau = -1, Tp = 1, theta = 2, ridge = 0, exclusion = 0, threads = 1,
                  gpus = NULL)
  plain <- .Call(synfire:::r_smap_pairs, x, x, c(options, vector_bits = 1))
  for (bits in c(0, 256, 512)) {
    wide <- .Call(synfire:::r_smap_pairs, x, x, c(options, vector_bits = bits))
    expect_equal(wide, plain, tolerance = 1e-9)
  }
})

test_that("a data frame and an HDF5 file are read as in causal_map()", {
  x <- ring_series(3, 60)
  map <- smap_map(x, E = 2, threads = 1)
  frame <- data.frame(time = seq_len(60) / 10, x)
  expect_message(of_frame <- smap_map(frame, E = 2, threads = 1), "is the time")
  expect_identical(of_frame$rho, map$rho)
  expect_identical(smap_map(frame[-1], no_time = TRUE, E = 2, threads = 1)$rho, map$rho)
  file <- map_path()
  h5 <- hdf5r::H5File$new(file, mode = "w")
  h5[["a"]] <- x
  h5[["names"]] <- colnames(x)
  h5[["b"]] <- x[1:10, ]
  h5$close_all()
  of_file <- quiet_smap_map(file, dataset = "a", E = 2, threads = 1)
  expect_identical(of_file$rho, map$rho)
})

test_that("what cannot be is said", {
  x <- ring_series(3, 60)
  bad <- function(..., says) {
    expect_error(smap_map(...), says, class = "synfire_error_argument")
  }
  bad(x, theta = -1, says = "`theta`")
  bad(x, theta = c(1, 2), says = "`theta`")
  bad(x, ridge = NA, says = "`ridge`")
  bad(x, Tp = 1.5, says = "`Tp`")
  bad(x, Tp = 0:1, says = "`Tp`")
  bad(x, tau = 0, says = "`tau`")
  bad(x, E = 0, says = "`E`")
  bad(x, E = 2, E_max = 5, says = "`E_max`")
  bad(x, targets = "s9", says = "s9")
  bad(x, E = 2, exclusion_radius = -1, says = "`exclusion_radius`")
  bad(x, E = 2, device = "tpu", says = "`device`")
  bad(x, E = 2, 5, says = "")
  x[4, 2] <- Inf
  bad(x, E = 2, says = "s2")
  x[4, 2] <- 1e200
  bad(x, E = 2, threads = 1, says = "another unit")
  expect_error(smap_map(matrix(0, 5, 400), E = 2, max_memory = 1e6), "writes the map",
               class = "synfire_error_budget")
})
