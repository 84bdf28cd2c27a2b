plain <- function(map) matrix(c(unclass(map)), nrow(map), ncol(map))

argument_error <- function(expr, text) {
  testthat::expect_error(expr, text, class = "synfire_error_argument")
}

test_that("kEDM's all-to-all cross map of ten series", {
  x <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_input.csv"))
  E <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_e.csv"))$E
  rho <- read.csv(shared_data("edm/kedm/xmap_all_to_all_test_validation_rho.csv"))
  map <- causal_map(x, no_time = TRUE, threads = 2)
  expect_s3_class(map, "causal_map")
  expect_identical(attr(map, "E"), rlang::set_names(E, names(x)))
  expect_lte(max(abs(unclass(map) - as.matrix(rho))), 1e-5)
  expect_identical(dimnames(map), list(library = names(x), target = names(x)))
})

test_that("random small maps agree with the oracle", {
  for (seed in cases(40)) {
    kinds <- c("plain", "rounded", "gaps", "constant")
    kind <- kinds[seed %% 4 + 1]
    steps <- sample(c(8, 12, 25, 40), 1)
    x <- random_series(steps, sample(1:4, 1), seed, c(kind, if (seed %% 3 == 0) "rounded"))
    E <- sample(1:min(7, steps - 2), ncol(x), TRUE)
    arguments <- list(tau = sample(c(-2, -1, 1), 1), Tp = sample(c(-2, 0:5), 1),
                      exclusion = sample(c(0, 0, 2), 1))
    map <- suppressMessages(causal_map(x, E = E, tau = arguments$tau, Tp = arguments$Tp,
                                       exclusion_radius = arguments$exclusion, threads = 2))
    oracle <- do.call(oracle_causal_map, c(list(x, E), arguments))
    expect_close_maps(map, oracle)
  }
})

test_that("single precision is as good as stated", {
  skip_on_cran()
  off <- tied <- NULL
  for (seed in 1:3) {
    x <- random_series(150, 5, seed) + stats::rnorm(750, sd = 0.01)
    E <- c(1, 2, 3, 6, 10)
    map <- plain(causal_map(x, E = E, threads = 2))
    off <- c(off, abs(map - oracle_causal_map(x, E)))
    for (j in seq_along(E)) {
      tied <- c(tied, vapply(1:5, \(i) oracle_near_tie(x[, i], E[[j]], -1, 0, 0), NA))
    }
  }
  expect_lte(mean(off), 2e-6)
  expect_lte(max(off), 1e-4)
  expect_lte(max(off[!tied], 0), 1e-5)
})

test_that("it is simplex() and ccm() of every pair", {
  x <- random_series(60, 3, 1)
  colnames(x) <- c("a", "b", "c")
  frame <- data.frame(time = 1:60, x)
  map <- causal_map(x, E = 3, Tp = 2, threads = 2)
  pairs <- expand.grid(i = 1:3, j = 1:3)
  rho <- mapply(\(i, j) {
    prediction_error(simplex(frame, colnames(x)[[i]], colnames(x)[[j]], E = 3, Tp = 2))$rho
  }, pairs$i, pairs$j)
  expect_lte(max(abs(c(plain(map)) - rho)), 1e-5)
  map <- causal_map(x, E = 2, threads = 2)
  skill <- ccm(frame, "a", "b", E = 2, lib_sizes = Inf, samples = 1)
  expect_lte(max(abs(c(map["a", "b"] - skill[["a:b"]], map["b", "a"] - skill[["b:a"]]))), 1e-5)
})

test_that("phase 1 and phase 2 can be done one by one", {
  x <- random_series(50, 4, 2)
  both <- causal_map(x, E_max = 6, threads = 2)
  found <- embed_dimension(x, E_max = 6, threads = 2)
  expect_identical(unname(attr(both, "E")), found$E)
  expect_identical(plain(causal_map(x, E = found$E, threads = 2)), plain(both))
  split <- causal_map(x, E_max = 6, validation = "split", threads = 2)
  expect_identical(unname(attr(split, "E")),
                   embed_dimension(x, E_max = 6, validation = "split", threads = 2)$E)
})

test_that("E is one for all, one each, by name, or missing", {
  x <- random_series(40, 3, 3)
  colnames(x) <- c("a", "b", "c")
  each <- plain(causal_map(x, E = c(1, 2, 4), threads = 1))
  expect_identical(plain(causal_map(x, E = c(c = 4, other = 9, a = 1, b = 2))), each)
  expect_identical(plain(causal_map(x, E = 2))[, 2], each[, 2])
  some <- causal_map(x, E = c(1, NA, 4))
  expect_identical(is.na(plain(some)), matrix(c(FALSE, TRUE, FALSE), 3, 3, byrow = TRUE))
  expect_identical(plain(some)[, -2], each[, -2])
  expect_identical(attr(some, "E"), c(a = 1L, b = NA, c = 4L))
  expect_error(causal_map(x, E = NA_character_), "`E` must be", class = "synfire_error_argument")
  none <- causal_map(x, E = NA)
  expect_true(all(is.na(none)))
})

test_that("subsets are rows and columns of the whole", {
  x <- random_series(45, 5, 4)
  colnames(x) <- letters[1:5]
  set.seed(1)
  whole <- causal_map(x, E = c(2, 3, 1, 5, 2), lib_sizes = c(15, Inf), n_surrogates = 3)
  set.seed(1)
  some <- causal_map(x, E = c(5, 3), libraries = c("e", "a"), targets = c(4, 2),
                     lib_sizes = c(15, Inf), n_surrogates = 3)
  for (layer in c("convergence", "p_value")) {
    expect_identical(attr(some, layer), attr(whole, layer)[c("e", "a"), c("d", "b")])
  }
  expect_identical(plain(some), plain(whole)[c(5, 1), c(4, 2)])
  expect_identical(dimnames(some), list(library = c("e", "a"), target = c("d", "b")))
})

test_that("threads, registers and blocks change nothing", {
  for (kind in c("plain", "rounded", "gaps")) {
    x <- random_series(70, 7, 5, kind)
    E <- c(1, 5, 2, 2, 9, 1, 3)
    whole <- driven(x, E)$rho
    expect_identical(driven(x, E, threads = 2)$rho, whole)
    for (bits in c(1, 256, 512)) expect_identical(driven(x, E, vector_bits = bits)$rho, whole)
    for (bytes in c(100, 2000, 5000, 20000, 1e5)) {
      expect_identical(driven(x, E, max_memory = bytes)$rho, whole)
    }
  }
  others <- list(Tp = -2:1, lib_sizes = c(20, 50), n_surrogates = 5, surrogate = "shuffle",
                 key = c(3, 4))
  whole <- do.call(driven, c(list(x, E), others))
  expect_named(whole, c("rho", "lag", "p_value", "convergence"))
  for (bytes in c(100, 2000, 20000, 1e6)) {
    expect_identical(do.call(driven, c(list(x, E, max_memory = bytes, threads = 2), others)),
                     whole)
  }
})

test_that("of several Tp the best is kept", {
  x <- random_series(50, 4, 6)
  lags <- c(3, -2, 0, 1, -1)
  map <- causal_map(x, E = 2, Tp = lags, threads = 2)
  each <- vapply(lags, \(Tp) plain(causal_map(x, E = 2, Tp = Tp)), matrix(0, 4, 4))
  expect_identical(plain(map), apply(each, 1:2, max))
  expect_identical(c(attr(map, "lag")), c(apply(each, 1:2, \(r) lags[which.max(r)])))
  expect_gt(length(unique(c(attr(map, "lag")))), 1)
  # All are as good: the nearest to 0, and of two the earlier.
  same <- cbind(a = rep(c(1, 2, 4, 3), 10), b = rep(c(5, 2, 1, 3), 10))
  found <- causal_map(same, E = 2, Tp = c(4, 8, -4), threads = 1)
  top <- causal_map(same, E = 2, Tp = -4)
  expect_true(all(attr(found, "lag")[plain(found) == plain(top)] == -4))
})

test_that("small libraries are drawn from all points, the same for all targets", {
  x <- random_series(12, 3, 7)
  n <- 11   # steps with a delay vector
  set.seed(2)
  map <- causal_map(x, E = 2, lib_sizes = c(n - 1, Inf), threads = 1)
  small <- plain(map) - c(attr(map, "convergence"))
  expect_identical(plain(map), plain(causal_map(x, E = 2)))
  left_out <- vapply(1:3, \(i) {
    rho <- vapply(2:12, \(out) {
      vapply(1:3, \(j) oracle_cross(x[, i], x[, j], 2, lib = setdiff(2:12, out)), 0)
    }, double(3))
    same <- which(colSums(abs(rho - small[i, ]) > 1e-5) == 0)
    expect_gt(length(same), 0)
    same[[1]]
  }, 0L)
  # Two sizes, each of which is drawn.
  x <- random_series(60, 4, 8)
  run <- function(sizes, seed = 5) {
    set.seed(seed)
    map <- causal_map(x, E = 3, lib_sizes = sizes, threads = 2)
    list(full = plain(map), small = plain(map) - c(attr(map, "convergence")))
  }
  expect_equal(run(c(10, 30))$small, run(c(10, Inf))$small, tolerance = 1e-12)
  expect_equal(run(c(10, 30))$full, run(c(30, Inf))$small, tolerance = 1e-12)
  expect_false(identical(run(c(10, 30)), run(c(10, 30), seed = 6)))
  expect_gt(mean(run(c(10, Inf))$full - run(c(10, Inf))$small), 0)
})

test_that("p values are shares of surrogates", {
  withr::local_seed(9)
  x <- matrix(stats::rnorm(360), 120)
  E <- c(2L, 1L, 3L)
  for (Tp in list(0, c(-1, 1))) {
    set.seed(3)
    map <- causal_map(x, E = E, Tp = Tp, n_surrogates = 7, surrogate = "phase", threads = 2)
    rule <- map_rule(3, key = attr(map, "parameters")$key, surrogate = "phase")
    make <- target_surrogates(x, 1:3, E, rule)
    as_good <- matrix(0, 3, 3)
    for (s in 1:7) {
      of <- causal_map(cbind(x, make(s)), E = E, libraries = 1:3, targets = 4:6, Tp = Tp)
      as_good <- as_good + (plain(of) >= plain(map))
    }
    expect_equal(c(attr(map, "p_value")), c((as_good + 1) / 8))
  }
  expect_identical(sort(make(1)[, 1] > -Inf), rep(TRUE, 120))
  # What surrogate_series() makes under the same key.
  key <- random_below(2, 2^32, rule$key, 2^52 + 2)
  expect_identical(make(4)[, 2], surrogate_maker(x[, 2], "phase", NULL, 2, -1)(key, 4))
  x[3, 2] <- NA
  argument_error(causal_map(x, E = 2, n_surrogates = 2, surrogate = "phase"),
                 "`surrogate` must be \"shift\"")
  for (method in c("shift", "shuffle", "seasonal")) {
    map <- causal_map(x, E = 2, n_surrogates = 2, surrogate = method, period = if (method == "seasonal") 5)
    expect_true(all(attr(map, "p_value") %in% (1:3 / 3)))
  }
  map <- causal_map(x[, -2], E = 2, n_surrogates = 2, surrogate = "twin")
  expect_true(all(attr(map, "p_value") %in% (1:3 / 3)))
})

test_that("top keeps the highest of each target", {
  x <- random_series(40, 9, 10)
  whole <- plain(causal_map(x, E = 2, Tp = -1:0, threads = 2))
  links <- causal_map(x, E = 2, Tp = -1:0, top = 3, threads = 2)
  expect_s3_class(links, c("causal_links", "data.frame"))
  expect_identical(links$cause, rep(attr(links, "series"), each = 3))
  diag(whole) <- NA
  best <- apply(whole, 2, order, decreasing = TRUE, na.last = TRUE)[1:3, ]
  expect_identical(match(links$effect, attr(links, "series")), c(best))
  expect_identical(links$rho, whole[cbind(c(best), rep(1:9, each = 3))])
  expect_named(links, c("cause", "effect", "rho", "lag"))
  expect_identical(nrow(causal_map(x, E = 2, top = 100)), 9L * 8L)
  # Columns that are the same: of equal ones, the first libraries.
  same <- x[, c(1, 2, 2, 2, 2)]
  colnames(same) <- letters[1:5]
  links <- causal_map(same, E = 2, top = 2, targets = "a")
  expect_identical(links$effect, c("b", "c"))
})

test_that("links do not depend on the size of blocks", {
  set.seed(4)
  rho <- matrix(sample(40, 20 * 30, TRUE) / 40, 20, 30)
  rho[sample(600, 100)] <- NA
  kept <- function(each, top, screen) {
    task <- list(libraries = 1:20, targets = 11:40, top = top,
                 source = list(names = as.character(1:40)), rule = map_rule(2, screen = screen))
    held <- keep_links(task, 1e9)
    for (rows in pieces(20, each)) held$keep(rows, list(rho = rho[rows, , drop = FALSE]))
    held$result(E = 1, parameters = list(), call = NULL, elapsed = 0, device = "cpu")
  }
  no_self <- rho
  no_self[cbind(11:20, 1:10)] <- NA
  for (top in list(NULL, 1, 4)) {
    for (screen in list(NULL, 0.5)) {
      if (is.null(top) && is.null(screen)) next
      slow <- lapply(1:30, \(j) {
        i <- order(-no_self[, j])[seq_len(sum(no_self[, j] >= (screen %||% 0), na.rm = TRUE))]
        i <- head(i, top %||% 20)
        data.frame(cause = rep(as.character(10 + j), length(i)), effect = as.character(i),
                   rho = no_self[i, j])
      })
      slow <- do.call(rbind, slow)
      for (each in c(1, 3, 20)) {
        links <- kept(each, top, screen)
        for (column in names(slow)) expect_identical(links[[column]], slow[[column]])
      }
    }
  }
})

test_that("a screen leaves out, and changes nothing else", {
  x <- random_series(120, 8, 11)
  whole <- plain(causal_map(x, E = 2, threads = 2))
  links <- causal_map(x, E = 2, screen = 0.5, threads = 2)
  i <- match(links$effect, attr(links, "series"))
  j <- match(links$cause, attr(links, "series"))
  expect_identical(links$rho, whole[cbind(i, j)])
  expect_true(all(links$rho >= 0.5))
  expect_false(any(i == j))
  expect_false(is.unsorted(j))
  diag(whole) <- NA
  expect_lte(nrow(links), sum(whole >= 0.5, na.rm = TRUE))
  expect_gte(nrow(links), 0.9 * sum(whole >= 0.5, na.rm = TRUE))
  expect_identical(nrow(causal_map(x, E = 2, screen = 1)), 0L)
  both <- causal_map(x, E = 2, screen = 0.5, top = 1, threads = 2)
  expect_identical(both$rho, as.vector(links$rho[!duplicated(links$cause)]))
})

test_that("degenerate series give NA", {
  x <- random_series(30, 3, 12)
  x[, 2] <- 7
  map <- causal_map(x, E = 2)
  expect_true(all(is.na(map[, 2])))
  map <- causal_map(x, E_max = 4, threads = 1)
  expect_identical(unname(attr(map, "reasons")), "constant")
  expect_identical(unname(is.na(attr(map, "E"))), c(FALSE, TRUE, FALSE))
  expect_true(all(is.na(map[, 2])))
  one <- causal_map(x[, 1, drop = FALSE], E = 2)
  expect_identical(dim(one), c(1L, 1L))
  expect_false(is.na(one[1, 1]))
  expect_message(short <- causal_map(x[1:6, ], E = 9), "2 targets have more dimensions",
                 class = "synfire_message_dimensions")
  expect_true(all(is.na(short)))
  expect_true(all(is.na(suppressMessages(causal_map(x[1, , drop = FALSE])))))
  expect_true(all(is.na(suppressMessages(causal_map(x[1:2, ], E = 1)))))
  x[, 3] <- NA
  expect_true(all(is.na(causal_map(x, E = 1)[, 3])))
  expect_true(all(is.na(causal_map(x, E = 1)[3, ])))
})

test_that("E = 1 with steps that are far apart, whatever is excluded or drawn", {
  for (tau in c(-3, -2, 2)) {
    for (kind in c("plain", "gaps")) {
      x <- random_series(60, 6, abs(tau), kind)
      found <- driven(x, rep(1, 6), tau = tau, Tp = 1, exclusion = 5)$rho
      expect_close_maps(found, oracle_causal_map(x, rep(1, 6), tau = tau, Tp = 1, exclusion = 5))
    }
    # As many points as there are in one dimension: all steps whose target is known.
    x <- random_series(60, 6, abs(tau))
    expect_identical(driven(x, 1, tau = tau, lib_sizes = c(59, 60))$rho,
                     driven(x, 1, tau = tau)$rho)
  }
})

test_that("what is constant where it is compared has no correlation", {
  # Three steps can be compared, and 4 is observed at each of them.
  x <- cbind(a = c(-5, 2, -1, 4, -5, 3, -3, 4), b = c(-4, 4, -4, 4, NA, 4, -3, 4))
  for (bits in c(0, 1, 256)) {
    found <- driven(x, 3, tau = 1, Tp = 1, vector_bits = bits)$rho
    expect_identical(found[1, 2], NA_real_)
    expect_identical(is.na(found), is.na(oracle_causal_map(x, c(3, 3), tau = 1, Tp = 1)))
  }
})

test_that("series without names get some", {
  x <- random_series(30, 3, 13)
  expect_identical(colnames(causal_map(x, E = 1)), c("V1", "V2", "V3"))
  storage.mode(x) <- "integer"
  expect_identical(plain(causal_map(x, E = 1)), plain(causal_map(x + 0, E = 1)))
})

test_that("what a map was made with is recorded", {
  x <- random_series(40, 2, 14)
  set.seed(9)
  map <- causal_map(x, E = 2, Tp = c(1, 0), lib_sizes = c(10, Inf), exclusion_radius = 1)
  p <- attr(map, "parameters")
  expect_identical(p$exclusion_radius, 1L)
  expect_identical(p$lib_sizes, c(10, Inf))
  expect_identical(p$Tp, c(0L, 1L))
  set.seed(9)
  expect_identical(p$key, random_key())
  expect_named(attr(map, "elapsed"), c("dimensions", "map", "total"))
  expect_identical(attr(map, "device"), "cpu")
  expect_identical(attr(map, "call")[[1]], quote(causal_map))
})

test_that("a map beyond memory is refused before it is begun", {
  x <- random_series(10, 400, 15)
  condition <- expect_error(causal_map(x, E = 2, max_memory = 1e6),
                            class = "synfire_error_budget")
  expect_match(conditionMessage(condition), "file = \"map.h5\"", fixed = TRUE)
  expect_match(conditionMessage(condition), "top = 10", fixed = TRUE)
  expect_match(conditionMessage(condition), "1.28 MB", fixed = TRUE)
  expect_identical(nrow(causal_map(x, E = 1, top = 2, max_memory = 1e6)), 800L)
  expect_error(causal_map(x, E = 2, screen = -1, max_memory = 1e6),
               class = "synfire_error_budget")
})

test_that("bad arguments are refused", {
  x <- random_series(30, 3, 16)
  colnames(x) <- c("one", "two", "three")
  argument_error(causal_map(), "`x` must be")
  argument_error(causal_map(1:10), "`x` must be")
  argument_error(causal_map(x[0, ]), "`x` must be")
  argument_error(causal_map(x[, 0]), "`x` must be")
  infinite <- x
  infinite[3, 2] <- -Inf
  argument_error(causal_map(infinite), "two")
  for (E in list(0, 31, 1.5, "2", c(1, 2), list(1), Inf, numeric())) {
    argument_error(causal_map(x, E = E), "`E` must be")
  }
  argument_error(causal_map(x, E = c(one = 1, two = 2)), "three")
  for (E_max in list(0, 31, NA, "a")) argument_error(causal_map(x, E_max = E_max), "`E_max`")
  for (tau in list(0, 0.5, NA, "a", c(-1, -2))) argument_error(causal_map(x, tau = tau), "`tau`")
  for (Tp in list(0.5, NA, "a", c(1, 1), integer(), 1e9)) {
    argument_error(causal_map(x, E = 2, Tp = Tp), "`Tp`")
  }
  for (which in list(0, 4, 1.5, "four", c(1, 1), integer(), NA, TRUE)) {
    argument_error(causal_map(x, libraries = which), "`libraries`")
    argument_error(causal_map(x, targets = which), "`targets`")
  }
  argument_error(causal_map(x, targets = "tow"), "Did you mean \"two\"")
  expect_error(causal_map(x, validation = "none"), "validation")
  argument_error(causal_map(x, exclusion_radius = -1), "`exclusion_radius`")
  for (sizes in list(5, c(5, 5), c(9, 5), c(2, 9), c(5, NA), c(5.5, 9), "5 9", c(Inf, Inf))) {
    argument_error(causal_map(x, lib_sizes = sizes), "`lib_sizes`")
  }
  argument_error(causal_map(x, n_surrogates = -1), "`n_surrogates`")
  expect_error(causal_map(x, n_surrogates = 1, surrogate = "none"), "surrogate")
  argument_error(causal_map(x, n_surrogates = 1, surrogate = "seasonal"), "`period`")
  for (screen in list(2, NA, "a")) argument_error(causal_map(x, screen = screen), "`screen`")
  for (top in list(0, 1.5, NA)) argument_error(causal_map(x, top = top), "`top`")
  argument_error(causal_map(x, resume = TRUE), "`resume` must be left out")
  expect_error(causal_map(x, device = "tpu"), "device")
  argument_error(causal_map(x, gpus = 0), "`gpus`")
  argument_error(causal_map(x, precision = "half"), "needs a GPU")
  argument_error(causal_map(x, max_memory = 5), "`max_memory`")
  argument_error(causal_map(x, threads = 0), "`threads`")
  argument_error(causal_map(x, dataset = "a"), "`dataset`")
  condition <- tryCatch(causal_map(x, E = 0), error = identity)
  expect_identical(as.character(conditionCall(condition)[[1]]), "causal_map")
  condition <- tryCatch(causal_map(x, targets = 9), error = identity)
  expect_identical(as.character(conditionCall(condition)[[1]]), "causal_map")
})

test_that("the device is chosen by the work there is", {
  expect_message(place <- choose_device(0.01, "A", "", 0.35, FALSE), "Using the CPU")
  expect_identical(place, "cpu")
  expect_message(place <- choose_device(100, "A", "", 0.35, FALSE), "Using the GPU \\(A\\)")
  expect_identical(place, "gpu")
  expect_message(place <- choose_device(100, NA, "none", 0.35, FALSE), "no GPU: none")
  expect_identical(place, "cpu")
  expect_message(place <- choose_device(0.01, "A", "", 0.35, TRUE), "alone")
  expect_identical(place, "gpu")
})

test_that("Ctrl-C is an interrupt", {
  skip_on_cran()
  expect_interrupted(quote({
    set.seed(1)
    x <- matrix(stats::rnorm(4e5), 2000)
    begin()
    causal_map(x, threads = 2)
  }))
  expect_interrupted(quote({
    set.seed(1)
    x <- matrix(stats::rnorm(4e5), 2000)
    begin()
    causal_map(x, E = 3, threads = 2, n_surrogates = 50)
  }))
})

test_that("groups, blocks and results of a map fit into its memory", {
  for (steps in c(50, 600)) for (n in c(20, 1500)) for (memory in c(2e7, 1e8)) {
    for (rule in list(map_rule(3), map_rule(3, Tp = -2:2), map_rule(3, lib_sizes = c(10, Inf)),
                      map_rule(3, n_surrogates = 8), map_rule(3, Tp = 0:1, n_surrogates = 300,
                                                            lib_sizes = c(10, 40)))) {
      rule$max_memory <- memory
      job <- list(rule = rule, source = list(steps = steps), E = rep(2, n), libraries = seq_len(n),
                  targets = seq_len(n), gpus = NULL)
      plan <- map_plan(job)
      views <- length(rule$Tp) * (1 + !is.null(rule$lib_sizes))
      group <- max(vapply(plan$groups, \(g) {
        own <- is.null(g$surrogates)
        4 * steps * length(g$columns) * max(1, length(g$surrogates)) *
          (1 + if (own) views else length(rule$Tp))
      }, 0))
      width <- max(vapply(plan$groups, \(g) length(g$columns) * max(1, length(g$surrogates)), 0))
      block <- plan$block * (24 * steps + width * (8 + 8 * (rule$n_surrogates > 0)))
      kept <- plan$stretch * n * 8 * length(rule_layers(rule))
      expect_lte(group + block + if (length(plan$groups) > 1) kept else 0, 1.2 * memory)
    }
  }
})

test_that("the memory of a map with surrogates is what it was given", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  lines <- start_child(quote({
    high <- \() as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"),
                                                  value = TRUE))) * 1024
    x <- matrix(runif(200 * 2000), 200)
    map <- \(x, ...) causal_map(x, E = 1, n_surrogates = 30, surrogate = "shuffle", threads = 1,
                               libraries = 1:20, ...)
    map(x[, 1:20])
    before <- high()
    map(x, max_memory = 6e7)
    log("start", high() - before)
  }))
  more <- await_line(lines, "start", 60)
  # R itself waits for 64 MB before it gives back what is no longer used.
  expect_lt(as.numeric(more), 1.2 * 6e7 + 2^26)
})

test_that("the best lag and its convergence do not depend on blocks", {
  x <- ring_series(40, 90)
  x[, 7] <- 1
  x[3:40, 9] <- NA
  set.seed(1)
  map <- \(memory) {
    set.seed(1)
    quiet_map(x, E = c(2, NA, rep(3, 38)), Tp = -1:1, lib_sizes = c(10, 60), threads = 1,
              n_surrogates = 2, surrogate = "shuffle", max_memory = memory)
  }
  large <- map(4e9)
  expect_identical(map_numbers(map(1e6)), map_numbers(large))
  # Of each lag alone, the best is found here.
  each <- lapply(c(0, -1, 1), \(Tp) {
    set.seed(1)
    quiet_map(x, E = c(2, NA, rep(3, 38)), Tp = Tp, lib_sizes = c(10, 60), threads = 1)
  })
  rho <- vapply(each, \(m) as.vector(as.matrix(m)), double(1600))
  best <- max.col(replace(rho, is.na(rho), -9), "first")
  picked <- cbind(1:1600, best)
  expect_identical(as.vector(as.matrix(large)), rho[picked])
  convergence <- vapply(each, \(m) as.vector(attr(m, "convergence")), double(1600))
  expect_identical(as.vector(attr(large, "convergence")), convergence[picked])
})

test_that("arguments that would not be used are refused", {
  x <- ring_series(4)
  refused <- \(..., says) expect_error(causal_map(x, ..., threads = 1), says,
                                      class = "synfire_error_argument")
  refused(E = 2, E_max = 5, says = "`E_max` must be left out")
  refused(E = 2, validation = "split", says = "`validation` must be left out")
  refused(E = 2, surrogate = "shuffle", says = "`surrogate` must be left out")
  refused(E = 2, period = 12, says = "`period` must be left out")
  refused(E = 2, n_surrogates = 3, period = 12, says = "`period` must be left out")
  refused(E = sum, says = "`E` must be")
  refused(E = globalenv(), says = "`E` must be")
  refused(E = structure(2, class = "integer64"), says = "`E` must be")
  refused(E = 2, lib_sizes = structure(c(5, 9), class = "integer64"), says = "`lib_sizes` must be")
  refused(E = 2, libraries = structure(1, class = "integer64"), says = "`libraries` must be")
  expect_error(causal_map(), "`x` must be a numeric matrix", class = "synfire_error_argument")
  expect_error(causal_map(structure(matrix(1, 9, 2), class = "integer64")), "`x` must be",
               class = "synfire_error_argument")
  skip_if_not_installed("hdf5r")
  refused(E = 2, file = "caf\xe9\xff", says = "`file` must be")
  refused(E = 2, file = "", says = "`file` must be")
})

test_that("libraries that are drawn from in runs of different lengths are counted once", {
  set.seed(4)
  x <- matrix(runif(155), 31)
  call <- function(...) {
    causal_map(x, E = 1, Tp = 1, lib_sizes = c(5, 12), n_surrogates = 3, surrogate = "shuffle",
               threads = 1, ...)
  }
  set.seed(1)
  some <- call(libraries = c(2L, 4L, 5L))
  set.seed(1)
  expect_equal(as.matrix(some), as.matrix(call())[c(2, 4, 5), ], ignore_attr = TRUE)
})

test_that("the first column of a data frame is the time, as in simplex()", {
  x <- random_series(30, 3, 13)
  colnames(x) <- c("a", "b", "c")
  held <- plain(causal_map(x, E = 1))
  timed <- data.frame(time = seq(0, by = 0.5, length.out = 30), x)
  expect_message(map <- causal_map(timed, E = 1), "`time`, is the time; series: a, b, c")
  expect_identical(plain(map), held)
  timed$time <- as.POSIXct("2026-01-01", tz = "UTC") + timed$time
  expect_identical(plain(suppressMessages(causal_map(timed, E = 1))), held)
  expect_silent(map <- causal_map(as.data.frame(x), E = 1, no_time = TRUE))
  expect_identical(plain(map), held)

  wrong <- \(code, words) expect_error(code, words, class = "synfire_error_argument")
  wrong(causal_map(as.data.frame(x), E = 1), "one where `a` does not.*no_time = TRUE")
  wrong(causal_map(timed[c(2, 1, 3:30), ], E = 1), "increases from row to row")
  wrong(causal_map(timed["time"], E = 1), "one series or more")
  wrong(causal_map(x, E = 1, no_time = TRUE), "`no_time` must be left out")
})
