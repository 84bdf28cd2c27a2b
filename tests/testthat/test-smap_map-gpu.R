# S-maps of all pairs on a GPU are those of the CPU.

# What is wrong with a map of the GPU, beside that of the CPU; nothing, as a rule. Strengths
# count in standard deviations.
differs <- function(x, ..., libraries = NULL, targets = NULL) {
  gpu <- smap_map(x, ..., libraries = libraries, targets = targets, device = "gpu")
  cpu <- smap_map(x, ..., libraries = libraries, targets = targets, threads = 2)
  sds <- apply(x, 2, stats::sd, na.rm = TRUE)
  unit <- outer(sds[libraries %||% seq_along(sds)], sds[targets %||% seq_along(sds)],
                \(library, target) ifelse(target > 0, target, 1) / library)
  wrong <- character()
  if (!identical(is.na(gpu$rho), is.na(cpu$rho))) wrong <- "rho that is missing"
  if (!identical(is.na(gpu$strength), is.na(cpu$strength))) {
    wrong <- c(wrong, "strength that is missing")
  }
  rho <- max(abs(gpu$rho - cpu$rho), 0, na.rm = TRUE)
  strength <- max(abs(gpu$strength - cpu$strength) / unit, 0, na.rm = TRUE)
  if (rho > 1e-7) wrong <- c(wrong, paste("rho by", rho))
  if (strength > 1e-6) wrong <- c(wrong, paste("strength by", strength))
  wrong
}

test_that("without a GPU the error says why", {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) > 0L) skip("there is a GPU")
  x <- random_series(30, 2, 1)
  condition <- expect_error(smap_map(x, E = 2, device = "gpu"),
                            class = "synfire_error_device")
  expect_match(conditionMessage(condition), report$cuda$reason, fixed = TRUE)
})

test_that("maps of all arguments in any combination are those of the CPU", {
  skip_without_gpu()
  wrong <- character()
  for (case in 1:120) {
    set.seed(case)
    steps <- sample(c(6, 15, 40, 129, 300), 1)
    n <- sample(c(1, 3, 12, 40), 1)
    kind <- sample(c("plain", "rounded", "gaps", "constant"), 1)
    x <- random_series(steps, n, case, kind)
    found <- differs(x, E = sample(sample(c(1, 3, 5, 8, 20), 1), n, TRUE),
                     tau = sample(c(-3, -1, 1, 2), 1), Tp = sample(-2:3, 1),
                     theta = sample(c(0, 0.5, 2, 10), 1), ridge = sample(c(0, 0, 0.1), 1),
                     exclusion_radius = sample(c(0, 0, 4, 1000), 1))
    if (length(found)) wrong <- c(wrong, sprintf("case %d, %s, %d x %d: %s", case, kind,
                                                 steps, n, toString(found)))
  }
  expect_identical(wrong, character())
})

test_that("long series, many of them, and many coordinates", {
  skip_without_gpu()
  for (shape in list(c(3000, 4, 5), c(700, 150, 2), c(400, 20, 30))) {
    x <- random_series(shape[[1]], shape[[2]], 1) + stats::rnorm(prod(shape[1:2]), sd = 1e-3)
    expect_identical(differs(x, E = shape[[3]], libraries = 1:4), character())
  }
})

test_that("spike counts, constants and series that repeat are those of the CPU", {
  skip_without_gpu()
  set.seed(2)
  counts <- matrix(stats::rpois(400 * 12, 0.2), 400)
  expect_identical(differs(counts, E = 3), character())
  expect_identical(differs(matrix(rep_len(c(0, 1, 0, 2), 4 * 100), 100), E = 2), character())
  flat <- cbind(counts[, 1:3], 7, sin(seq_len(400) / 20))
  expect_identical(differs(flat, E = 5, theta = 3), character())
  map <- smap_map(flat, E = 2, device = "gpu")
  expect_true(all(is.na(map$rho[, 4])) && all(is.na(map$rho[4, ])))
  expect_true(all(is.na(map$strength[1:3, 4])))
})

test_that("numbers depend neither on other series nor on how many GPUs there are", {
  skip_without_gpu()
  x <- random_series(500, 60, 5)
  whole <- smap_map(x, E = 3, device = "gpu")
  few <- smap_map(x, E = 3, libraries = 7:20, device = "gpu")
  expect_identical(unclass(few$rho), unclass(whole$rho)[7:20, ])
  expect_identical(unclass(few$strength), unclass(whole$strength)[7:20, ])
  if (nrow(synfire_sitrep(test_devices = FALSE)$devices) < 2L) skip("there is one GPU")
  both <- smap_map(x, E = 3, device = "gpu", gpus = 1:2)
  expect_identical(both$rho, whole$rho)
  expect_identical(both$strength, whole$strength)
})

test_that("Ctrl-C is an interrupt", {
  skip_without_gpu()
  expect_interrupted(quote({
    set.seed(1)
    x <- matrix(stats::rnorm(4e6), 40000)
    smap_map(x[1:100, 1:3], E = 2, device = "gpu")
    begin()
    smap_map(x, E = 5, device = "gpu")
  }))
})
