# The Python package Elephant, where the environment variable SYNFIRE_PEERS names an
# interpreter that has it.

# Lines that a script prints, split at spaces into numbers.
elephant_numbers <- function(script) {
  python <- Sys.getenv("SYNFIRE_PEERS")
  if (!nzchar(python)) testthat::skip("SYNFIRE_PEERS does not name a Python with Elephant")
  file <- withr::local_tempfile(fileext = ".py")
  writeLines(script, file)
  lines <- system2(python, c("-W", "ignore", file), stdout = TRUE, stderr = FALSE)
  lapply(strsplit(lines, " "), as.double)
}

# Surrogates of one train of 0.2 s: a list of its `times` (s) and all times of `n` surrogates
# by `jitter` in windows of 30 ms, and, of bins of 5 ms, by `sliding` windows of 6 bins.
elephant_surrogates <- function(n) {
  times <- c(0.0021, 0.0333, 0.0402, 0.0617, 0.0913, 0.1004, 0.1296, 0.1581)
  found <- elephant_numbers(c(
    "import numpy as np, neo, quantities as pq",
    "import elephant.spike_train_surrogates as s, elephant.conversion as conv",
    "np.random.seed(1)",
    sprintf("times = [%s]", toString(times)),
    "st = neo.SpikeTrain(times * pq.s, t_stop=0.2 * pq.s)",
    sprintf("n = %d", n),
    "made = s.jitter_spikes(st, bin_size=0.03 * pq.s, n_surrogates=n)",
    "print(*np.concatenate([m.rescale('s').magnitude for m in made]))",
    "binned = conv.BinnedSpikeTrain(st, bin_size=0.005 * pq.s, tolerance=None)",
    "made = s.bin_shuffling(binned, max_displacement=3, n_surrogates=n, sliding=True)",
    "print(*np.concatenate([np.nonzero(m.to_bool_array()[0])[0] * 0.005 + 0.0025",
    "                       for m in made]))"
  ))
  list(times = times, jitter = found[[1L]], sliding = found[[2L]])
}

# The patterns that Elephant mines, each as text like "1@0 3@2 x 5", sorted: units by their
# number, lags in bins, and how often.
elephant_patterns <- function(x, bin_size, window, min_spikes, min_count, max_spikes) {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.table(data.frame(as.integer(x$unit), x$time), file, row.names = FALSE,
                     col.names = FALSE)
  found <- elephant_numbers(c(
    "import numpy as np, neo, quantities as pq",
    "from elephant.spade import concepts_mining",
    sprintf("d = np.loadtxt('%s')", file),
    sprintf("st = [neo.SpikeTrain(d[d[:, 0] == u, 1] * pq.s, t_stop=%g * pq.s)", attr(x, "end")),
    sprintf("      for u in range(1, %d)]", nlevels(x$unit) + 1),
    sprintf("c, r = concepts_mining(st, %g * pq.s, %d, min_spikes=%d, min_occ=%d,", bin_size,
            window, min_spikes, min_count),
    sprintf("    max_spikes=%s, min_neu=1, report='a')",
            if (is.finite(max_spikes)) max_spikes else "None"),
    "for items, times in c:",
    "    print(len(times), *[int(i) for i in items])"
  ))
  spelt <- vapply(found, \(line) {
    item <- line[-1L]
    paste(paste(sort(paste0(item %/% window + 1, "@", item %% window)), collapse = " "), "x",
          line[[1L]])
  }, "")
  sort(spelt)
}

# The numbers of the patterns that Elephant's pattern set reduction keeps, for each of some
# sets, lists like those of random_reduction(). Units are so far apart among its items that
# no shift makes one unit's item another's.
elephant_reductions <- function(sets) {
  tuple <- \(numbers) sprintf("(%s,)", paste(sprintf("%.0f", numbers), collapse = ","))
  list_of <- \(tuples) sprintf("[%s]", paste(tuples, collapse = ","))
  lines <- vapply(sets, \(set) {
    patterns <- set$patterns
    units <- length(attr(patterns, "units"))
    width <- attr(patterns, "window_bins")
    items <- lapply(oracle_codes(patterns), \(code) code %% units * 3 * width + code %/% units)
    listed <- set$non_significant
    if (!is.null(listed$duration)) {
      listed$duration <- round(listed$duration / attr(patterns, "bin_size"))
    }
    sprintf("go(%s, %s, %d, '%s', %d, %d, %d, %d, %d)",
            list_of(sprintf("(%s,%s)", vapply(items, tuple, ""),
                            vapply(occurrence_bins(patterns), tuple, ""))),
            list_of(if (!is.null(listed)) apply(as.matrix(listed), 1L, tuple)), width,
            if (is.null(listed$duration)) "#" else "3d#", set$h, set$k, set$l,
            set$min_spikes, set$min_count)
  }, "")
  elephant_numbers(c(
    "from elephant.spade import pattern_set_reduction",
    "def go(concepts, listed, width, spectrum, h, k, l, min_spikes, min_occ):",
    "    kept = pattern_set_reduction(concepts, listed, winlen=width, spectrum=spectrum,",
    "        h_subset_filtering=h, k_superset_filtering=k, l_covered_spikes=l,",
    "        min_spikes=min_spikes, min_occ=min_occ)",
    "    print(*[concepts.index(one) + 1 for one in kept])",
    lines
  ))
}
