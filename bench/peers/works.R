# What is measured against peers: each work says what a peer gets, what we call, and what
# must be the same. bench/peers/run.R runs them.
#
# A work is a list of
#   title    as the table shows it
#   request  its name in theirs.py
#   peers    who can do it
#   devices  where it is measured: "cpu" or "gpu"
#   data     numbers that a peer gets, in a file
#   given    named numbers that it gets besides
#   ours     function(threads, device) that does it with this package
#   same     function(ours, theirs) that compares the results, `theirs` being the numbers
#            that theirs.py wrote: what `agreement()` gives

#' How far two lists of numbers may be, and are, from each other
agreement <- function(ours, theirs, tolerance, what = "same") {
  if (length(ours) != length(theirs)) {
    return(list(same = FALSE, text = sprintf("differs: %d numbers, not %d", length(theirs),
                                             length(ours))))
  }
  if (!identical(is.na(as.vector(ours)), is.na(as.vector(theirs)))) {
    return(list(same = FALSE, text = "differs: missing where the other is not"))
  }
  apart <- max(0, abs(as.vector(ours) - as.vector(theirs)), na.rm = TRUE)
  list(same = apart <= tolerance,
       text = if (apart > tolerance) sprintf("differs by %.2g", apart) else
         if (apart == 0) what else sprintf("%s to %.0e", what, apart))
}

differs <- function(text) list(same = FALSE, text = paste0("differs: ", text))

# ---- Data ------------------------------------------------------------------------------

#' The recording of motor cortex (Porrmann et al. 2021), before `end` (s), as unit and bin
read_raster <- function(end = Inf) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "spade", "movement_PGHF_raster.txt.gz")
  if (!file.exists(file)) return(NULL)
  raster <- utils::read.table(file, col.names = c("unit", "bin"))
  raster[raster$bin * 0.005 < end, ]
}

raster_trains <- function(raster, end) {
  spike_trains((raster$bin * 5 + 2) / 1000, factor(raster$unit, 0:149), start = 0, end = end,
               resolution = 1e-3)
}

#' Sym26 with each spike in the middle of its millisecond, so that programs that bin spikes
#' and programs that take differences of times count the same
centred_sym26 <- function() {
  set.seed(1)
  x <- simulate_sym26()
  table <- unique(data.frame(time = floor(x$time * 1000) + 0.5, unit = x$unit))
  spike_trains(table$time / 1000, table$unit, start = 0, end = 60, resolution = 5e-4)
}

#' Times unit by unit, and how many each unit has
times_by_unit <- function(x) {
  times <- split(as.numeric(x$time), x$unit)
  list(data = unlist(times, use.names = FALSE), sizes = unname(lengths(times)))
}

#' A noisy series with two lags, and one that it drives
ar_series <- function(n = 1600) {
  set.seed(1)
  x <- as.numeric(stats::arima.sim(list(ar = c(0.5, 0.3)), n))
  data.frame(time = seq_len(n), x = x, y = c(0, utils::head(x, -1)) + stats::rnorm(n))
}

#' Chaotic series, smoothed as calcium does, steps x series; with some noise, since a few
#' would be periodic without, and of rows that are equally near each program takes others
chaotic_series <- function(series, steps = 1600) {
  set.seed(1)
  state <- stats::runif(series, 0.1, 0.9)
  r <- stats::runif(series, 3.87, 4)
  level <- state
  x <- matrix(0, steps, series)
  for (t in seq_len(steps)) {
    state <- r * state * (1 - state)
    level <- 0.7 * level + state
    x[t, ] <- level
  }
  x + stats::rnorm(length(x), sd = 0.02)
}

# ---- Spikes ----------------------------------------------------------------------------

episodes_work <- function(title, x, min_count, intervals) {
  list(
    title = title, request = "episodes", peers = "Algorithm 1", devices = "cpu",
    ours = \(threads, device) mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      threads = threads),
    theirs = \() mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      engine = "state", threads = 1),
    same = \(ours, theirs) if (identical(as.data.frame(ours), as.data.frame(theirs))) {
      list(same = TRUE, text = sprintf("same %s episodes", count_text(nrow(ours))))
    } else {
      differs("other episodes")
    }
  )
}

count_text <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)

#' Our patterns as theirs.py writes them: `theirs` items are unit * window + lag
flat_patterns <- function(found, units = 150) {
  plain <- unclass(found)
  sizes <- rep(plain$runs$size, plain$runs$n)
  items <- plain$items
  list(n = length(sizes), sizes = sizes, counts = plain$count,
       items = items %% units * attr(found, "window_bins") + items %/% units)
}

read_flat_patterns <- function(numbers) {
  n <- numbers[[1L]]
  list(n = n, sizes = numbers[1 + seq_len(n)], counts = numbers[1 + n + seq_len(n)],
       items = numbers[-seq_len(1 + 2 * n)])
}

#' One row for each pattern: its size, its count, and two sums over its items of random
#' numbers of 30 bits, which two different sets share once in 10^18; sorted
pattern_keys <- function(flat, n_items) {
  set.seed(2)
  sums <- replicate(2, {
    weight <- floor(stats::runif(n_items) * 2^30)
    total <- c(0, cumsum(weight[flat$items + 1]))
    ends <- cumsum(flat$sizes)
    total[ends + 1] - total[ends - flat$sizes + 1]
  }, simplify = FALSE)
  keys <- c(list(as.numeric(flat$sizes), as.numeric(flat$counts)), sums)
  order <- do.call(base::order, c(keys, method = "radix"))
  lapply(keys, `[`, order)
}

same_patterns <- function(ours, theirs, n_items = 3000) {
  if (ours$n != theirs$n) {
    return(differs(sprintf("%s patterns, not %s", count_text(theirs$n), count_text(ours$n))))
  }
  if (!isTRUE(all.equal(pattern_keys(ours, n_items), pattern_keys(theirs, n_items),
                        tolerance = 0))) {
    return(differs("other patterns"))
  }
  list(same = TRUE, text = sprintf("same %s patterns", count_text(ours$n)))
}

patterns_work <- function(min_count, min_spikes, peers) {
  raster <- read_raster()
  if (is.null(raster)) return(NULL)
  x <- raster_trains(raster, 4464 * 0.005)
  list(
    title = sprintf("patterns, at least %d times, %d spikes", min_count, min_spikes),
    request = "patterns", peers = peers, devices = "cpu",
    data = c(raster$unit, raster$bin),
    given = list(window = 20, min_spikes = min_spikes, min_count = min_count),
    ours = \(threads, device) mine_patterns(x, 0.005, 20, min_spikes, min_count,
                                            threads = threads),
    same = \(ours, theirs) same_patterns(flat_patterns(ours), read_flat_patterns(theirs))
  )
}

spade_work <- function(n_surrogates = 20) {
  raster <- read_raster(5)
  if (is.null(raster)) return(NULL)
  x <- raster_trains(raster, 5)
  spikes <- times_by_unit(x)
  list(
    title = sprintf("SPADE of 5 s, %d surrogates", n_surrogates), request = "spade",
    peers = "elephant", devices = "cpu", data = spikes$data,
    given = list(sizes = spikes$sizes, end = 5, bin_size = 0.005, window = 20,
                 min_spikes = 3, min_count = 15, n_surrogates = n_surrogates),
    ours = \(threads, device) {
      set.seed(1)
      spade(x, 0.005, 20, min_spikes = 3, min_count = 15, n_surrogates = n_surrogates,
            surrogate = "dither", p_estimator = "k/n", reduction = "none",
            mining = list(shifted_subsets = "drop"), threads = threads)
    },
    same = same_spade
  )
}

#' The same patterns before the tests, and p values that differ by no more than those of two
#' sets of surrogates do
same_spade <- function(ours, theirs) {
  n <- theirs[[1L]]
  spectrum <- matrix(theirs[1 + seq_len(3 * n)], ncol = 3, byrow = TRUE)
  found <- same_patterns(flat_patterns(ours$mined),
                         read_flat_patterns(theirs[-seq_len(1 + 3 * n)]))
  if (!found$same) return(found)
  at <- match(paste(spectrum[, 1], spectrum[, 2]),
              paste(ours$pvalues$size, ours$pvalues$count))
  p <- ifelse(is.na(at), 0, ours$pvalues$p[at])
  surrogates <- ours$parameters$n_surrogates
  both <- (p + spectrum[, 3]) / 2
  allowed <- 5 * sqrt(2 * both * (1 - both) / surrogates) + 1 / surrogates
  if (any(abs(p - spectrum[, 3]) > allowed)) return(differs("p values, by more than chance"))
  list(same = TRUE, text = paste0(found$text, ", p values alike"))
}

correlogram_work <- function(x) {
  spikes <- times_by_unit(x)
  list(
    title = "cross-correlograms of 325 pairs", request = "correlogram", peers = "elephant",
    devices = "cpu", data = spikes$data,
    given = list(sizes = spikes$sizes, end = 60, lags = 50, bin_size = 0.001),
    ours = \(threads, device) cross_correlogram(x, 0.001, 0.05, threads = threads),
    same = \(ours, theirs) agreement(pairs_above(ours), theirs, 0, "same counts")
  )
}

#' The pairs i < j of an array lags x unit i x unit j, or of a matrix
pairs_above <- function(x) {
  if (is.matrix(x)) return(x[upper.tri(x)])
  units <- dim(x)[[2L]]
  unlist(lapply(seq_len(units)[-1], \(j) lapply(seq_len(j - 1), \(i) x[, i, j])))
}

sttc_work <- function(x) {
  spikes <- times_by_unit(x)
  list(
    title = "spike time tiling of 325 pairs", request = "sttc", peers = "elephant",
    devices = "cpu", data = spikes$data,
    given = list(sizes = spikes$sizes, end = 60, dt = 0.005),
    ours = \(threads, device) sttc(x, 0.005, threads = threads),
    same = \(ours, theirs) agreement(pairs_above(ours), theirs, 1e-6)
  )
}

surrogates_work <- function(x, n = 20) {
  spikes <- times_by_unit(x)
  list(
    title = sprintf("%d dithered surrogates of %s spikes", n, count_text(nrow(x))),
    request = "surrogates", peers = "elephant", devices = "cpu", data = spikes$data,
    given = list(sizes = spikes$sizes, end = 60, n_surrogates = n, dither = 0.015),
    ours = \(threads, device) {
      set.seed(1)
      surrogate_trains(x, n, "dither", dither = 0.015, threads = threads)
    },
    same = \(ours, theirs) same_surrogates(ours, theirs, x)
  )
}

#' As many spikes, moved as far on average
same_surrogates <- function(ours, theirs, x) {
  theirs <- matrix(theirs, nrow = 2)
  old <- lapply(split(as.numeric(x$time), x$unit), sort)
  if (!all(theirs[1, ] == rep(lengths(old), each = length(ours)))) {
    return(differs("another number of spikes"))
  }
  moved <- mean(vapply(ours, \(one) {
    new <- lapply(split(as.numeric(one$time), one$unit), sort)
    mean(mapply(\(a, b) mean(abs(a - b)), old, new))
  }, 0))
  if (abs(mean(theirs[2, ]) / moved - 1) > 0.02) return(differs("spikes moved otherwise"))
  list(same = TRUE, text = "as many spikes, moved as far")
}

# ---- Empirical dynamic modelling -------------------------------------------------------

#' Correlation of what simplex() or smap() predicts with what there was
rho_of <- function(found) {
  table <- if (is.data.frame(found)) found else found$predictions
  stats::cor(table$Observations, table$Predictions, use = "complete.obs")
}

edm_peers <- c("pyEDM", "cppEDM", "rEDM", "kedm", "fastccm")

edm_work <- function(title, request, given, ours, same, x = ar_series(), peers = edm_peers,
                     devices = "cpu") {
  columns <- if (request == "ccm") c("x", "y") else "x"
  list(title = title, request = request, peers = peers, devices = devices,
       data = unlist(x[columns], use.names = FALSE), frame = x,
       given = c(list(series = length(columns)), given), ours = ours, same = same)
}

edm_works <- function() {
  x <- ar_series()
  sizes <- round(seq(160, 1590, length.out = 10))
  list(
    edm_work("embed_dimension, E 1 to 20", "embed_dimension", list(E_max = 20),
             \(threads, device) embed_dimension(x, "x", E_max = 20, threads = threads),
             same_dimensions),
    edm_work("simplex, E 3", "simplex", list(E = 3),
             \(threads, device) simplex(x, "x", E = 3, threads = threads),
             \(ours, theirs) agreement(rho_of(ours), theirs, 1e-4)),
    edm_work("smap, E 5, theta 2", "smap", list(E = 5, theta = 2),
             \(threads, device) smap(x, "x", E = 5, theta = 2, threads = threads),
             \(ours, theirs) agreement(rho_of(ours), theirs, 1e-3)),
    ccm_work(sizes, 100, FALSE, c("kedm", "fastccm")),
    # CCM() of the others has no argument that leaves out the other direction; in cppEDM so
    # many samples take minutes.
    ccm_work(sizes, 100, TRUE, c("pyEDM", "rEDM")),
    ccm_work(sizes[c(1, 4, 7, 10)], 10, TRUE, c("pyEDM", "cppEDM", "rEDM"))
  )
}

ccm_work <- function(sizes, samples, both, peers, x = ar_series()) {
  edm_work(sprintf("ccm, %s, E 3, %d sizes x %d samples",
                   if (both) "both directions" else "one direction", length(sizes), samples),
           "ccm", list(E = 3, lib_sizes = sizes, samples = samples),
           \(threads, device) ccm(x, "x", "y", E = 3, lib_sizes = sizes, samples = samples,
                                  both = both, threads = threads),
           \(ours, theirs) agreement(ours[["x:y"]], theirs, 0.02), x = x, peers = peers)
}

#' The correlations for all E, or, where a peer gives the best E alone, that its
#' correlation is the largest, but for what kEDM's single precision is off
same_dimensions <- function(ours, theirs) {
  if (length(theirs) > 1L) return(agreement(ours$rho, theirs, 2e-3))
  agreement(max(ours$rho), ours$rho[match(theirs, ours$E)], 1e-4, "same best E")
}

#' Longer series and larger states: where a GPU pays
long_works <- function() {
  c(
    lapply(c(1600, 10000, 32000, 128000), \(rows) \() smap_work(rows)),
    \() long_work(
      "simplex, E 20", 128000, "simplex", list(E = 20), c("kedm", "fastccm"),
      \(x, device) simplex(x, "x", E = 20, device = device),
      \(ours, theirs) agreement(rho_of(ours), theirs, 5e-4)
    ),
    \() long_work(
      "embed_dimension, E 1 to 20", 100000, "embed_dimension", list(E_max = 20),
      c("kedm", "fastccm"),
      \(x, device) embed_dimension(x, "x", E_max = 20, device = device), same_dimensions
    ),
    \() long_work(
      "ccm, E 3, 3 sizes x 20 samples", 32000, "ccm",
      list(E = 3, lib_sizes = c(8000, 16000, 30000), samples = 20), "kedm",
      \(x, device) ccm(x, "x", "y", E = 3, lib_sizes = c(8000, 16000, 30000), samples = 20,
                       both = FALSE, device = device),
      \(ours, theirs) agreement(ours[["x:y"]], theirs, 0.02)
    )
  )
}

#' @param ours Function of the data frame and the device.
long_work <- function(title, rows, request, given, peers, ours, same) {
  x <- ar_series(rows)
  edm_work(sprintf("%s, %s rows", title, count_text(rows)), request, given,
           \(threads, device) ours(x, device), same, x = x, peers = peers,
           devices = "gpu")
}

smap_work <- function(rows) {
  long_work("smap, E 20, theta 2", rows, "smap", list(E = 20, theta = 2), "fastccm",
            \(x, device) smap(x, "x", E = 20, theta = 2, device = device),
            \(ours, theirs) agreement(rho_of(ours), theirs, 5e-3))
}

# ---- Causal maps -----------------------------------------------------------------------

dimensions_work <- function(series, devices) {
  x <- chaotic_series(series)
  list(
    title = sprintf("dimensions of %s series, E 1 to 20", count_text(series)),
    request = "dimensions", peers = "kedm", devices = devices, data = as.vector(x),
    given = list(series = series, E_max = 20),
    ours = \(threads, device) embed_dimension(x, E_max = 20, threads = threads,
                                                 device = device),
    same = \(ours, theirs) {
      skill <- attr(ours, "skill")
      agreement(ours$rho, skill[cbind(seq_len(series), theirs)], 1e-4, "same best E")
    }
  )
}

map_work <- function(series, E, peers, devices, steps = 1600) {
  x <- chaotic_series(series, steps)
  E <- rep_len(E, series)
  spelt <- if (length(unique(E)) == 1L) E[[1L]] else sprintf("%d to %d", min(E), max(E))
  list(
    title = sprintf("map of %s series of %s steps, E %s", count_text(series),
                    count_text(steps), spelt),
    request = "map", peers = peers, devices = devices, data = as.vector(x),
    given = list(series = series, E = E),
    ours = \(threads, device) causal_map(x, E = E, threads = threads, device = device),
    same = \(ours, theirs) same_map(unclass(ours), matrix(theirs, series))
  )
}

#' Nearly all correlations the same. Where two rows are equally near but for rounding, mostly
#' at E = 1, programs choose different ones, so a few correlations may be farther apart; how
#' far is in the table. A series mapped onto itself is no link, and not compared.
same_map <- function(ours, theirs) {
  apart <- abs(ours - theirs)[row(theirs) != col(theirs)]
  if (anyNA(apart)) return(differs("missing where the other is not"))
  typical <- stats::median(apart)
  text <- sprintf("%.0e at the median, %.0e at most", typical, max(apart))
  if (typical > 1e-3 || stats::quantile(apart, 0.99) > 0.02) return(differs(text))
  list(same = TRUE, text = paste("same to", text))
}

#' Skill of S-maps between all pairs; FastCCM has no strengths
pairs_work <- function(series, steps) {
  x <- chaotic_series(series, steps)
  list(
    title = sprintf("S-maps of %d x %d series, %s steps, E 5, theta 2", series, series,
                    count_text(steps)),
    request = "smap_map", peers = "fastccm", devices = "gpu", data = as.vector(x),
    given = list(series = series, E = 5, theta = 2),
    ours = \(threads, device) smap_map(x, E = 5, theta = 2, threads = threads,
                                       device = device),
    same = \(ours, theirs) same_map(unclass(ours$rho), matrix(theirs, series))
  )
}

# ---- All of them, the quick ones first -------------------------------------------------

#' Functions that make the works, as each holds its data
all_works <- function() {
  jobs <- list(c(88, 2), c(25, 3), c(12, 4), c(10, 5), c(10, 6), c(10, 7), c(10, 8), c(10, 9))
  gpu <- list(
    \() map_work(1000, 1:20, "kedm", "gpu"),
    \() map_work(1000, 5, c("kedm", "fastccm", "fastccm-double"), "gpu"),
    \() dimensions_work(1000, "gpu"),
    \() pairs_work(200, 1000), \() pairs_work(100, 8000)
  )
  spikes <- list(
    \() spade_work(), \() correlogram_work(centred_sym26()), \() sttc_work(centred_sym26()),
    \() surrogates_work(centred_sym26()),
    \() {
      set.seed(1)
      delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
      episodes_work("episodes of Sym26, at least 300 times", simulate_sym26(), 300, delays)
    }
  )
  edm <- lapply(1:6, \(k) \() edm_works()[[k]])
  maps <- list(\() dimensions_work(100, "cpu"), \() map_work(100, 1:20, "kedm", "cpu"),
               \() map_work(100, 5, c("kedm", "fastccm", "fastccm-double"), "cpu"),
               \() map_work(10, 5, "cppEDM", "cpu"), \() map_work(20, 5, "cppEDM", "cpu", 400))
  # PyFIM keeps what fails the filters: past the first jobs that is too much for any memory.
  patterns <- lapply(jobs, \(job) \() {
    patterns_work(job[[1]], job[[2]], c("elephant", if (job[[2]] <= 3) "pyfim"))
  })
  c(gpu, long_works(), edm, maps, spikes, patterns)
}
