# Of patterns that overlap, those that the others do not explain.

#' @export
reduce_patterns <- function(patterns, non_significant = NULL,
                            method = c("combined", "subset", "superset", "covered_spikes"),
                            h = 0, k = 0, l = 0, min_spikes = NULL, min_occ = NULL,
                            x = NULL) {
  if (missing(patterns) || !inherits(patterns, "patterns")) {
    abort_arg("patterns", "`patterns`", if (missing(patterns)) "missing" else describe(patterns),
              "Find some with `mine_patterns()`.")
  }
  method <- rlang::arg_match(method)
  parameters <- attr(patterns, "parameters", exact = TRUE)
  h <- check_count(h, min = 0)
  k <- check_count(k, min = 0)
  l <- check_count(l, min = 0)
  min_spikes <- check_count(min_spikes %||% parameters$min_spikes, "min_spikes")
  min_occ <- check_count(min_occ %||% parameters$min_occ, "min_occ")
  if (length(patterns) == 0L) return(patterns)
  keep <- reduce_slowly(patterns, non_significant, method, h, k, l, min_spikes, min_occ, x)
  take_sets(patterns, which(keep))
}

reduce_slowly <- function(patterns, listed, method, h, k, l, min_spikes, min_occ, x) {
  found <- pattern_occurrences(x, patterns)
  bin <- attr(patterns, "bin_size")
  x <- x %||% attr(patterns, "recording")
  # Bins count from the start of the trial; trials are farther apart than any window.
  trials <- attr(x, "trials")
  trial <- match(found$trial, trials$trial, nomatch = 1L)
  start <- if (is.null(trials)) attr(x, "start") else trials$start[trial]
  number <- round((found$time - start) / bin) + trial * 1e6
  windows <- unname(split(number, factor(found$pattern, seq_along(patterns))))
  if (!is.null(listed$duration)) listed$duration <- round(listed$duration / bin)
  units <- length(attr(patterns, "units"))
  codes <- lapply(as.list(patterns), \(lags) {
    as.vector(lags) * units + match(names(lags), attr(patterns, "units")) - 1
  })
  oracle_reduction(codes, windows, units, attr(patterns, "window"), listed, method, h, k, l,
                   min_spikes, min_occ)
}

# Numbers of the patterns in the order in which ties are settled.
oracle_order <- function(items, size, occ) {
  rank <- vapply(items, \(i) paste(sprintf("%09d", i), collapse = " "), "")
  order(-size, -occ, rank, method = "radix")
}

# `items`: list of codes lag * units + unit; `windows`: list of bin numbers; `listed`: NULL
# or a data frame of size, occurrences and, in bins, maybe duration. Which are kept.
oracle_reduction <- function(items, windows, units, window, listed, method, h, k, l,
                             min_spikes, min_occ) {
  size <- lengths(items)
  occ <- lengths(windows)
  lag <- lapply(items, \(i) i %/% units)
  unit <- lapply(items, \(i) i %% units)
  duration <- vapply(lag, max, 0)
  is_listed <- function(z, c, d) {
    any(listed$size == z & listed$occurrences == c &
          (is.null(listed$duration) | listed$duration == d))
  }
  little <- \(p, c) c < min_occ || is_listed(size[[p]], c, duration[[p]])
  small <- \(p, z) z < min_spikes || is_listed(z, occ[[p]], duration[[p]])
  score <- (size - l) * occ
  keep <- rep(TRUE, length(items))
  o <- oracle_order(items, size, occ)
  for (a in seq_along(o)) for (b in seq_along(o)[-seq_len(a)]) for (d in (1 - window):(window - 1)) {
    p <- o[[a]]
    q <- o[[b]]
    moved <- paste(unit[[p]], lag[[p]] - d)
    shared <- sum(moved %in% paste(unit[[q]], lag[[q]]))
    together <- sum((windows[[p]] + d) %in% windows[[q]])
    if (shared == 0 || together < min_occ) next
    nested <- shared == size[[q]]
    if (!nested && method != "combined") next
    drop_p <- small(p, size[[p]] - shared + k)
    drop_q <- if (nested) little(q, occ[[q]] - occ[[p]] + h) else small(q, size[[q]] - shared + k)
    if (method == "subset") drop_p <- FALSE
    if (method == "superset") drop_q <- FALSE
    if (method == "covered_spikes" || method == "combined" && drop_p && drop_q) {
      drop_p <- score[[p]] < score[[q]]
      drop_q <- !drop_p
    }
    keep[[p]] <- keep[[p]] && !drop_p
    keep[[q]] <- keep[[q]] && !drop_q
  }
  keep
}

