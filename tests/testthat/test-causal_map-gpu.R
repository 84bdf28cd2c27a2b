# The GPU finds the neighbours that the CPU finds.

on_gpu <- function(x, E, ..., gpus = 0L) driven(x, E, ..., device = "gpu", gpus = gpus)

# Sums are added up in another order there, and in single precision. Where a handful of points
# is compared and predictions hardly differ, that may matter in the fourth digit.
expect_same_maps <- function(gpu, cpu, tolerance = 1e-5) {
  expect_identical(names(gpu), names(cpu))
  expect_identical(is.na(gpu$rho), is.na(cpu$rho))
  off <- abs(gpu$rho - cpu$rho)
  expect_lte(max(off, 0, na.rm = TRUE), tolerance)
  if (tolerance <= 1e-5) expect_lte(mean(c(off, 0), na.rm = TRUE), 2e-6)
}

second_gpu <- function() {
  if (nrow(synfire_sitrep(test_devices = FALSE)$devices) < 2L) skip("there is one GPU")
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- random_series(30, 2, 1)
  for (map in list(\() causal_map(x, E = 2, device = "gpu"),
                   \() causal_map(x, device = "gpu", precision = "half"),
                   \() embed_dimension(x, device = "gpu"))) {
    condition <- expect_error(map(), class = "synfire_error_device")
    expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
  }
  expect_message(causal_map(x, E = 2, device = "auto"), "Using the CPU: there is no GPU",
                 class = "synfire_message_device")
})

test_that("kEDM's all-to-all cross map of ten series", {
  skip_without_gpu()
  x <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_input.csv"))
  E <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_e.csv"))$E
  rho <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_rho.csv"))
  map <- causal_map(x, no_time = TRUE, device = "gpu")
  expect_identical(unname(attr(map, "E")), E)
  expect_lte(max(abs(unclass(map) - as.matrix(rho))), 1e-5)
  expect_identical(attr(map, "device"), "gpu")
})

test_that("random small maps are those of the CPU", {
  skip_without_gpu()
  set.seed(1)
  for (seed in 1:60) {
    kind <- c("plain", "rounded", "gaps", "constant")[seed %% 4 + 1]
    steps <- sample(c(6, 12, 33, 70, 300), 1)
    n <- sample(c(1, 2, 5, 40), 1)
    x <- random_series(steps, n, seed, kind)
    E <- sample(1:min(20, steps - 2), n, TRUE)
    rule <- list(tau = sample(c(-2, -1, 1), 1), Tp = sample(c(-2, 0:5), 1),
                 exclusion = sample(c(0, 0, 2), 1),
                 lib_sizes = if (seed %% 5 == 0) c(5, 20), key = c(seed, 1))
    gaps <- kind == "gaps"
    few <- steps < 70 || gaps || !is.null(rule$lib_sizes)
    tolerance <- if (steps < 33 || steps < 300 && gaps) 1e-2 else if (few) 2e-3 else 1e-5
    expect_same_maps(do.call(on_gpu, c(list(x, E), rule)),
                     do.call(driven, c(list(x, E, threads = 2), rule)), tolerance)
    skill <- \(place) {
      rule <- map_rule(min(20, steps), rule$tau, rule$Tp, rule$exclusion)
      map_dimensions(map_source(x), seq_len(n), rule, seed %% 2 == 0, place)
    }
    # Half of 70 steps is not much for 20 dimensions either.
    if (steps < 300) tolerance <- max(tolerance, 2e-3)
    expect_same_maps(list(rho = skill(list(device = "gpu", gpus = 0L))),
                     list(rho = skill(list(device = "cpu"))), tolerance)
  }
})

test_that("exclusion_radius, tau, E, Tp, gaps, validation and lib_sizes in any combination", {
  skip_without_gpu()
  set.seed(7)
  wrong <- character()
  for (case in 1:160) {
    kind <- sample(c("plain", "gaps"), 1)
    steps <- sample(c(40, 60, 61, 90), 1)
    # E = 1 for all is what lays out the steps without room between them.
    E <- if (case %% 2 == 0) rep(1, 12) else sample(sample(c(1, 3, 8), 1), 12, TRUE)
    rule <- list(tau = sample(c(-7, -3, -2, -1, 1, 2, 3), 1), Tp = sample(c(-4, -1:1, 3), 1),
                 exclusion = sample(c(0, 1, 5, 9), 1), key = c(case, 1),
                 lib_sizes = if (case %% 5 == 0) c(12, Inf))
    x <- random_series(steps, 12, case, kind)
    split <- sample(c(FALSE, TRUE), 1)
    skill <- function(place) {
      rule <- map_rule(max(E), rule$tau, rule$Tp, rule$exclusion)
      map_dimensions(map_source(x), 1:12, rule, split, place)
    }
    gpu <- do.call(on_gpu, c(list(x, E), rule))$rho
    cpu <- do.call(driven, c(list(x, E), rule))$rho
    of_gpu <- skill(list(device = "gpu", gpus = 0L))
    of_cpu <- skill(list(device = "cpu"))
    same <- function(a, b) {
      identical(is.na(a), is.na(b)) && max(abs(a - b), 0, na.rm = TRUE) <= 1e-4
    }
    if (!same(gpu, cpu)) wrong <- c(wrong, paste("map", case))
    if (!same(of_gpu, of_cpu)) wrong <- c(wrong, paste("dimensions", case))
  }
  expect_identical(wrong, character())
})

test_that("what is excluded is no neighbour, as the oracle counts", {
  skip_without_gpu()
  x <- random_series(60, 40, 1)
  for (tau in c(-2, -5, 3)) {
    gpu <- on_gpu(x, 1, tau = tau, exclusion = 5)$rho
    expect_close_maps(gpu[1:6, 1:6], oracle_causal_map(x, rep(1, 40), 1:6, 1:6, tau = tau,
                                                       exclusion = 5))
  }
  # Where coordinates are later steps, each half of a split is laid out backwards.
  rule <- map_rule(1, 1, 1, 5)
  skill <- map_dimensions(map_source(x), 1:40, rule, TRUE, list(device = "gpu", gpus = 0L))
  expect_close_maps(t(skill), oracle_dimensions(x, 1, 1, tau = 1, exclusion = 5, split = TRUE))
})

test_that("what differs by rounding alone has no correlation, and late beginnings lose nothing", {
  skip_without_gpu()
  set.seed(3)
  for (case in 1:40) {
    steps <- sample(c(12, 20, 40), 1)
    x <- matrix(sample(c(-1, 0, 1, 2), steps * 10, TRUE), steps)
    E <- sample(3, 10, TRUE)
    expect_identical(is.na(on_gpu(x, E)$rho), is.na(driven(x, E)$rho))
  }
  # The first half of the targets' points have no prediction.
  x <- random_series(200, 12, 4) + 1000
  gaps <- x
  gaps[1:120, 1:6] <- NA
  expect_same_maps(on_gpu(gaps, 2), driven(gaps, 2))
  for (half in 1:2) {
    few <- gaps[seq_len(140), ]
    expect_same_maps(on_gpu(few, half), driven(few, half), 1e-4)
  }
})

test_that("a forked child gets an error from a map", {
  skip_without_gpu()
  skip_on_os("windows")
  x <- random_series(100, 8, 9)
  whole <- on_gpu(x, 2)
  in_child <- function(f) {
    job <- parallel::mcparallel(tryCatch(f(), error = function(e) class(e)))
    parallel::mccollect(job, wait = FALSE, timeout = 20)[[1L]]
  }
  expect_true("synfire_error_device" %in% in_child(\() causal_map(x, E = 2, device = "gpu")))
  expect_true("synfire_error_device" %in%
                in_child(\() embed_dimension(x, 2, device = "gpu")))
  expect_identical(on_gpu(x, 2), whole)
})

test_that("long series and many of them", {
  skip_without_gpu()
  for (shape in list(c(1600, 300), c(3000, 60), c(9000, 20))) {
    x <- random_series(shape[[1]], shape[[2]], 1) + stats::rnorm(prod(shape), sd = 1e-3)
    E <- rep_len(c(1:20, 3), shape[[2]])
    expect_same_maps(on_gpu(x, E, libraries = 1:20), driven(x, E, libraries = 1:20, threads = 2))
  }
})

test_that("neighbours that are equally far are those of the CPU, however many they are", {
  skip_without_gpu()
  set.seed(11)
  for (steps in c(300, 1100)) {
    half <- steps %/% 2
    calcium <- stats::filter(stats::rnorm(steps), 0.9, "recursive")
    x <- cbind(counts = stats::rpois(steps, 1), rare = stats::rbinom(steps, 1, 0.05),
               inflated = ifelse(stats::runif(steps) < 0.9, 0, calcium),
               period = rep_len(sin(2 * pi * (0:22) / 23), steps),
               stretch = c(rep(0, half), calcium[seq_len(steps - half)]),
               levels = rep(sample(8, steps %/% 10, TRUE), length.out = steps),
               three = rep_len(c(0, 1, 5), steps), still = 1, calcium = calcium)
    noise <- matrix(stats::rnorm(20 * steps), steps)
    targets <- ncol(x) + 1:20
    for (tau in c(-1, -3)) for (exclusion in c(0, 4)) {
      map <- \(on) on(cbind(x, noise), 1:20, libraries = seq_len(ncol(x)),
                      targets = targets, tau = tau, exclusion = exclusion)
      expect_same_maps(map(on_gpu), map(driven))
    }
    for (tau in c(-1, 2)) {
      skill <- \(place) map_dimensions(map_source(x), 1:6, map_rule(20, tau, 1), FALSE, place)
      expect_same_maps(list(rho = skill(list(device = "gpu", gpus = 0L))),
                       list(rho = skill(list(device = "cpu"))), 1e-4)
    }
  }
})

test_that("lags, convergence and surrogates are those of the CPU", {
  skip_without_gpu()
  x <- random_series(200, 12, 2)
  E <- rep_len(1:6, 12)
  rule <- list(Tp = -2:1, lib_sizes = c(20, Inf), n_surrogates = 4, surrogate = "phase",
               key = c(1, 2))
  gpu <- do.call(on_gpu, c(list(x, E), rule))
  cpu <- do.call(driven, c(list(x, E, threads = 2), rule))
  expect_same_maps(gpu, cpu)
  expect_lte(max(abs(gpu$convergence - cpu$convergence)), 1e-5)
  expect_gte(mean(gpu$lag == cpu$lag), 0.99)
  expect_gte(mean(gpu$p_value == cpu$p_value), 0.99)
})

test_that("a screen leaves out, and changes nothing else", {
  skip_without_gpu()
  for (steps in c(1000, 1600, 4000, 15000)) {
    for (kind in c("plain", "gaps")) {
      set.seed(steps)
      x <- matrix(stats::rnorm(40 * steps), steps)
      # A driver with followers: these are worth looking at, the others not.
      for (j in 2:6) x[, j] <- 0.9 * x[, 1] + 0.1 * x[, j]
      if (kind == "gaps") x[sample(length(x), length(x) %/% 50)] <- NA
      E <- rep(1:10, each = 4)
      for (precision in c("float", "half")) {
        whole <- on_gpu(x, E, libraries = 1:20, precision = precision)$rho
        screened <- on_gpu(x, E, libraries = 1:20, precision = precision, screen = 0.6)$rho
        high <- which(whole >= 0.6)
        expect_gt(length(high), 20)
        expect_identical(screened[high], whole[high])
        expect_identical(screened[!is.na(screened)], whole[!is.na(screened)])
        expect_gt(sum(is.na(screened)), sum(is.na(whole)) + 50)
      }
    }
  }
})

test_that("blocks of any size give the same", {
  skip_without_gpu()
  x <- random_series(150, 30, 3, "gaps")
  E <- rep_len(1:9, 30)
  whole <- on_gpu(x, E)
  for (bytes in c(2000, 20000, 2e5)) expect_identical(on_gpu(x, E, max_memory = bytes), whole)
  expect_identical(on_gpu(x, E), whole)
})

test_that("two GPUs give what one gives", {
  skip_without_gpu()
  second_gpu()
  x <- random_series(400, 60, 4)
  E <- rep_len(1:20, 60)
  expect_identical(on_gpu(x, E, gpus = 0:1), on_gpu(x, E))
  expect_identical(embed_dimension(x, device = "gpu", gpus = 1:2),
                   embed_dimension(x, device = "gpu"))
})

test_that("half precision is as good as stated", {
  skip_without_gpu()
  for (kind in c("plain", "gaps")) {
    # With gaps, few of the points are whole.
    steps <- if (kind == "gaps") 4000 else 1000
    x <- random_series(steps, 40, 5, kind) + stats::rnorm(40 * steps, sd = 1e-3)
    E <- rep_len(1:20, 40)
    off <- abs(on_gpu(x, E, precision = "half")$rho - driven(x, E, threads = 2)$rho)
    expect_lte(mean(off, na.rm = TRUE), 1e-5)
    expect_lte(max(off, na.rm = TRUE), 3e-4)
  }
})

test_that("half precision is as good as stated, however many targets a tile has", {
  skip_without_gpu()
  # Rows of 128 bytes, then four planes of 16 down to one, then rows in the GPU's memory.
  for (steps in c(400, 2500, 4200, 6000, 9000, 15000)) {
    x <- random_series(steps, 40, steps) + stats::rnorm(40 * steps, sd = 1e-3)
    E <- rep_len(c(1, 2, 5, 8), 38)
    x[, 5] <- 3
    libraries <- 1:2
    # Where libraries have gaps, points of whole targets lack neighbours.
    for (gaps in c(FALSE, TRUE)) {
      if (gaps) x[sample(steps, steps %/% 20), libraries] <- NA
      for (sizes in list(NULL, c(20, 200))) {
        map <- function(f, ...) {
          f(x, E, ..., libraries = libraries, targets = 3:40, lib_sizes = sizes)$rho
        }
        half <- map(on_gpu, precision = "half")
        exact <- map(driven, threads = 2)
        expect_identical(is.na(half), is.na(exact))
        expect_lte(mean(abs(half - exact), na.rm = TRUE), 3e-5)
        expect_lte(max(abs(half - exact), na.rm = TRUE), 5e-4)
      }
    }
  }
})

test_that("a map that is stopped leaves the GPU to the next one", {
  skip_without_gpu()
  x <- random_series(500, 20, 6)
  E <- rep(3, 20)
  whole <- on_gpu(x, E)
  rule <- c(map_rule(3, max_memory = 1e5), list(reasons = integer(20)))
  # The first blocks are kept while others are at work.
  for (after in 1:3) {
    kept <- 0
    keep <- function(columns, values) {
      kept <<- kept + 1
      if (kept == after) stop("enough")
    }
    expect_error(map_libraries(map_source(x), 1:20, 1:20, E, rule, list(device = "gpu", gpus = 0L),
                               keep), "enough")
    expect_identical(on_gpu(x, E), whole)
  }
})

test_that("Ctrl-C is an interrupt", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    x <- matrix(stats::rnorm(4e7), 8000)
    causal_map(x[1:100, 1:10], E = 2, device = "gpu")
    begin()
    causal_map(x, E = rep_len(1:20, 5000), device = "gpu")
  }))
})

test_that("predictions that are all the same have no correlation, whatever came before", {
  skip_without_gpu()
  # From a constant library and few points of it the same neighbours are taken again and
  # again, and the first prediction may have nothing to be compared with.
  set.seed(12)
  x <- cbind(rep(1.5, 40), rnorm(40), rnorm(40))
  x[cbind(sample(40, 18), 2)] <- NA
  x[cbind(sample(40, 18), 3)] <- NA
  one_sided <- 0
  for (seed in 1:60) {
    map <- function(device) {
      set.seed(seed)
      causal_map(x, E = 3, tau = -2, Tp = -4, lib_sizes = c(8, Inf), device = device)
    }
    cpu <- attr(map("cpu"), "convergence")
    gpu <- attr(map("gpu"), "convergence")
    one_sided <- one_sided + sum(is.na(cpu) != is.na(gpu))
  }
  expect_identical(one_sided, 0)
})

test_that("predictions that are all the same have none in half precision either", {
  skip_without_gpu()
  # The one step at which the targets differ is nobody's neighbour.
  for (steps in c(400, 4200, 9000)) {
    x <- cbind(random_series(steps, 1, 9), matrix(0, steps, 3))
    x[steps / 2, ] <- 50
    for (precision in c("float", "half")) {
      rho <- on_gpu(x, c(1, 3, 6), libraries = 1, targets = 2:4, precision = precision)$rho
      expect_true(all(is.na(rho)))
    }
    expect_true(all(is.na(driven(x, c(1, 3, 6), libraries = 1, targets = 2:4)$rho)))
  }
})

# ---- One search ------------------------------------------------------------------------

# Where dimensions are given, the map looks for all neighbours itself.
expect_same_search <- function(x, ..., E_max = 20, gpus = 1) {
  map <- function(...) suppressMessages(causal_map(x, device = "gpu", gpus = gpus, ...))
  found <- map(E_max = E_max, ...)
  # A map is a matrix with attributes, its links are a data frame.
  bare <- \(map) if (is.data.frame(map)) lapply(map, c) else matrix(map, nrow(map))
  expect_identical(bare(found), bare(map(E = attr(found, "E"), ...)))
  expect_gt(sum(!is.na(found)), 0)
}

test_that("a map uses the neighbours that the search for dimensions has found", {
  skip_without_gpu()
  set.seed(1)
  for (kind in c("plain", "rounded", "gaps", "constant")) {
    for (steps in c(9, 40, 130, 700)) {
      for (precision in c("float", "half")) {
        x <- random_series(steps, 12, steps, kind)
        expect_same_search(x, E_max = min(20, steps %/% 3), precision = precision,
                           exclusion_radius = steps %% 3)
      }
    }
  }
  x <- random_series(300, 12, 1)
  expect_same_search(x, E_max = 30)
  expect_same_search(x, Tp = -1:1)
  expect_same_search(x, screen = 0.5)
  expect_same_search(random_series(2500, 40, 1))
  expect_same_search(random_series(4000, 40, 1), precision = "half")
  x <- matrix(stats::rpois(400 * 12, 1), 400)
  expect_same_search(x)
})

# Each GPU keeps no more than so many kilobytes.
keep_at_most <- function(kilobytes, frame = parent.frame()) {
  plain <- map_options
  local_function("map_options", \(...) c(plain(...), kept = kilobytes), frame)
}

test_that("neighbours that there is no room for are found again", {
  skip_without_gpu()
  # They are found in batches of some 800; of so many they take 2.4 GB.
  x <- random_series(3000, 1000, 1)
  for (kilobytes in c(1, 1e6)) {
    keep_at_most(kilobytes)
    expect_same_search(x)
  }
})

test_that("several GPUs share what each of them keeps", {
  skip_without_gpu()
  second_gpu()
  x <- random_series(500, 400, 1)
  expect_same_search(x, gpus = 1:2)
  # Some tables, which libraries is as it happens.
  keep_at_most(2e4)
  expect_same_search(x, gpus = 1:2)
})

test_that("kept neighbours may go with a map that fails, and before one that needs them", {
  skip_without_gpu()
  x <- random_series(300, 20, 1)
  whole <- causal_map(x, device = "gpu")
  bare <- \(map) matrix(map, nrow(map))
  local({
    local_function("map_libraries", \(...) stop("a failure"))
    expect_error(causal_map(x, device = "gpu"), "a failure")
  })
  expect_identical(bare(causal_map(x, device = "gpu")), bare(whole))
  place <- list(device = "gpu", gpus = 0L)
  task <- list(kind = "causal_map", source = map_source(x, NULL, FALSE), libraries = 1:20,
               targets = 1:20, rule = map_rule(20), split = FALSE, place = place)
  place$tables <- open_tables(task)
  map_dimensions(task$source, 1:20, map_rule(20, Tp = 1), FALSE, place)
  rm(place)
  gc()
  expect_identical(bare(causal_map(x, device = "gpu")), bare(whole))
})

test_that("Ctrl-C also ends a map that uses kept neighbours", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    x <- matrix(stats::rnorm(4e7), 8000)
    causal_map(x[1:100, 1:10], device = "gpu")
    begin()
    causal_map(x, device = "gpu")
  }))
})
