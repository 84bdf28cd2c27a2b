# Oracles for patterns and itemsets, written from the definitions alone: windows as sets,
# all subsets of each, counted. A set is a number with a bit for each item that may matter.

# ---- All frequent sets ----------------------------------------------------------------

# `sets`: a list of vectors of items. Which items are frequent, and the sets of them (as
# numbers, `key`) that at least `min_count` of the sets hold. NULL where there are more than
# `most` subsets.
oracle_frequent <- function(sets, min_count, most = 4e6) {
  sets <- lapply(sets, unique)
  often <- table(factor(unlist(sets)))
  items <- sort(as.integer(names(often)[often >= min_count]))
  bits <- lapply(sets, \(s) which(items %in% s) - 1)
  if (length(items) > 52L || sum(2^lengths(bits)) > most) return(NULL)
  keys <- lapply(bits, function(bits) {
    subsets <- 0
    for (bit in bits) subsets <- c(subsets, subsets + 2^bit)
    subsets[-1L]
  })
  counted <- rle(sort(as.numeric(unlist(keys))))
  enough <- counted$lengths >= min_count
  list(items = items, key = counted$values[enough], occ = counted$lengths[enough])
}

oracle_holds <- function(key, bit) floor(key / 2^bit) %% 2 == 1

# Which of the frequent sets are what `target` asks for. One item more is enough to ask
# about: what a larger set has, the sets in between have as well.
oracle_target <- function(frequent, target, max_size = Inf) {
  keep <- rep(TRUE, length(frequent$key))
  bits <- seq_along(frequent$items) - 1
  size <- Reduce(`+`, lapply(bits, oracle_holds, key = frequent$key), 0)
  for (bit in bits) {
    other <- frequent$occ[match(frequent$key + 2^bit, frequent$key)]
    larger <- !oracle_holds(frequent$key, bit) & !is.na(other)
    same <- larger & other == frequent$occ
    keep <- keep & !switch(target, closed = same, within = same & size < max_size,
                           maximal = larger, frequent = FALSE)
  }
  keep
}

# Item vectors of the sets.
oracle_items <- function(frequent, keep) {
  bits <- seq_along(frequent$items) - 1
  lapply(frequent$key[keep], \(key) frequent$items[oracle_holds(key, bits)])
}

# "items (occurrences)", sorted by size and then, place by place, by `place` of the items.
oracle_lines <- function(items, occ, place) {
  if (length(items) == 0L) return(character())
  places <- lapply(items, \(i) sort(place(i)))
  sizes <- lengths(items)
  padded <- lapply(seq_len(max(sizes)), \(k) vapply(places, \(p) p[k], 0))
  o <- do.call(order, c(list(sizes), padded))
  sprintf("%s (%d)", vapply(items, paste, "", collapse = " "), occ)[o]
}

# The same of what was mined, in its own order.
mined_lines <- function(x) {
  at <- 0
  sets <- Map(function(size, n) {
    rows <- matrix(x$items[at + seq_len(size * n)], size)
    at <<- at + size * n
    do.call(paste, lapply(seq_len(size), \(k) rows[k, ]))
  }, x$runs$size, x$runs$n)
  if (length(sets) == 0L) return(character())
  paste0(unlist(sets), " (", x$count, ")")
}

# ---- Itemsets -------------------------------------------------------------------------

# What frequent_itemsets() gives for transactions of whole numbers.
oracle_itemsets <- function(sets, min_count, target = "closed", min_size = 1,
                            max_size = Inf) {
  frequent <- oracle_frequent(sets, min_count)
  if (length(frequent$key) == 0L) return(character())
  keep <- oracle_target(frequent, target)
  items <- oracle_items(frequent, keep)
  occ <- frequent$occ[keep]
  fits <- lengths(items) >= min_size & lengths(items) <= max_size
  ids <- sort(unique(unlist(sets)))
  items <- lapply(items, \(i) match(i, ids) - 1)
  often <- table(factor(unlist(lapply(sets, unique)), ids))
  rank <- order(order(often, seq_along(ids)))
  oracle_lines(items[fits], occ[fits], \(i) rank[i + 1L])
}

# ---- Rasters --------------------------------------------------------------------------

# A small random recording, as plain vectors for the oracle (`tick`, `unit` as a number,
# `bounds` of trials) and as spike trains `x` with ticks of a millisecond, and what to mine
# it with.
random_raster <- function(seed, windows = c(1, 2, 3, 4, 5, 8, 64, 100)) {
  withr::local_seed(seed)
  units <- sample(7L, 1L)
  window <- sample(rep(windows, 2), 1L)
  bin <- sample(c(1, 3, 5), 1L)
  bins <- sample(5:60, 1L)
  held <- runif(1, 3, 11)
  spikes <- rpois(1L, min(units * 1.5, held / min(window, bins)) * bins)
  offset <- sample(c(-1e6, -37, 0, 5, 1e6), 1L)
  tick <- sample(seq(0, bins * bin - 1), spikes, replace = TRUE)
  unit <- sample(units, spikes, replace = TRUE)
  # The first part once more, so that something comes back.
  again <- tick < bins * bin / 3
  if (sample(2L, 1L) == 1L) {
    unit <- c(unit, unit[again])
    tick <- c(tick, tick[again] + bin * (bins %/% 2))
  }
  tick <- offset + tick
  bounds <- NULL
  if (sample(3L, 1L) == 1L) {
    length <- sample(seq(2 * bin, 12 * bin), 1L)
    begin <- offset + sample(-3:3, 1L) + seq(0, bins * bin, by = length + sample(0:3, 1L))
    bounds <- data.frame(start = begin, end = begin + length)
  }
  start <- min(tick, bounds$start, offset) - sample(0:4, 1L)
  silent <- sample(0:1, 1L)
  end <- max(tick, bounds$end, offset) + sample(0:4, 1L)
  # No window is longer than the recording, or than the longest trial.
  ticks <- if (is.null(bounds)) end - start else max(bounds$end - bounds$start)
  raster <- list(tick = tick, unit = unit, units = units + silent, bounds = bounds,
                 start = start, bin = bin, window = min(window, ceiling((ticks + 1) / bin)))
  raster$x <- spikes_outside(spike_trains(
    tick / 1000, factor(paste0("u", unit), paste0("u", seq_len(raster$units))),
    start = start / 1000, end = end / 1000,
    resolution = 1e-3, trials = if (!is.null(bounds)) bounds / 1000
  ))
  raster$filters <- random_filters()
  # Where windows hold much, only what is frequent can be listed.
  windows <- oracle_windows(raster)$items
  while (is.null(oracle_frequent(windows, raster$filters$min_count, 1e5))) {
    raster$filters$min_count <- raster$filters$min_count + 1
    raster$filters$max_count <- raster$filters$max_count + 1
  }
  raster
}

random_filters <- function() {
  maybe <- \(x) if (sample(2L, 1L) == 1L) Inf else x
  min_spikes <- sample(3L, 1L)
  min_count <- sample(4L, 1L)
  max_spikes <- maybe(min_spikes + sample(0:3, 1L))
  list(
    min_spikes = min_spikes, min_count = min_count, max_spikes = max_spikes,
    max_count = maybe(min_count + sample(0:4, 1L)),
    min_units = sample(min(max_spikes, min_spikes + sample(0:1, 1L)), 1L),
    closed_within = sample(c("all", "max_spikes"), 1L),
    shifted_subsets = sample(c("keep", "keep", "drop"), 1L)
  )
}

# Units and bins of a raster, trials in a column of their own, and each window as the
# vector of its items.
oracle_windows <- function(raster) {
  bounds <- raster$bounds %||% data.frame(start = raster$start, end = Inf)
  # Of two trials that touch, the later one has the tick they share.
  trial <- vapply(raster$tick, function(t) {
    max(which(bounds$start <= t & t <= bounds$end), -Inf)
  }, 0)
  inside <- is.finite(trial)
  spikes <- unique(data.frame(
    trial = trial[inside], unit = raster$unit[inside] - 1,
    bin = floor((raster$tick[inside] - bounds$start[trial[inside]]) / raster$bin)
  ))
  opens <- unique(spikes[c("trial", "bin")])
  opens <- opens[order(opens$trial, opens$bin), ]
  items <- lapply(seq_len(nrow(opens)), function(w) {
    lag <- spikes$bin - opens$bin[[w]]
    here <- spikes$trial == opens$trial[[w]] & lag >= 0 & lag < raster$window
    sort(lag[here] * raster$units + spikes$unit[here])
  })
  list(spikes = spikes, opens = opens, items = items)
}

# What mine_patterns() gives, in its order.
oracle_patterns <- function(raster, filters = raster$filters) {
  windows <- oracle_windows(raster)
  frequent <- oracle_frequent(windows$items, filters$min_count)
  if (length(frequent$key) == 0L) return(character())
  within <- filters$closed_within == "max_spikes"
  keep <- oracle_target(frequent, if (within) "within" else "closed", filters$max_spikes)
  items <- oracle_items(frequent, keep)
  occ <- frequent$occ[keep]
  n <- raster$units
  count <- function(of) vapply(items, of, 0)
  size <- count(length)
  units <- count(\(i) length(unique(i %% n)))
  fits <- count(\(i) sum(i < n)) > 0 & size >= filters$min_spikes &
    size <= filters$max_spikes & occ <= filters$max_count & units >= filters$min_units
  items <- items[fits]
  occ <- occ[fits]
  if (filters$shifted_subsets == "drop") {
    keep <- !oracle_shifted(items, occ, n)
    items <- items[keep]
    occ <- occ[keep]
  }
  often <- tabulate(windows$spikes$unit + 1, n)
  rank <- order(order(often, seq_len(n))) - 1
  lags <- raster$window - 1
  oracle_lines(items, occ, function(item) {
    lag <- item %/% n
    ifelse(lag == 0, rank[item %% n + 1], n + rank[item %% n + 1] * lags + lag - 1)
  })
}

# Which patterns another one with as many occurrences contains, both with lags counted
# back from their last spike.
oracle_shifted <- function(items, occ, units) {
  back <- lapply(items, function(i) {
    lag <- i %/% units
    paste(max(lag) - lag, i %% units)
  })
  shifted <- logical(length(back))
  for (alike in split(seq_along(back), occ)) {
    all_items <- unique(unlist(back[alike]))
    has <- matrix(FALSE, length(alike), length(all_items))
    for (p in seq_along(alike)) has[p, match(back[[alike[[p]]]], all_items)] <- TRUE
    # Itself, and any other one that has all of its items.
    shifted[alike] <- vapply(seq_along(alike), function(p) {
      sum(rowSums(has[, has[p, ], drop = FALSE]) == sum(has[p, ])) > 1
    }, NA)
  }
  shifted
}

mine_raster <- function(raster, filters = raster$filters, ...) {
  do.call(mine_patterns, c(list(raster$x, raster$bin / 1000, raster$window), filters,
                           list(...)))
}

# ---- Recordings -----------------------------------------------------------------------

# An expression that makes a recording whose search takes minutes: a raster of 120 units
# and 4,000 bins.
long_recording <- quote(local({
  set.seed(1)
  n <- 4e4
  synfire::spike_trains(sample(0:3999, n, TRUE) / 1000, sample(120, n, TRUE), start = 0,
                        resolution = 1e-3)
}))

# The recording of motor cortex that the published code was run on.
movement_raster <- function() {
  raster <- read.table(shared_data("spade/movement_PGHF_raster.txt.gz"))
  spike_trains(raster$V2 * 0.005, factor(raster$V1, 0:149), start = 0, resolution = 0.005)
}

# "items (occurrences)", as the published code numbers items: unit * window + lag.
published_lines <- function(x) {
  n <- length(attr(x, "units"))
  window <- attr(x, "window_bins")
  at <- 0
  for (k in seq_along(x$runs$size)) {
    here <- at + seq_len(x$runs$size[[k]] * x$runs$n[[k]])
    item <- x$items[here] %% n * window + x$items[here] %/% n
    pattern <- (seq_along(here) - 1) %/% x$runs$size[[k]]
    x$items[here] <- item[order(pattern, item, method = "radix")]
    at <- at + length(here)
  }
  mined_lines(x)
}
