# Work that is kept in files, for the subjects `files` and `kill`.

# A causal map, direct links, patterns, surrogates or assemblies: `name` of the function, its
# arguments, `where` what they are kept in.
draw_work <- function(kind = one_of("map", "links", "patterns", "surrogates", "assemblies"),
                      size = 1) {
  seed <- whole(1, 1e6)
  work <- switch(kind,
    map = list(name = "causal_map", where = "file", args = draw_map(size)),
    links = list(name = "direct_links", where = "folder", args = draw_links(size)),
    patterns = list(name = "mine_patterns", where = "folder", args = draw_mining(size)),
    surrogates = list(name = "pvalue_spectrum", where = "folder",
                      args = draw_surrogates(size)),
    assemblies = list(name = "find_assemblies", where = "folder", args = draw_search(size))
  )
  c(work, list(kind = kind, seed = seed))
}

draw_map <- function(size = 1) {
  n <- size * whole(2, 9)
  steps <- whole(30, 60) + 100 * (size - 1)
  x <- matrix(runif(n * steps), steps)
  if (sometimes()) for (t in 2:steps) x[t, ] <- 3.8 * x[t - 1, ] * (1 - x[t - 1, ])
  if (sometimes(0.2)) x[sample(length(x), whole(1, 4))] <- NA
  if (sometimes(0.1)) x[, 1] <- 1
  colnames(x) <- paste0(one_of("s", "\u00e9 "), seq_len(n))
  surrogates <- if (anyNA(x)) "shuffle" else c("shuffle", "phase", "twin")
  args <- c(list(x), some_args(
    E = one_of(2, 1, rep_len(c(3, 1), n), rep_len(c(NA, 2), n)),
    E_max = whole(1, 5), tau = one_of(-1, -2, 1), Tp = one_of(0, -1, c(-1, 0, 1)),
    libraries = sort(sample(n, whole(1, n))), targets = sample(n, whole(1, n)),
    validation = one_of("loo", "split"), exclusion_radius = whole(0, 3),
    lib_sizes = one_of(c(5, Inf), c(5, 20)), screen = one_of(0.2, -1),
    max_memory = one_of(4e9, 1e6), threads = one_of(1, 2), p = 0.35))
  if (!is.null(args$E)) args[c("E_max", "validation")] <- NULL
  if (length(args$E) > 1L) args$E <- rep_len(args$E, length(args$targets %||% seq_len(n)))
  if (sometimes(0.4)) {
    args$n_surrogates <- whole(1, 6)
    args$surrogate <- one_of(surrogates)
  }
  args
}

draw_links <- function(size = 1) {
  n <- whole(2, 5 + size)
  steps <- whole(100, 150)
  wiring <- matrix(rbinom(n^2, 1, 0.3) * 0.2, n)
  diag(wiring) <- 0
  x <- synfire::simulate_coupled_maps(steps, wiring, noise = 0.02)
  if (sometimes(0.2)) x[sample(length(x), whole(1, 4))] <- NA
  if (sometimes(0.2)) x[, 1] <- one_of(1, rnorm(steps) + rep_len(0:5, steps), seq_len(steps))
  map <- attempt("causal_map", list(x, E = one_of(3, 5), screen = one_of(NULL, -1), threads = 1))
  c(list(map, x), some_args(
    alpha = 0.2, max_delay = whole(1, 4), max_parties = whole(1, 4), max_links = whole(1, 20),
    exclusion_radius = whole(0, 3), threads = one_of(1, 2), p = 0.35
  ), threshold = one_of(-1, 0.1))
}

draw_mining <- function(size = 1) {
  x <- draw_recording(150 * size, 5)
  c(list(x, tick_of(x) * whole(1, 5), whole(1, 6)), list(
    min_spikes = whole(2, 3), min_count = whole(2, 4), max_spikes = whole(3, 5),
    engine = one_of("closure", "fpgrowth"), threads = 1), some_args(
      shifted_subsets = one_of("keep", "drop"), min_units = 2))
}

draw_surrogates <- function(size = 1) {
  x <- draw_recording(150 * size, 5)
  tick <- tick_of(x)
  list(x, tick * whole(1, 5), whole(1, 6), 2, whole(2, 4), max_spikes = 5,
       n_surrogates = size * whole(2, 30), dither = tick * whole(5, 30),
       spectrum = one_of("#", "3d#"), threads = 1)
}

draw_search <- function(size = 1) {
  x <- draw_for_assemblies()
  c(list(x, max_lag = one_of(0.01, 0.05), n_surrogates = size * whole(19, 60),
         threads = one_of(1, 2)),
    some_args(alpha = 0.2, segment = 0.7, resamples = one_of(0, 3), locked_to = draw_events(x)))
}

# Does it. Random numbers are those of the work, or with `other` none of its own.
do_work <- function(work, where = NULL, other = FALSE, call = attempt) {
  set.seed(if (other) 77 else work$seed)
  kept <- if (!is.null(where)) stats::setNames(list(where), work$where)
  call(work$name, c(work$args, kept))
}

# What it gives without a file. With a screen a map in memory would be a table of links.
undisturbed <- function(work, folder) {
  do_work(work, if (!is.null(work$args$screen)) file.path(folder, "undisturbed"))
}

# Its numbers, in the precision of files.
numbers_of <- function(work, value) {
  if (!refused(value) && work$kind == "links") return(as.list(value)[names(value)])
  if (refused(value) || work$kind != "map") return(value)
  layers <- c("rho", "lag", "p_value", "convergence")
  matrices <- value[, , drop = FALSE]
  parts <- c(list(as.matrix(matrices)), lapply(layers[-1L], \(layer) attr(matrices, layer)))
  single <- \(x) if (!is.null(x)) {
    matrix(readBin(writeBin(as.vector(x), raw(), size = 4), "numeric", length(x), size = 4),
           nrow(x), dimnames = dimnames(x))
  }
  # Differences and shares are rounded in files.
  parts <- stats::setNames(lapply(parts, single), layers)
  c(parts, list(E = attr(value, "E")))
}

# Runs `code` in a process of its own, a copy of this one: what it gives, or "crashed".
apart <- function(code) {
  job <- parallel::mcparallel(code, silent = TRUE)
  found <- suppressWarnings(parallel::mccollect(job)[[1L]])
  if (is.null(found)) "crashed" else found
}

# A call whose warnings, messages and errors are nobody's business.
quiet_call <- function(name, args) {
  tryCatch(suppressWarnings(suppressMessages(do.call(find_function(name), args))),
           error = identity)
}
