# Oracle for reduce_patterns(): every pair of patterns at every shift, as defined.

# Numbers of the patterns in the order in which ties are settled.
oracle_order <- function(items, size, occ) {
  rank <- vapply(items, \(i) paste(sprintf("%09d", i), collapse = " "), "")
  order(-size, -occ, rank, method = "radix")
}

# `items`: list of codes lag * units + unit; `windows`: list of bin numbers; `listed`: NULL
# or a data frame of size, occurrences and, in bins, maybe duration. Which are kept.
oracle_reduction <- function(items, windows, units, listed, method, h, k, l,
                             min_spikes, min_count) {
  size <- lengths(items)
  occ <- lengths(windows)
  lag <- lapply(items, \(i) i %/% units)
  unit <- lapply(items, \(i) i %% units)
  duration <- vapply(lag, max, 0)
  is_listed <- function(z, c, d) {
    at <- listed$size == z & listed$count == c
    if (is.null(listed$duration)) any(at) else any(at & listed$duration == d)
  }
  little <- \(p, c) c < min_count || is_listed(size[[p]], c, duration[[p]])
  small <- \(p, z) z < min_spikes || is_listed(z, occ[[p]], duration[[p]])
  score <- (size - l) * occ
  keep <- rep(TRUE, length(items))
  o <- oracle_order(items, size, occ)
  # How far P's items have to move back to meet one of Q's, once for each that they meet.
  shifts <- function(p, q) outer(lag[[p]], lag[[q]], `-`)[outer(unit[[p]], unit[[q]], `==`)]
  compare <- function(p, q, d, shared) {
    together <- sum((windows[[p]] + d) %in% windows[[q]])
    nested <- shared == size[[q]]
    if (together < min_count || !nested && method != "combined") return(c(FALSE, FALSE))
    drop_p <- small(p, size[[p]] - shared + k)
    drop_q <- if (nested) little(q, occ[[q]] - occ[[p]] + h) else small(q, size[[q]] - shared + k)
    if (method == "subset") drop_p <- FALSE
    if (method == "superset") drop_q <- FALSE
    if (method == "covered_spikes" || method == "combined" && drop_p && drop_q) {
      drop_p <- score[[p]] < score[[q]]
      drop_q <- !drop_p
    }
    c(drop_p, drop_q)
  }
  for (a in seq_along(o)) {
    for (b in seq_along(o)[-seq_len(a)]) {
      pair <- o[c(a, b)]
      met <- shifts(pair[[1]], pair[[2]])
      for (d in unique(met)) {
        drop <- compare(pair[[1]], pair[[2]], d, sum(met == d))
        keep[pair] <- keep[pair] & !drop
      }
    }
  }
  keep
}

# The same of mined patterns. `listed` has durations in seconds.
oracle_reduce <- function(patterns, listed, method, h, k, l, min_spikes, min_count) {
  bin <- attr(patterns, "bin_size")
  if (!is.null(listed$duration)) listed$duration <- round(listed$duration / bin)
  units <- length(attr(patterns, "units"))
  oracle_reduction(oracle_codes(patterns), occurrence_bins(patterns), units, listed, method, h,
                   k, l, min_spikes, min_count)
}

# The numbers of the bins at which each pattern's occurrences begin.
occurrence_bins <- function(patterns) {
  found <- pattern_occurrences(attr(patterns, "recording"), patterns)
  bin <- attr(patterns, "bin_size")
  x <- attr(patterns, "recording")
  # Bins count from the start of the trial; trials are farther apart than any window.
  trials <- attr(x, "trials")
  trial <- match(found$trial, trials$trial, nomatch = 1L)
  start <- if (is.null(trials)) attr(x, "start") else trials$start[trial]
  number <- round((found$time - start) / bin) + trial * 1e6
  unname(split(number, factor(found$pattern, seq_along(patterns))))
}

in_oracle_order <- function(patterns) {
  patterns[oracle_order(oracle_codes(patterns), patterns$size, patterns$count)]
}

# The items of each pattern as lag * units + unit.
oracle_codes <- function(patterns) {
  units <- attr(patterns, "units")
  lapply(as.list(patterns), \(lags) {
    as.vector(lags) * length(units) + match(names(lags), units) - 1
  })
}
