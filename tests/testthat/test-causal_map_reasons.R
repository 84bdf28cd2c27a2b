# Series of which a map has no rho, and targets that have no p value.

# Nine series of the kinds that a map has, and does not have.
mixed_series <- function(rows = 600) {
  withr::local_seed(5)
  slow <- as.numeric(stats::filter(stats::rnorm(rows), 0.9, "recursive"))
  few <- tabulate(sample(rows, 6), rows)
  smooth <- as.numeric(stats::filter(c(few, rep(0, 8)), stats::dnorm(-4:4, sd = 2), circular = TRUE))
  cbind(slow = slow, silent = 0, few = few, smooth = smooth[seq_len(rows)],
        counts = stats::rpois(rows, 0.25), turned = -stats::rpois(rows, 0.25),
        walk = cumsum(stats::rnorm(rows)), late = c(rep(0, 0.6 * rows), stats::rnorm(0.4 * rows)),
        nearly = 5 + c(rep(0, rows - 1), 1e-3))
}

none <- c("silent", "few", "smooth", "nearly")
some_rho <- c("slow", "counts", "turned", "walk", "late")

expect_unmapped <- function(map, layers = "rho") {
  for (layer in layers) {
    m <- if (layer == "rho" && inherits(map, "causal_map")) as.matrix(map) else
      attr(map, layer) %||% map[[layer]]
    expect_true(all(is.na(m[none, ])))
    expect_true(all(is.na(m[, none])))
    if (layer == "rho") expect_false(anyNA(m[some_rho, some_rho]))
  }
  expect_identical(attr(map, "reasons")[none],
                   c(silent = "constant", few = "sparse", smooth = "sparse", nearly = "sparse"))
}

test_that("constant and sparse series have no rho, as libraries, targets and with themselves", {
  x <- mixed_series()
  map <- causal_map(x, E_max = 3, lib_sizes = c(100, Inf), exclusion_radius = 5, threads = 1)
  expect_unmapped(map, c("rho", "convergence"))
  expect_unmapped(causal_map(x, E = 2, exclusion_radius = 5, threads = 1))
  expect_unmapped(suppressMessages(causal_map(x, E = 2, max_memory = 1e6, threads = 1)))
  expect_true(all(is.na(attr(map, "E")[none])))
  links <- causal_map(x, E = 2, top = 9, exclusion_radius = 5, threads = 1)
  expect_setequal(c(links$cause, links$effect), some_rho)
  expect_unmapped(smap_map(x, E = 2, threads = 1), c("rho", "strength"))
  some <- map["slow", c("silent", "walk"), drop = FALSE]
  expect_identical(attr(some, "reasons"), c(silent = "constant"))
  expect_null(attr(map[some_rho, some_rho], "reasons"))
})

test_that("what is shown of a map says why series have no rho", {
  x <- mixed_series()
  said <- c("No rho for 2 constant series: silent, nearly", "fewer than 20 events each: few, smooth")
  x[, "nearly"] <- 5
  for (map in list(causal_map(x, E = 2, exclusion_radius = 5, threads = 1),
                   causal_map(x, E = 2, exclusion_radius = 5, top = 2, threads = 1),
                   smap_map(x, E = 2, threads = 1))) {
    expect_output(print(map), said[[1]], fixed = TRUE)
    expect_output(print(map), said[[2]], fixed = TRUE)
    expect_output(print(summary(map)), said[[2]], fixed = TRUE)
    skip_if_not_installed("ggplot2")
    if (!inherits(map, "causal_links")) {
      expect_match(ggplot2::autoplot(map)$labels$caption, said[[1]], fixed = TRUE)
    }
  }
})

test_that("maps in files, and those of workers, have no rho where there is none", {
  skip_if_not_installed("hdf5r")
  x <- mixed_series()
  quiet_map_file <- function(x, file, ...) {
    suppressMessages(causal_map(x, E_max = 3, exclusion_radius = 5, n_surrogates = 3, file = file,
                                threads = 1, ...))
  }
  file <- withr::local_tempfile(fileext = ".h5")
  map <- quiet_map_file(x, file)
  expect_unmapped(map)
  expect_output(print(open_causal_map(file)), "No p value for 1 target", fixed = TRUE)
  expect_identical(attr(map["slow", "walk", drop = FALSE], "reasons"), c(walk = "pieces"))
  strengths <- withr::local_tempfile(fileext = ".h5")
  suppressMessages(smap_map(x, E = 2, file = strengths, threads = 1))
  expect_unmapped(open_causal_map(strengths), c("rho", "strength"))
  skip_if_not_installed("future")
  shards <- withr::local_tempfile(fileext = ".h5")
  workers_of <- future::plan(future::multisession, workers = 1)
  withr::defer(future::plan(workers_of))
  expect_unmapped(quiet_map_file(x, shards))
})

test_that("p values are those of independent series, or NA", {
  withr::local_seed(8)
  rows <- 300
  kinds <- list(
    noise = \() stats::rnorm(rows),
    slow = \() as.numeric(stats::filter(stats::rnorm(rows + 99), 0.8, "recursive"))[-(1:99)],
    season = \() sin(2 * pi * seq_len(rows) / 13) + stats::rnorm(rows, sd = 0.5),
    counts = \() stats::rpois(rows, 0.3)
  )
  for (kind in names(kinds)) {
    p <- unlist(lapply(1:6, \(k) {
      x <- replicate(6, kinds[[kind]]())
      p <- attr(causal_map(x, E = 2, exclusion_radius = 5, n_surrogates = 19, threads = 1), "p_value")
      p[row(p) != col(p)]
    }))
    # 180 pairs, of which 9 are expected; 22 come by chance once in ten thousand times.
    expect_lt(sum(p <= 0.05, na.rm = TRUE), 23)
    expect_gt(mean(!is.na(p)), 0.6)
  }
  # A walk, and an oscillator that keeps its phase, have no independent pieces.
  withr::local_seed(9)
  walks <- replicate(4, cumsum(stats::rnorm(600)))
  waves <- outer(1:600, c(0.11, 0.113), \(t, w) sin(w * t))
  map <- causal_map(cbind(walks, waves), E = 2, exclusion_radius = 5, n_surrogates = 3, threads = 1)
  expect_true(all(is.na(attr(map, "p_value"))))
  expect_false(anyNA(map))
  expect_true(all(attr(map, "reasons") == "pieces"))
})

test_that("a cause that was shifted by half a recording is none", {
  spikes <- utils::read.csv(shared_data("recordings/wmaze.csv.gz"))
  rows <- 1500
  spikes <- spikes[spikes$time - min(spikes$time) < rows * 0.2, ]
  often <- names(sort(-table(spikes$unit)))[2:13]
  bin <- floor((spikes$time - min(spikes$time)) / 0.2) + 1
  x <- vapply(often, \(unit) as.double(tabulate(bin[spikes$unit == unit], rows)), double(rows))
  half <- x[(seq_len(rows) - 1 + rows / 2) %% rows + 1, ]
  colnames(half) <- paste("half of", often)
  withr::local_seed(1)
  map <- causal_map(cbind(half, x), E = 2, libraries = 1:12, targets = 13:24, n_surrogates = 39,
                    exclusion_radius = 5, threads = 1)
  own <- row(map) == col(map)
  expect_lt(abs(mean(as.matrix(map)[!own])), 0.03)
  # 132 pairs, of which 6 or 7 are expected.
  expect_lt(mean(attr(map, "p_value")[!own] <= 0.05), 0.13)
})

test_that("causes of chaotic maps are found as often as with random phases", {
  withr::local_seed(4)
  found <- vapply(1:2, \(k) {
    x <- simulate_coupled_maps(500, series = 8, strength = 0.06)
    causes <- t(attr(x, "truth") > 0)
    x <- matrix(x, 500)
    vapply(c("shift", "phase"), \(of) {
      mean(attr(causal_map(x, E = 2, n_surrogates = 39, surrogate = of, threads = 1),
                "p_value")[causes] <= 0.05, na.rm = TRUE)
    }, 0)
  }, double(2))
  expect_gt(mean(found[1, ]), 0.5)
  expect_gt(mean(found[1, ]), mean(found[2, ]) - 0.1)
})

test_that("a radius of exclusion is suggested where series are slow, and none was given", {
  withr::local_seed(2)
  slow <- replicate(3, as.numeric(stats::filter(stats::rnorm(900), 0.95, "recursive"))[-(1:100)])
  expect_message(causal_map(slow, E = 2, threads = 1), "exclusion_radius = (1[0-9]|2[0-9])",
                 class = "synfire_message_slow")
  expect_no_message(causal_map(slow, E = 2, exclusion_radius = 1, threads = 1),
                    class = "synfire_message_slow")
  expect_no_message(causal_map(matrix(stats::rnorm(600), 200), E = 2, threads = 1),
                    class = "synfire_message_slow")
})
