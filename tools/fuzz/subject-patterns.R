# Spike patterns and itemsets: against all subsets of all windows, counted one by one
# (tests/testthat/helper-patterns.R), on engines, threads and registers, in a folder, with
# little memory, and after changes that must not matter.

# A small recording for the oracle, and what to mine it with.
draw_raster <- function() oracles()$random_raster(whole(1, 1e8))

raster_args <- function(raster, filters = raster$filters, x = raster$x) {
  c(list(x = x, bin_size = raster$bin / 1000, window_bins = raster$window), filters)
}

draw_engine <- function() {
  list(engine = one_of("closure", "fpgrowth"), threads = one_of(1, 2, 3, 16))
}

# "A@0 B@3 (7)" for each pattern, in their order.
spelled <- function(found) paste0(format(found), " (", found$count, ")")

same_lines <- function(a, b, what) {
  if (identical(a, b)) return(invisible())
  only <- function(x, y) {
    extra <- setdiff(x, y)
    if (length(extra) > 0) sprintf("%d more, such as %s", length(extra), extra[[1]]) else "none"
  }
  finding(sprintf("%s: %d and %d sets; the first has %s, the second %s", what, length(a),
                  length(b), only(a, b), only(b, a)))
}

check_against_oracle <- function(raster) {
  expected <- oracles()$oracle_patterns(raster)
  found <- attempt("mine_patterns", c(raster_args(raster), draw_engine()))
  if (refused(found)) return(finding("a search with valid arguments is refused"))
  same_lines(oracles()$mined_lines(found), expected, "patterns and the oracle")
  found
}

# The same by a search with registers of another width, asked for in C.
check_registers <- function(raster, found) {
  f <- raster$filters
  if (f$shifted_subsets == "drop") return()
  target <- if (f$closed_within == "max_spikes") "closed within" else "closed"
  options <- synfire:::miner_options(raster$window, f$min_spikes, f$max_spikes, f$min_units,
                                     f$min_count, f$max_count, "closure", target, one_of(1, 2),
                                     1e9)
  options$vector_bits <- one_of(64, 256, 512)
  ours <- .Call(synfire:::r_mine_patterns, synfire:::pattern_events(raster$x, raster$bin),
                options, NULL)
  same(list(ours$items, ours$count), list(found$items, found$count),
       "registers of another width")
}

# With little memory the answer is the same, or there is none, whatever the threads.
check_memory <- function(raster, found) {
  for (threads in c(1, 16)) {
    ours <- attempt("mine_patterns", c(raster_args(raster), list(
      engine = one_of("closure", "fpgrowth"), threads = threads,
      max_memory = one_of(1e6, 1.2e6, 2e6))))
    if (refused(ours)) {
      if (!inherits(ours, "synfire_error_budget")) finding("little memory is refused otherwise")
      next
    }
    same_lines(spelled(ours), spelled(found), "patterns with little memory")
    if (attr(ours, "peak_memory") > 2e6) finding("more memory was held than was allowed")
  }
}

# Moved in time, units named and ordered otherwise, a silent unit, a spike twice.
check_changes <- function(raster, found, folder) {
  x <- raster$x
  trials <- attr(x, "trials")
  by <- one_of(1, -1000, 123456)
  changed <- attempt("spike_trains", list(
    c(x$time, x$time[1L][nrow(x) > 0L]) + by / 1000,
    factor(c(as.character(x$unit), as.character(x$unit[1L][nrow(x) > 0L])),
           c("silent", rev(levels(x$unit)))),
    start = attr(x, "start") + by / 1000, end = attr(x, "end") + by / 1000,
    resolution = 1e-3,
    trials = if (!is.null(trials)) data.frame(start = trials$start + by / 1000,
                                              end = trials$end + by / 1000)))
  if (refused(changed)) return(finding("a changed recording is refused"))
  again <- attempt("mine_patterns", c(raster_args(raster, x = changed), draw_engine()))
  # Spelled by unit within a lag, so that the order of units does not matter.
  key <- function(found) {
    sort(vapply(strsplit(spelled(found), "[ ]"), function(words) {
      paste(sort(words), collapse = " ")
    }, ""))
  }
  if (refused(again)) return(finding("a changed recording is not mined"))
  same_lines(key(again), key(found), "patterns of a changed recording")
  job <- attempt("mine_patterns", c(raster_args(raster), draw_engine(),
                                    list(folder = file.path(folder, "job"))))
  if (refused(job)) return(finding("a search in a folder is refused"))
  same_lines(spelled(job), spelled(found), "patterns in a folder")
}

# A stricter search finds those of the wider one that pass.
check_stricter <- function(raster, found) {
  f <- raster$filters
  f$min_count <- min(f$min_count + whole(0, 3), f$max_count)
  if (f$closed_within == "all") f$min_spikes <- min(f$min_spikes + whole(0, 2), f$max_spikes)
  f$min_units <- min(f$min_units + whole(0, 1), f$max_spikes)
  if (f$shifted_subsets == "drop") f$min_units <- raster$filters$min_units
  stricter <- attempt("mine_patterns", c(raster_args(raster, f), draw_engine()))
  if (refused(stricter)) return(finding("a stricter search is refused"))
  passes <- found$count >= f$min_count & found$size >= f$min_spikes &
    found$n_units >= f$min_units
  same_lines(spelled(stricter), spelled(found[passes]), "a stricter search and those that pass")
}

check_occurrences <- function(raster, found) {
  some <- found[seq_len(min(length(found), whole(0, 20)))]
  where <- attempt("pattern_occurrences", list(x = raster$x, patterns = some))
  if (refused(where)) return(finding("occurrences are refused"))
  if (!identical(tabulate(where$pattern, length(some)), as.integer(some$count))) {
    return(finding("patterns occur as often as was counted: no"))
  }
  windows <- oracles()$oracle_windows(raster)
  bounds <- raster$bounds %||% data.frame(start = raster$start)
  opens <- (bounds$start[windows$opens$trial] + windows$opens$bin * raster$bin) / 1000
  item <- split(some$items, rep(seq_along(some), some$size))
  for (k in seq_along(some)) {
    holds <- vapply(windows$items, function(w) all(item[[k]] %in% w), NA)
    same(where$time[where$pattern == k], opens[holds], "the times of a pattern", 1e-9)
  }
}

check_spectrum <- function(found) {
  spectrum <- one_of("#", "3d#")
  counted <- attempt("pattern_spectrum", list(found, spectrum))
  if (refused(counted)) return(finding("a pattern spectrum is refused"))
  keys <- list(found$size, found$count)
  if (spectrum == "3d#") keys <- list(found$size, round(found$duration * 1000), found$count)
  expected <- table(do.call(paste, keys))
  own <- list(counted$size, counted$count)
  if (spectrum == "3d#") own <- list(counted$size, round(counted$duration * 1000), counted$count)
  own <- do.call(paste, own)
  same(as.integer(counted$patterns), as.integer(expected[own]), "a pattern spectrum")
  if (!setequal(own, names(expected))) finding("a pattern spectrum lacks signatures")
}

fuzz_subject(
  "patterns",
  covers = list(
    mine_patterns = c("x", "bin_size", "window_bins", "min_spikes", "min_count", "max_spikes", "max_count",
                      "min_units", "closed_within", "shifted_subsets", "engine", "threads",
                      "max_memory", "folder"),
    pattern_occurrences = c("x", "patterns"), pattern_spectrum = c("patterns", "spectrum")
  ),
  run = function(world) {
    raster <- draw_raster()
    found <- check_against_oracle(raster)
    if (is.null(found) || refused(found)) return()
    switch(
      one_of("occurrences", "registers", "memory", "changes", "stricter", "spectrum", "peer"),
      occurrences = check_occurrences(raster, found),
      registers = check_registers(raster, found),
      memory = check_memory(raster, found),
      changes = check_changes(raster, found, world$folder),
      stricter = check_stricter(raster, found),
      spectrum = check_spectrum(found),
      peer = if (!is.null(world$peers$elephant)) check_elephant(raster, world)
    )
  }
)

# ---- the Python package Elephant ----

# Its miner counts windows from the start of the recording, without trials, and asks for as
# many units as `min_neu`. It starts Python, so it is asked now and then.
check_elephant <- function(raster, world) {
  if (!is.null(raster$bounds) || !sometimes(0.2)) return()
  x <- raster$x
  filters <- list(min_spikes = max(2, raster$filters$min_spikes), min_count = raster$filters$min_count,
                  min_units = 1, shifted_subsets = "keep")
  found <- attempt("mine_patterns", c(raster_args(raster, filters), draw_engine()))
  if (refused(found) || nrow(x) == 0L) return()
  spikes <- file.path(world$folder, "spikes.txt")
  bin <- floor((raster$tick - raster$start) / raster$bin)
  utils::write.table(unique(data.frame(bin, raster$unit - 1)), spikes, row.names = FALSE,
                     col.names = FALSE)
  script <- file.path(world$folder, "peer.py")
  writeLines(c(
    "import numpy as np, neo, quantities as pq",
    "import elephant.spade as spade, elephant.conversion as conv",
    sprintf("a = np.loadtxt('%s', ndmin=2).astype(int)", spikes),
    sprintf("units, window, last = %d, %d, %d", raster$units, raster$window, max(bin) + 1),
    "trains = [neo.SpikeTrain((np.unique(a[a[:, 1] == u, 0]) + 0.5) * pq.s, t_start=0 * pq.s,",
    "                         t_stop=last * pq.s) for u in range(units)]",
    sprintf("found, _ = spade.concepts_mining(trains, 1 * pq.s, window, min_spikes=%d,",
            filters$min_spikes),
    sprintf("    min_occ=%d, min_neu=1, report='a')", filters$min_count),
    "for items, windows in found:",
    "    u, lag = np.array(items) // window, np.array(items) % window",
    "    order = np.lexsort((u, lag))",
    "    print(' '.join('%d@%d' % (u[i], lag[i]) for i in order), '(%d)' % len(windows))"
  ), script)
  lines <- suppressWarnings(system2(world$peers$elephant, c("-W", "ignore", script),
                                    stdout = TRUE, stderr = FALSE))
  # Its miner may also give up with an error of its own, which it prints as a line.
  if (!is.null(attr(lines, "status")) || any(startsWith(lines, "ERROR"))) return()
  ours <- vapply(as.list(found), function(lags) {
    unit <- match(names(lags), levels(x$unit)) - 1
    o <- order(lags, unit)
    paste(sprintf("%d@%d", unit[o], lags[o]), collapse = " ")
  }, "")
  # Elephant leaves out the ends of other patterns, so it finds some of ours.
  ours <- paste0(ours, sprintf(" (%d)", found$count), recycle0 = TRUE)
  extra <- setdiff(lines, ours)
  if (length(extra) > 0) finding(paste("Elephant finds a pattern that is not found:", extra[[1L]]))
}

# ---- itemsets ----

# Transactions of numbers in one of the forms that are taken.
as_form <- function(sets, form) {
  ids <- sort(unique(unlist(sets)))
  flags <- t(vapply(sets, function(s) ids %in% s, logical(length(ids))))
  if (length(ids) == 1L) flags <- t(flags)
  switch(
    form,
    list = sets, integer = lapply(sets, as.integer),
    names = lapply(sets, function(s) sprintf("i%03d", s)),
    factors = lapply(sets, function(s) factor(sprintf("i%03d", s))),
    matrix = structure(flags, dimnames = list(NULL, sprintf("i%03d", ids))),
    numbers = structure(flags + 0, dimnames = list(NULL, sprintf("i%03d", ids)))
  )
}

fuzz_subject(
  "itemsets",
  covers = list(
    frequent_itemsets = c("transactions", "min_count", "min_support", "target", "min_size",
                          "max_size", "engine", "threads", "max_memory")
  ),
  run = function(world) {
    items <- whole(1, 9)
    sets <- lapply(seq_len(whole(1, 40)), function(k) {
      sample.int(items, sample.int(items, 1L), replace = sometimes(0.2))
    })
    # Items that come only together, and sets that are there twice.
    if (sometimes(0.3)) sets <- lapply(sets, function(s) c(s, 20 + s[s <= 2]))
    if (sometimes(0.3)) sets <- c(sets, sets[seq_len(ceiling(length(sets) / 2))])
    target <- one_of("closed", "maximal", "frequent")
    least <- whole(1, min(4, length(sets)))
    args <- c(if (sometimes(0.7)) list(min_count = least) else
                list(min_support = (least - 0.5) / length(sets)),
              some_args(min_size = whole(1, 3), max_size = whole(3, 5)), draw_engine())
    if (sometimes(0.3)) args$max_memory <- one_of(1e6, 2e6)
    expected <- oracles()$oracle_itemsets(sets, least, target,
                                                  args$min_size %||% 1, args$max_size %||% Inf)
    form <- one_of("list", "integer", "names", "factors", "matrix", "numbers")
    args <- c(list(as_form(sets, form)), args)
    found <- attempt("frequent_itemsets", c(args, list(target = target)))
    if (refused(found)) {
      if (!inherits(found, "synfire_error_budget")) finding("valid transactions are refused")
      return()
    }
    same_lines(oracles()$mined_lines(found), expected, "itemsets and the oracle")
  }
)

# ---- the maxima of surrogates ----

fuzz_subject(
  "maxima",
  covers = list(pvalue_spectrum = c("x", "bin_size", "window_bins", "min_spikes", "min_count",
                                    "max_spikes", "max_count", "min_units", "n_surrogates",
                                    "surrogate", "dither", "spectrum", "p_estimator",
                                    "closed_within", "threads", "max_memory", "folder")),
  run = function(world) {
    raster <- draw_raster()
    if (nrow(raster$x) == 0L) return()
    method <- one_of("dither", "dither_refractory", "train_shift", "joint_isi", "isi_dither",
                     "isi_shuffle", "randomise", "bin_shuffle")
    filters <- raster$filters[c("min_spikes", "min_count", "max_spikes", "max_count", "min_units")]
    closed <- raster$filters$closed_within
    by_duration <- sometimes(0.4)
    n <- whole(1, 4)
    own <- if (method == "bin_shuffle") list() else if (method %in% c("isi_shuffle", "randomise")) list() else
      list(dither = whole(raster$bin, 30) / 1000)
    args <- c(list(raster$x, raster$bin / 1000, raster$window), filters, own,
              list(n_surrogates = n, surrogate = method, closed_within = closed,
                   spectrum = if (by_duration) "3d#" else "#", threads = one_of(1, 2, 16),
                   p_estimator = one_of("(k+1)/(n+1)", "k/n")))
    if (method %in% c("joint_isi", "isi_dither")) {
      args <- c(args, list(n_bins = one_of(100, 30), sigma = one_of(0, 0.002)))
    }
    if (sometimes(0.2)) args$max_memory <- one_of(1e6, 3e6)
    if (sometimes(0.1)) args$folder <- file.path(world$folder, "job")
    seed <- whole(1, 1e6)
    set.seed(seed)
    spectrum <- attempt("pvalue_spectrum", args)
    if (refused(spectrum)) return()
    set.seed(seed)
    more <- args[intersect(names(args), c("n_bins", "sigma", "dither"))]
    if (method == "bin_shuffle") more$bin_size <- raster$bin / 1000
    made <- attempt("surrogate_trains", c(list(raster$x, n, method), more))
    if (refused(made)) return(finding("surrogates are refused that a spectrum is made of"))
    maxima <- attr(spectrum, "maxima")
    expected <- slow_maxima(made, raster, filters, closed, dim(maxima), by_duration)
    if (is.null(expected)) return(finding("surrogates have larger patterns than their maxima"))
    same(as.integer(maxima), as.integer(expected), "maxima and surrogates mined one by one")
    reached <- vapply(seq_len(nrow(spectrum)), function(row) {
      z <- spectrum$size[[row]] - filters$min_spikes + 1
      m <- if (by_duration) {
        maxima[, z, round(spectrum$duration[[row]] * 1000 / raster$bin) + 1]
      } else {
        maxima[, z]
      }
      sum(m >= spectrum$count[[row]])
    }, 0)
    same(as.double(spectrum$reached), reached, "how many surrogates reach a signature")
  }
)

# NULL where there are larger ones than `dims` has room for.
slow_maxima <- function(made, raster, filters, closed, dims, by_duration) {
  out <- array(0L, dims)
  for (k in seq_along(made)) {
    found <- do.call(synfire::mine_patterns, c(
      list(made[[k]], raster$bin / 1000, raster$window), filters,
      list(closed_within = closed, threads = 1)))
    z <- found$size - filters$min_spikes + 1
    if (length(z) > 0 && max(z) > dims[[2L]]) return(NULL)
    d <- round(found$duration * 1000 / raster$bin) + 1
    for (i in seq_along(z)) for (size in seq_len(z[[i]])) {
      if (by_duration) {
        out[k, size, d[[i]]] <- max(out[k, size, d[[i]]], found$count[[i]])
      } else {
        out[k, size] <- max(out[k, size], found$count[[i]])
      }
    }
  }
  out
}
