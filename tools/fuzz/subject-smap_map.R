# Maps of S-maps: against smap() for each pair, other registers, threads and budgets, files
# that are stopped and gone on with, and the GPU against the CPU.

fuzz_subject("smap_map", limit = 60, covers = list(
  smap_map = c("x", "E", "E_max", "tau", "Tp", "theta", "libraries", "targets", "ridge",
               "exclusion_radius", "dataset", "no_time", "file", "device", "gpus", "threads",
               "max_memory")
), run = function(world) {
  x <- draw_smap_series()
  args <- draw_smap_map(x)
  call <- function(...) {
    attempt("smap_map", utils::modifyList(c(list(x), args), list(...)))
  }
  cpu <- call()
  same(plain_smap_map(call(threads = whole(2, 4))), plain_smap_map(cpu),
       "maps of S-maps with one and several threads")
  same(plain_smap_map(call(max_memory = one_of(1e6, 4e9))), plain_smap_map(cpu),
       "maps of S-maps with another budget")
  if (sometimes(0.2)) smap_map_of_sources(x, args, cpu, world)
  if (refused(cpu)) return()
  smap_map_and_oracle(cpu, x, args)
  smap_map_kinds(cpu, x, args)
  smap_map_tables(cpu)
  if (sometimes(0.3)) smap_map_in_file(cpu, call, x, args, world)
  if (world$gpu) smap_map_on_gpu(cpu, call, x, world)
})

# Mostly without the sizes that are refused.
draw_smap_series <- function() {
  x <- draw_map_series()
  size <- apply(abs(x), 2L, max, 0, na.rm = TRUE)
  beyond <- size > 1e140 | size < 1e-140
  if (sometimes(0.9)) x[, beyond] <- stats::rnorm(nrow(x) * sum(beyond))
  x
}

draw_smap_map <- function(x) {
  n <- ncol(x)
  args <- c(
    some_args(tau = one_of(-1, 1, -2, 2, -3), Tp = one_of(0, 1, -1, 2, -4, 60),
              theta = one_of(0, 0.5, 1, 5, 40), ridge = one_of(0, 1e-6, 0.1, 100),
              exclusion_radius = whole(0, 9), max_memory = one_of(4e9, 1e6)),
    threads = 1
  )
  targets <- if (sometimes(0.3)) sample.int(n, whole(1, n)) else seq_len(n)
  if (length(targets) < n) args$targets <- targets
  if (sometimes(0.3)) args$libraries <- sample.int(n, whole(1, n))
  args$E <- draw_E(x, args$targets %||% seq_len(n))
  if (is.null(args$E)) args$E_max <- whole(1, 6)
  args
}

# Numbers alone, from memory or from a file.
plain_smap_map <- function(map) {
  if (refused(map)) return("refused")
  list(rho = unname(map$rho), strength = unname(map$strength))
}

# The same series as a table with and without times, and as a data set of a file.
smap_map_of_sources <- function(x, args, cpu, world) {
  if (is.null(colnames(x))) colnames(x) <- sprintf("s%02d", seq_len(ncol(x)))
  plain <- as.data.frame(x)
  timed <- cbind(time = sort(sample(1e4, nrow(x))), plain)
  same(plain_smap_map(attempt("smap_map", c(list(timed), args))), plain_smap_map(cpu),
       "maps of S-maps of a table with times")
  without <- attempt("smap_map", c(list(plain, no_time = TRUE), args))
  same(plain_smap_map(without), plain_smap_map(cpu), "maps of S-maps of a table without")
  if (!requireNamespace("hdf5r", quietly = TRUE)) return()
  file <- file.path(world$folder, "smap-series.h5")
  unlink(file)
  h5 <- hdf5r::H5File$new(file, "w")
  h5[["series"]] <- x
  h5[["names"]] <- colnames(x)
  h5$close_all()
  read <- attempt("smap_map", c(list(file, dataset = "series"), args))
  # One row and one column cannot be told apart where there are as many names.
  if (nrow(x) != ncol(x)) {
    same(plain_smap_map(read), plain_smap_map(cpu), "maps of S-maps of a file")
  }
}

# Where the rows tell coefficients so well that two ways must agree.
smap_map_and_oracle <- function(map, x, args) {
  rule <- args[intersect(names(args), c("tau", "Tp", "theta", "ridge", "exclusion_radius",
                                        "libraries", "targets"))]
  slow <- do.call(oracles()$oracle_smap_map,
                  c(list(x, unname(attr(map, "E"))), rule))
  compare_smap_maps(plain_smap_map(map), slow, slow$well > 1e-5, x, args,
                    "map of S-maps and smap()", 1e-6)
}

compare_smap_maps <- function(found, expected, well, x, args, what, tolerance) {
  # Of a constant target rounding is left, which is as large as it is.
  size <- apply(x, 2L, \(v) {
    spread <- stats::sd(v, na.rm = TRUE)
    if (is.na(spread) || spread == 0) max(abs(v), 1, na.rm = TRUE) else spread
  })
  n <- seq_len(ncol(x))
  scale <- outer(1 / size[args$libraries %||% n], size[args$targets %||% n])
  well <- well & !is.na(well)
  same(is.na(found$strength), is.na(expected$strength), paste0(what, ", where there is none"))
  for (part in c("rho", "strength")) {
    by <- if (part == "rho") 1 else scale
    both <- well & !is.na(found[[part]]) & !is.na(expected[[part]])
    same((found[[part]] / by)[both], (expected[[part]] / by)[both], paste0(what, ", ", part),
         tolerance = tolerance)
  }
}

# Registers of other widths add in another order.
smap_map_kinds <- function(map, x, args) {
  E <- whole(1, 4)
  options <- list(E = E, tau = args$tau %||% -1, Tp = args$Tp %||% 1,
                  theta = args$theta %||% 2, ridge = args$ridge %||% 0,
                  exclusion = args$exclusion_radius %||% 0, threads = 1, gpus = NULL)
  of <- function(bits) .Call(synfire:::r_smap_pairs, x, x, c(options, vector_bits = bits))
  one <- of(1)
  rule <- list(tau = options$tau, Tp = options$Tp, theta = options$theta,
               ridge = options$ridge, exclusion_radius = options$exclusion)
  slow <- do.call(oracles()$oracle_smap_map, c(list(x, E), rule))
  for (bits in c(256, 512)) {
    compare_smap_maps(of(bits), one, slow$well > 1e-5, x, list(),
                      sprintf("maps of S-maps with %d bits", bits), 1e-7)
  }
}

smap_map_tables <- function(map) {
  all <- as.data.frame(map, diagonal = TRUE)
  same(all$rho, as.vector(t(map$rho)), "the table of a map of S-maps")
  same(all$strength, as.vector(t(map$strength)), "the strengths of a table")
  n <- whole(1, 5)
  best <- attempt("as.data.frame", list(map, max_links = n))
  same(best$rho, utils::head(sort(as.data.frame(map)$rho, decreasing = TRUE), n),
       "the highest rho of a map of S-maps")
  utils::capture.output(print(map), print(summary(map)))
}

# A map in a file, stopped after some libraries and gone on with.
smap_map_in_file <- function(cpu, call, x, args, world) {
  if (!requireNamespace("hdf5r", quietly = TRUE)) return()
  file <- file.path(world$folder, "smap-map.h5")
  unlink(file)
  stop_at <- whole(0, nrow(cpu))
  here <- synfire:::map_smap_libraries
  put <- \(f) utils::assignInNamespace("map_smap_libraries", f, "synfire")
  on.exit(put(here))
  put(function(task, libraries, keep) {
    done <- 0
    here(task, libraries, keep = \(columns, values) {
      if (done >= stop_at) stop("stopped by the fuzz program")
      done <<- done + length(columns)
      keep(columns, values)
    })
  })
  stopped <- utils::modifyList(c(list(x), args), list(file = file))
  try(suppressMessages(do.call(synfire::smap_map, stopped)), silent = TRUE)
  put(here)
  again <- call(file = file, threads = whole(1, 3))
  same(plain_smap_map(again), plain_smap_map(cpu), "a map of S-maps that went on")
  same(plain_smap_map(open_causal_map(file)), plain_smap_map(cpu),
       "a map of S-maps that was opened")
  other <- call(file = file, theta = 7.5)
  if (!inherits(other, "synfire_error_argument")) finding("a file of another map is taken")
}

smap_map_on_gpu <- function(cpu, call, x, world) {
  gpu <- call(device = "gpu", gpus = whole(1, world$gpus))
  if (refused(gpu)) return(same(plain_smap_map(gpu), plain_smap_map(cpu),
                                "maps of S-maps on the CPU and a GPU"))
  args <- list(libraries = match(rownames(cpu), colnames(x) %||% paste0("V", seq_len(ncol(x)))),
               targets = match(colnames(cpu), colnames(x) %||% paste0("V", seq_len(ncol(x)))))
  rule <- attr(cpu, "parameters")[c("tau", "Tp", "theta", "ridge", "exclusion_radius")]
  slow <- do.call(oracles()$oracle_smap_map,
                  c(list(x, unname(attr(cpu, "E"))), rule, args))
  compare_smap_maps(plain_smap_map(gpu), plain_smap_map(cpu), slow$well > 1e-5, x, args,
                    "maps of S-maps on a GPU and the CPU", 1e-6)
}
