test_that("random small series agree with the oracle", {
  for (seed in cases(30)) {
    kind <- c("plain", "rounded", "gaps", "constant")[seed %% 4 + 1]
    steps <- sample(c(5, 9, 20, 45), 1)
    x <- random_series(steps, 2, 100 + seed, kind)
    arguments <- list(tau = sample(c(-2, -1, 1), 1), Tp = sample(c(-1, 0, 1, 3), 1),
                      split = seed %% 2 == 0, exclusion = sample(c(0, 0, 1), 1))
    found <- embed_dimension(
      x, E_max = 6, tau = arguments$tau, Tp = arguments$Tp,
      validation = if (arguments$split) "split" else "loo",
      exclusion_radius = arguments$exclusion, threads = 2
    )
    oracle <- do.call(oracle_dimensions, c(list(x, 6), arguments))
    expect_close_maps(attr(found, "skill"), oracle)
    clear <- apply(oracle, 1, \(r) {
      best <- sort(r, decreasing = TRUE)
      length(best) < 2 || best[[1]] - best[[2]] > 1e-5
    })
    E <- apply(oracle, 1, \(r) if (all(is.na(r))) NA_integer_ else which.max(r))
    expect_identical(found$E[clear], E[clear])
    expect_identical(found$rho, attr(found, "skill")[cbind(1:2, found$E)])
  }
})

test_that("each series of a matrix has the dimension that it has in a data frame", {
  x <- random_series(80, 3, 1)
  colnames(x) <- c("a", "b", "c")
  found <- embed_dimension(x, E_max = 8, threads = 2)
  expect_identical(found$series, colnames(x))
  # Not for "split": there delay vectors of the second half stay in it, while those of
  # embed_dimension() reach back.
  for (name in colnames(x)) {
    one <- embed_dimension(data.frame(time = 1:80, x), name, E_max = 8, validation = "loo")
    expect_lte(max(abs(attr(found, "skill")[found$series == name, ] - one$rho)), 1e-5)
    expect_identical(found$E[found$series == name], attr(one, "optimal"))
  }
})

test_that("threads and registers change nothing", {
  x <- random_series(90, 5, 2, "rounded")
  skill <- function(...) {
    map_dimensions(map_source(x), 1:5, map_rule(20, Tp = 1, ...), FALSE,
                   list(device = "cpu", gpus = 0L))
  }
  whole <- skill()
  expect_identical(skill(threads = 2), whole)
  for (bits in c(1, 256, 512)) expect_identical(skill(vector_bits = bits), whole)
  expect_identical(skill(max_memory = 100), whole)
})

test_that("of equal ones the first is taken, and NA without any", {
  expect_identical(first_maximum(cbind(c(NA, 0.5, 0.5), c(NA, NA, NA), c(-1, -2, -3))),
                   c(2L, NA, 1L))
  found <- embed_dimension(cbind(a = rep(1, 30), b = sin(1:30)), E_max = 3)
  expect_identical(found$E[[1]], NA_integer_)
  expect_identical(found$rho[[1]], NA_real_)
  expect_false(any(is.nan(attr(found, "skill"))))
  short <- embed_dimension(matrix(c(1, 3, 2, 5), 4), E_max = 30)
  expect_true(all(is.na(attr(short, "skill")[, 4:30])))
  expect_identical(dim(attr(short, "skill")), c(1L, 30L))
})

test_that("bad arguments are refused", {
  x <- random_series(30, 2, 3)
  refused <- function(expr, text) {
    expect_error(expr, text, class = "synfire_error_argument")
  }
  refused(embed_dimension(), "`x` must be")
  refused(embed_dimension(letters), "`x` must be")
  refused(embed_dimension(x, E_max = 31), "`E_max` must be")
  refused(embed_dimension(x, tau = 0), "`tau` must be")
  refused(embed_dimension(x, Tp = 1:2), "`Tp` must be")
  refused(embed_dimension(x, exclusion_radius = 0.5), "`exclusion_radius` must be")
  refused(embed_dimension(x, threads = 0), "`threads` must be")
  expect_error(embed_dimension(x, validation = "none"), "validation")
  condition <- tryCatch(embed_dimension(x, tau = 0), error = identity)
  expect_identical(as.character(conditionCall(condition)[[1]]), "embed_dimension")
})
