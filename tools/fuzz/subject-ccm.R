# Cross mapping: against the slow oracle with the same libraries, causal maps, and pyEDM.
fuzz_subject("ccm",
  covers = list(
    ccm = c("x", "columns", "target", "E", "Tp", "tau", "lib_sizes", "samples", "knn",
            "exclusion_radius", "embedded", "both", "valid_lib", "segments", "no_time",
            "n_surrogates", "surrogate", "period", "device", "gpus", "threads"),
    ccm_lag = c("x", "columns", "target", "E", "Tp", "tau", "lib_size", "samples", "knn",
                "exclusion_radius", "embedded", "both", "valid_lib", "segments", "no_time",
                "device", "gpus", "threads")
  ),
  run = function(world) {
    x <- draw_table(whole(2, 4), whole(10, 70))
    n <- nrow(x)
    names <- sample(names(x)[-1L])
    args <- c(
      list(x = x, columns = names[seq_len(whole(1, length(names) - 1))],
           target = names[[length(names)]], E = whole(1, 5)),
      some_args(Tp = whole(-6, 6), tau = one_of(-1, 1, -2, 3), p = 0.6),
      some_args(knn = whole(0, 8), exclusion_radius = one_of(0, 1, 5), embedded = TRUE,
                both = FALSE, valid_lib = runif(n) < 0.8,
                segments = sort(sample.int(2, n, replace = TRUE)), no_time = TRUE, p = 0.25)
    )
    if (isTRUE(args$no_time)) args$x <- x[-1L]
    if (isTRUE(args$embedded)) args$E <- length(args$columns)
    # Several targets, among them columns, and a series with itself.
    if (sometimes(0.3)) args$target <- sample(names, whole(1, 2))
    all <- attempt("ccm", c(args, list(lib_sizes = Inf)))
    if (refused(all)) return(invisible())
    # What the data chose is the same when it is given.
    chosen <- attr(all, "parameters")[setdiff(c("tau", "exclusion_radius"), names(args))]
    args <- c(args, chosen)
    given <- attempt("ccm", c(args, list(lib_sizes = Inf)))
    same(ccm_numbers(all), ccm_numbers(given), "ccm() with what was chosen")
    compare_all_rows(args, all)
    compare_lags(args, all)
    compare_libraries(args)
    if (sometimes(0.3)) compare_surrogates(args)
    if (sometimes(0.3)) compare_verdicts(args)
    if (sometimes(0.5)) compare_devices(args, world)
    compare_map(args, all)
    if (!is.null(world$peers$pyEDM) && sometimes(0.03)) compare_pyedm(args, all, world)
  }
)

# Which rows a direction has, by the definition: complete delay vectors with a target.
ccm_problem <- function(args, back = FALSE) {
  x <- args$x
  n <- nrow(x)
  segment <- cumsum(c(TRUE, diff(args$segments %||% rep(1, n)) != 0))
  columns <- if (back) args$target else args$columns
  target <- if (back) args$columns[[1L]] else args$target[[1L]]
  Tp <- args$Tp %||% 0
  lags <- if (isTRUE(args$embedded)) 0 else (seq_len(args$E) - 1) * (args$tau %||% -1)
  at <- function(name, by) {
    row <- seq_len(n) + by
    row[row < 1 | row > n] <- NA
    row[is.na(row) | segment[row] != segment] <- NA
    v <- as.double(x[[name]])
    v[!is.finite(v)] <- NA
    list(value = v[row], there = !is.na(row))
  }
  points <- do.call(cbind, lapply(columns, function(name) {
    do.call(cbind, lapply(lags, function(lag) at(name, lag)$value))
  }))
  ahead <- at(target, Tp)
  valid <- args$valid_lib %||% rep(TRUE, n)
  knn <- args$knn %||% 0
  list(points = points, target = ahead$value,
       lib = which(rowSums(is.na(points)) == 0 & ahead$there & valid),
       k = if (knn > 0) knn else args$E + 1, exclusion = args$exclusion_radius %||% 0)
}

ccm_numbers <- function(found) lapply(as.list(as.data.frame(found)), as.double)

directions <- function(args) {
  if (isFALSE(args$both) || identical(args$columns, args$target)) FALSE else c(FALSE, TRUE)
}

# rho is of no account where all predictions are the same to within rounding.
same_rho <- function(a, b, what, tolerance = 1e-8) same(as.double(a), as.double(b), what, tolerance)

compare_all_rows <- function(args, all) {
  for (back in directions(args)) {
    p <- ccm_problem(args, back)
    slow <- oracles()$oracle_cross_map(p$points, p$lib, p$lib, p$target, p$k, p$exclusion)
    about <- if (back) "ccm() the other way" else "ccm()"
    if (is.na(slow[["rho"]]) || sd(p$target[p$lib], na.rm = TRUE) > 1e-9) {
      same_rho(all[[2L + back]], slow[["rho"]], paste(about, "and the slow one"))
    }
    sizes <- attr(all, "samples")
    same(sizes$LibSize[[1L + back]], length(p$lib), paste(about, "rows of Inf"))
  }
}

compare_lags <- function(args, all) {
  Tp <- args$Tp %||% 0
  given <- args
  given$Tp <- unique(c(Tp, sample(-4:4, 2)))
  lags <- attempt("ccm_lag", c(given, list(threads = 2)))
  if (refused(lags)) return()
  same(unlist(as.data.frame(lags)[1L, -1L]), unlist(as.data.frame(all)[1L, -1L]),
       "ccm_lag() and ccm()")
}

# Libraries drawn by the same numbers, and threads.
compare_libraries <- function(args) {
  most <- min(vapply(directions(args), function(back) length(ccm_problem(args, back)$lib), 0L))
  least <- ccm_problem(args)$k + 1
  if (least > most) return()
  sizes <- unique(c(least, least + whole(0, most - least), most))
  run <- function(threads, ...) {
    set.seed(11)
    attempt("ccm", c(args, list(lib_sizes = sizes, samples = 3, threads = threads), ...))
  }
  found <- run(1)
  if (refused(found)) return()
  same(found, run(2), "ccm() with two threads")
  same(found, run(16), "ccm() with sixteen threads")
  set.seed(11)
  key <- synfire:::random_key()
  for (back in directions(args)) {
    p <- ccm_problem(args, back)
    samples <- attr(found, "samples")
    samples <- samples[samples$direction == unique(samples$direction)[[1L + back]], ]
    slow <- mapply(function(size, sample) {
      rows <- if (size < length(p$lib)) {
        oracles()$oracle_library(p$lib, size, sample, as.integer(back), key)
      } else p$lib
      oracles()$oracle_cross_map(p$points, rows, p$lib, p$target, p$k, p$exclusion)
    }, samples$LibSize, samples$sample)
    same_rho(samples$rho, slow["rho", ], "libraries and the slow ones")
    known <- !is.na(samples$MAE)
    scale <- size_of(p$target)
    same_rho(samples$MAE[known] / scale, slow["MAE", known] / scale, "MAE of libraries")
  }
  lag <- args
  lag$Tp <- args$Tp %||% 0
  set.seed(11)
  one <- attempt("ccm_lag", c(lag, list(lib_size = sizes[[1L]], samples = 3)))
  if (!refused(one)) {
    same(as.double(one[1L, -1L]), as.double(found[match(sizes[[1L]], found$LibSize), -1L]),
         "ccm_lag() and ccm() with samples")
  }
}

compare_surrogates <- function(args) {
  given <- c(args, list(lib_sizes = Inf, n_surrogates = whole(1, 6),
                        surrogate = one_of("shuffle", "phase", "seasonal", "twin")))
  if (given$surrogate == "seasonal") given$period <- whole(2, 9)
  run <- function(threads) {
    set.seed(5)
    attempt("ccm", c(given, list(threads = threads)))
  }
  found <- run(1)
  if (refused(found)) return()
  same(found, run(2), "ccm(n_surrogates = ) with two threads")
  p <- attr(found, "surrogates")$p
  same(all(is.na(p) | p > 0 & p <= 1), TRUE, "p values lie between 0 and 1")
}

# The GPU draws the same libraries and finds the same neighbours.
compare_devices <- function(args, world) {
  sizes <- one_of(Inf, NULL, c((args$knn %||% 0) + 7, Inf))
  given <- c(args, list(lib_sizes = sizes, samples = one_of(1, 3, 40)),
             if (sometimes(0.3)) list(n_surrogates = whole(1, 6), surrogate = "shuffle"))
  cpu <- on_device("ccm", given, "cpu", NULL, world)
  gpu <- on_device("ccm", given, "gpu", draw_gpus(world), world)
  if (world$gpu) {
    if (refused(gpu) || refused(cpu)) return(same(gpu, cpu, "ccm() on a GPU and the CPU"))
    scale <- size_of(lapply(directions(args), function(back) ccm_problem(args, back)$target))
    for (what in c("rho", "MAE", "RMSE")) {
      by <- if (what == "rho") 1 else scale
      same_rho(attr(gpu, "samples")[[what]] / by, attr(cpu, "samples")[[what]] / by,
               paste(what, "on a GPU and the CPU"))
    }
    same(attr(gpu, "surrogates")$median, attr(cpu, "surrogates")$median,
         "surrogates on a GPU and the CPU", 1e-8)
  }
  given <- c(args[names(args) != "Tp"], list(Tp = sort(sample(-5:5, 3))))
  cpu <- on_device("ccm_lag", given, "cpu", NULL, world)
  gpu <- on_device("ccm_lag", given, "gpu", draw_gpus(world), world)
  if (world$gpu) {
    if (refused(gpu) || refused(cpu)) return(same(gpu, cpu, "ccm_lag() on a GPU and the CPU"))
    same(as.data.frame(gpu), as.data.frame(cpu), "ccm_lag() on a GPU and the CPU", 1e-8)
  }
}

on_device <- function(name, args, device, gpus, world) {
  force(gpus)  # is drawn, too, which must not move the libraries' random numbers
  set.seed(11)
  out <- attempt(name, c(args, list(device = device, gpus = gpus)))
  reason <- c("synfire_error_device", "synfire_error_argument")
  if (device == "gpu" && !world$gpu && !inherits(out, reason)) {
    finding(sprintf("%s() with device = \"gpu\" goes on without a GPU", name))
  }
  out
}

# Verdicts: of longer series, as those of a case are refused for being short. The same on any
# number of threads.
compare_verdicts <- function(args) {
  wider <- repeated(args, whole(1, 5))
  run <- function(threads, ...) {
    set.seed(7)
    found <- attempt("ccm", c(wider, list(threads = threads), ...))
    if (refused(found)) return(found)
    as.data.frame(attempt("summary", list(found, alpha = 0.1)))
  }
  one <- run(1, list(lib_sizes = Inf))
  if (refused(one)) return()
  decided <- c("verdict", "supported", "reason", "words")
  same(one[decided], run(2, list(lib_sizes = Inf))[decided], "verdicts with two threads")
  lagged <- wider
  lagged$Tp <- args$Tp %||% 0
  set.seed(7)
  lags <- attempt("ccm_lag", c(lagged, list(threads = 1)))
  if (!refused(lags)) {
    lags <- as.data.frame(attempt("summary", list(lags, alpha = 0.1)))
    same(lags[decided[-4L]], one[decided[-4L]], "verdicts of ccm_lag()")
    same(endsWith(lags$words, one$words), rep(TRUE, nrow(one)), "sentences of ccm_lag()")
  }
  same(is.na(one$supported), one$verdict == "cannot be told", "verdicts that are open")
  same(is.na(one$reason), one$verdict == "supported", "reasons of verdicts")
  shares <- unlist(one[c("own_p", "surrogate_p", "repeated")])
  same(all(is.na(shares) | shares > 0 & shares <= 1), TRUE, "p values of verdicts")
  told <- one$verdict != "cannot be told"
  same(all(one$rows[told] >= 100), TRUE, "rows of verdicts")
}

# The same series several times over, a little noise apart, each a segment of its own.
repeated <- function(args, times) {
  n <- nrow(args$x)
  rows <- rep(seq_len(n), times)
  out <- args
  out$x <- args$x[rows, , drop = FALSE]
  if (!isTRUE(args$no_time)) out$x[[1L]] <- seq_along(rows)
  numbers <- vapply(out$x, is.double, NA)
  out$x[numbers] <- lapply(out$x[numbers], function(v) v + 1e-3 * size_of(v) * rnorm(length(v)))
  out$segments <- rep(seq_len(times), each = n) * 10 + (args$segments %||% rep(1, n))[rows]
  if (!is.null(args$valid_lib)) out$valid_lib <- args$valid_lib[rows]
  out
}

# A causal map of the two series has the same pair, in single precision.
compare_map <- function(args, all) {
  plain <- length(args$columns) == 1L && length(args$target) == 1L &&
    args$columns != args$target && is.null(args$valid_lib) && is.null(args$segments) &&
    (args$knn %||% 0) %in% c(0, args$E + 1) && is.null(args$embedded)
  if (!plain) return()
  x <- as.matrix(args$x[c(args$columns, args$target)])
  map <- attempt("causal_map", c(list(x, E = args$E, Tp = args$Tp %||% 0,
                                      tau = args$tau %||% -1,
                                      exclusion_radius = args$exclusion_radius %||% 0)))
  if (refused(map)) return()
  for (back in directions(args)) {
    p <- ccm_problem(args, back)
    # Distances that are equal in single precision only may change places.
    if (near_ties(p) || near_constant(p)) next
    same_rho(all[[2L + back]], map[1L + back, 2L - back], "ccm() and causal_map()", 1e-4)
  }
}

near_ties <- function(p) {
  any(vapply(p$lib, function(row) {
    d <- oracles()$oracle_neighbours(p$points, p$lib, row, p$k + 1, p$exclusion)$distance
    length(d) > 1 && any(diff(d) <= 1e-4 * pmax(d[-1L], 1e-30))
  }, NA)) || isTRUE(sd(p$target[p$lib], na.rm = TRUE) < 1e-4 * size_of(p$target))
}

# Predictions that are the same in single precision have no correlation there.
near_constant <- function(p) {
  made <- oracles()$oracle_simplex(p$points, p$lib, p$lib, p$target, p$k, p$exclusion)
  isTRUE(sd(made$predictions, na.rm = TRUE) < 1e-5 * size_of(made$predictions))
}

# pyEDM leaves rows without a target out of the library, and knows no order of ties.
compare_pyedm <- function(args, all, world) {
  p <- ccm_problem(args)
  if (!is.null(args$segments) || anyNA(p$target[p$lib]) || near_ties(p)) return()
  if (length(args$columns) > 1L && !isTRUE(args$embedded)) return()
  theirs <- peer_call(world$peers$pyEDM, c(
    "import pandas as pd, numpy as np, pyEDM, warnings", "warnings.simplefilter('ignore')",
    "d = pd.DataFrame(input['x'], dtype = float)", "n = len(d)",
    "more = dict(validLib = np.array(input['valid'], dtype = bool)) if input['masked'] else {}",
    "r = pyEDM.CCM(d, columns = input['columns'], target = input['target'], E = int(input['E']),",
    "  Tp = int(input['Tp']), tau = int(input['tau']), knn = int(input['knn']),",
    "  exclusionRadius = int(input['radius']), embedded = bool(input['embedded']),",
    "  libSizes = [n], sample = 1, noTime = True, parallel = False, **more)",
    "output = float(r.iloc[0, 1])"
  ), list(
    x = as.data.frame(args$x), columns = as.list(args$columns), target = as.list(args$target),
    E = args$E, Tp = args$Tp %||% 0, tau = args$tau %||% -1, knn = args$knn %||% 0,
    radius = args$exclusion_radius %||% 0, embedded = isTRUE(args$embedded),
    masked = !is.null(args$valid_lib), valid = args$valid_lib %||% TRUE
  ))
  if (is.null(theirs)) return()
  same_rho(all[[2L]], theirs, "ccm() and pyEDM", 1e-4)
}
