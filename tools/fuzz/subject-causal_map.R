# Causal maps and embedding dimensions: against brute force, other instructions, threads and
# budgets, and the GPU against the CPU.

# Series that a map can be made of: no infinite ones, some tied, constant or with gaps.
draw_map_series <- function() {
  steps <- one_of(whole(8, 40), whole(20, 90), whole(8, 12))
  n <- whole(1, 7)
  x <- vapply(seq_len(n), function(j) as.double(draw_series(steps)), double(steps))
  x <- matrix(x, steps, n)
  if (sometimes(0.2)) x[, 1] <- one_of(0, 0.1, 1e6)
  if (sometimes(0.2)) x[sample.int(length(x), ceiling(length(x) / 20))] <- NA
  if (sometimes(0.7)) colnames(x) <- sprintf("s%02d", seq_len(n))
  x
}

draw_map_rule <- function(x) {
  rule <- some_args(
    tau = one_of(-1, 1, -2, 2, -3, 4, -7), exclusion_radius = whole(0, 9),
    validation = one_of("loo", "split"), max_memory = one_of(4e9, 1e6, 1e7)
  )
  rule$threads <- 1
  rule
}

# Two layers agree: missing in the same places, the rest to a tolerance.
close_maps <- function(a, b, what, tolerance) {
  if (refused(a) || refused(b)) return(same(a, b, what))
  a <- unclass(a)
  b <- unclass(b)
  apart <- is.na(a) != is.na(b)
  if (any(apart)) {
    return(finding(sprintf("%s: %d of %d values are NA in one only, first at %d (%s and %s)",
                           what, sum(apart), length(a), which(apart)[[1L]],
                           format(a[apart][[1L]]), format(b[apart][[1L]]))))
  }
  off <- abs(c(a) - c(b))
  if (any(off > tolerance, na.rm = TRUE)) {
    finding(sprintf("%s: %d of %d values differ by more than %s, the most by %s", what,
                    sum(off > tolerance, na.rm = TRUE), length(off), format(tolerance),
                    format(max(off, na.rm = TRUE))))
  }
}

# Whether single precision can tell what double precision does: neighbours at the same
# distance, and series far from zero or too large or small, are looked at in their own scale.
comparable_series <- function(x) {
  all(apply(x, 2, function(v) {
    v <- v[!is.na(v)]
    spread <- if (length(v) > 1) diff(range(v)) else 0
    spread == 0 || spread > 1e-6 * max(abs(v)) && spread < 1e100 && spread > 1e-100
  }))
}

# Pairs whose neighbours are settled by more than rounding.
settled <- function(x, E, rule) {
  oracle <- oracles()
  outer(seq_len(ncol(x)), seq_along(E), Vectorize(function(i, j) {
    !is.na(E[[j]]) && !oracle$oracle_near_tie(x[, i], E[[j]], rule$tau %||% -1, rule$Tp %||% 0,
                                              rule$exclusion_radius %||% 0)
  }))
}

# The tolerance of the definitions, and more where a handful of points is compared.
map_tolerance <- function(x, E, rule) {
  E <- max(1, E, na.rm = TRUE)
  rows <- nrow(x) - (E - 1) * abs(rule$tau %||% -1) - max(abs(rule$Tp %||% 0))
  if (anyNA(x)) rows <- rows - sum(rowSums(is.na(x)) > 0) * E
  rows <- rows - 2 * (rule$exclusion_radius %||% 0)
  if (rows > 4 * E + 12) 1e-4 else 1e-2
}

fuzz_subject("causal_map", limit = 60, covers = list(
  causal_map = c("x", "E", "E_max", "tau", "Tp", "libraries", "targets", "validation",
                 "exclusion_radius", "lib_sizes", "n_surrogates", "surrogate", "period",
                 "screen", "top", "dataset", "no_time", "device", "gpus", "precision", "max_memory", "threads"),
  embed_dimension.default = c("E_max", "tau", "Tp", "validation", "exclusion_radius",
                              "dataset", "device", "gpus", "max_memory", "threads")
), run = function(world) {
  x <- draw_map_series()
  if (sometimes(0.35)) fuzz_dimensions(x, world) else fuzz_map(x, world)
  if (sometimes(0.05)) fuzz_data_set(x, world)
  if (sometimes(0.1)) fuzz_table(x)
})

# Series of a data frame, with and without a column of times.
fuzz_table <- function(x) {
  if (is.null(colnames(x))) colnames(x) <- sprintf("s%02d", seq_len(ncol(x)))
  plain <- as.data.frame(x)
  timed <- cbind(time = sort(sample(1e4, nrow(x))) / one_of(1, 7), plain)
  args <- list(x = x, E = whole(1, 3), threads = 1)
  whole_matrix <- attempt("causal_map", args)
  with_time <- attempt("causal_map", replace(args, "x", list(timed)))
  without <- attempt("causal_map", c(replace(args, "x", list(plain)), no_time = TRUE))
  values <- function(found) if (refused(found)) "refused" else unclass(as.data.frame(found))
  same(values(with_time), values(whole_matrix), "a map of a table with times")
  same(values(without), values(whole_matrix), "a map of a table without times")
}

# Series of a data set in a file, and the same in memory.
fuzz_data_set <- function(x, world) {
  if (!requireNamespace("hdf5r", quietly = TRUE)) return()
  file <- file.path(world$folder, "map.h5")
  h5 <- hdf5r::H5File$new(file, "w")
  h5[["series"]] <- x
  h5$close_all()
  read <- attempt("causal_map", list(file, E = 2, dataset = "series", threads = 1))
  held <- attempt("causal_map", list(x, E = 2, threads = 1))
  plain <- function(map) if (refused(map)) "refused" else unname(unclass(as.matrix(map)))
  same(plain(read), plain(held), "the map of a matrix and of a file")
}

fuzz_dimensions <- function(x, world) {
  rule <- draw_map_rule(x)
  rule$E_max <- whole(1, 8)
  rule$Tp <- one_of(1, 0, 2, -1, -3)
  call <- function(...) {
    attempt("embed_dimension", utils::modifyList(c(list(x), rule), list(...)))
  }
  cpu <- call()
  same(cpu, call(threads = whole(2, 4)), "dimensions with one and several threads")
  if (refused(cpu)) return()
  skill <- attr(cpu, "skill")
  if (sometimes(0.1) && requireNamespace("hdf5r", quietly = TRUE)) {
    file <- file.path(world$folder, "series.h5")
    h5 <- hdf5r::H5File$new(file, "w")
    h5[["series"]] <- x
    h5$close_all()
    read <- attempt("embed_dimension", c(list(file, dataset = "series"), rule))
    same(if (refused(read)) read else unname(attr(read, "skill")), unname(skill),
         "dimensions of a matrix and of a file")
  }
  if (comparable_series(x)) {
    oracle <- oracles()$oracle_dimensions(
      x, rule$E_max, rule$Tp, tau = rule$tau %||% -1, exclusion = rule$exclusion_radius %||% 0,
      split = identical(rule$validation, "split"))
    own <- vapply(seq_len(rule$E_max), function(E) {
      diag(settled(x, rep(E, ncol(x)), rule))
    }, logical(ncol(x)))
    close_maps(ifelse(own, skill, 0), ifelse(own, oracle, 0), "dimensions and brute force",
               map_tolerance(x, rule$E_max, rule))
  }
  if (world$gpu) {
    gpu <- call(device = "gpu", gpus = whole(1, world$gpus))
    if (refused(gpu)) return(same(cpu, gpu, "dimensions on the CPU and a GPU"))
    close_maps(attr(gpu, "skill"), skill, "dimensions on a GPU and the CPU",
               map_tolerance(x, rule$E_max, rule))
  }
}

draw_E <- function(x, targets) {
  switch(one_of("one", "each", "named", "found"),
    one = whole(1, 6), each = vapply(targets, function(j) whole(1, 6), 0),
    named = if (is.null(colnames(x))) 1 else {
      stats::setNames(vapply(targets, function(j) one_of(1, 3, NA), 0), colnames(x)[targets])
    })
}

fuzz_map <- function(x, world) {
  n <- ncol(x)
  rule <- draw_map_rule(x)
  targets <- if (sometimes(0.3)) sort(sample.int(n, whole(1, n))) else seq_len(n)
  libraries <- if (sometimes(0.3)) sort(sample.int(n, whole(1, n))) else seq_len(n)
  if (length(targets) < n) rule$targets <- targets
  if (length(libraries) < n) rule$libraries <- libraries
  rule$E <- draw_E(x, targets)
  if (is.null(rule$E)) rule$E_max <- whole(1, 6)
  rule$Tp <- one_of(0, 1, -1, 2, -4, c(-1, 0), -2:2)
  plain <- sometimes(0.6)
  if (!plain) {
    rule <- c(rule, some_args(p = 0.3, lib_sizes = one_of(c(5, 12), c(8, Inf)),
                              n_surrogates = whole(1, 6), top = whole(1, 4),
                              screen = one_of(0.5, -1, 0, 1)))
    if (!is.null(rule$n_surrogates)) {
      rule$surrogate <- one_of("shuffle", "phase", "seasonal", "twin", "shift")
      if (rule$surrogate == "seasonal") rule$period <- whole(2, 6)
    }
  }
  seed <- whole(1, 1e6)
  call <- function(...) {
    args <- utils::modifyList(c(list(x), rule), list(...))
    set.seed(seed)
    attempt("causal_map", args)
  }
  cpu <- call()
  same(cpu, call(threads = whole(2, 4)), "maps with one and several threads")
  same(cpu, call(max_memory = one_of(2e6, 4e9)), "maps with another budget")
  if (refused(cpu)) return()
  if (is.null(rule$top) && is.null(rule$screen)) {
    if (plain && length(rule$Tp) == 1L) map_and_oracle(cpu, x, rule, libraries, targets)
    kinds_agree(cpu, x, rule, libraries, targets)
  }
  if (world$gpu) map_on_gpu(cpu, call, x, rule, world)
}

map_and_oracle <- function(map, x, rule, libraries, targets) {
  if (!comparable_series(x)) return()
  E <- unname(attr(map, "E"))
  oracle <- oracles()$oracle_causal_map(
    x, E, libraries, targets, tau = rule$tau %||% -1, Tp = rule$Tp,
    exclusion = rule$exclusion_radius %||% 0)
  sure <- settled(x[, libraries, drop = FALSE], E, rule)
  found <- matrix(unclass(map), nrow(map))
  close_maps(ifelse(sure, found, 0), ifelse(sure, oracle, 0), "map and brute force",
             map_tolerance(x, E, rule))
}

# Portable code and that of wider registers add in another order.
kinds_agree <- function(map, x, rule, libraries, targets) {
  if (!is.null(rule$n_surrogates)) return()
  E <- unname(attr(map, "E"))
  layers <- lapply(c(1, 256, 512), function(bits) {
    oracles()$driven(x, E, tau = rule$tau %||% -1, Tp = rule$Tp, libraries = libraries,
                        targets = targets, exclusion = rule$exclusion_radius %||% 0,
                        key = attr(map, "parameters")$key, lib_sizes = rule$lib_sizes,
                        E_max = attr(map, "parameters")$E_max, vector_bits = bits)
  })
  tolerance <- map_tolerance(x, E, rule)
  for (other in layers) {
    close_maps(unmapped_rows(other$rho, map), matrix(unclass(map), nrow(map)), "maps of two kinds of registers",
               tolerance)
  }
}

# Rows of series without a rho, whatever the compiled code finds for them.
unmapped_rows <- function(rho, map) {
  none <- rownames(map) %in% names(attr(map, "reasons"))[attr(map, "reasons") != "pieces"]
  rho[none, ] <- NA
  rho
}

map_on_gpu <- function(cpu, call, x, rule, world) {
  gpu <- call(device = "gpu", gpus = whole(1, world$gpus))
  if (refused(gpu)) return(same(cpu, gpu, "maps on the CPU and a GPU"))
  tolerance <- map_tolerance(x, attr(cpu, "E"), rule)
  if (is.null(rule$top) && is.null(rule$screen)) {
    close_maps(matrix(unclass(gpu), nrow(gpu)), matrix(unclass(cpu), nrow(cpu)),
               "maps on a GPU and the CPU", tolerance)
    if (length(rule$Tp) == 1L && !is.null(rule$lib_sizes)) {
      close_maps(attr(gpu, "convergence"), attr(cpu, "convergence"),
                 "convergence on a GPU and the CPU", 2 * tolerance)
    }
    half <- call(device = "gpu", precision = "half")
    if (refused(half) || any(dim(half) != dim(cpu))) {
      finding("a map in half precision is refused, or of another shape")
    }
  } else if (!identical(names(gpu), names(cpu))) {
    finding("links on a GPU have other columns than on the CPU")
  }
}
