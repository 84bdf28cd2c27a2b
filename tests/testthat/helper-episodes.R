# Oracles for episodes, written from the definitions alone: every occurrence is listed,
# and the largest number that do not overlap is found by interval scheduling.

# A small random recording, as plain vectors (`tick`, `unit`, `trial`) for the oracles and
# as spike trains `x` with ticks of a millisecond for the package. `low`, `high`: intervals
# in ticks.
random_stream <- function(seed, units = 4, spikes = 30, span = 60, intervals = 2,
                          longest = 8, trials = NA) {
  withr::local_seed(seed)
  n <- if (sample(4L, 1L) == 1L) sample(0:spikes, 1L) else spikes
  offset <- sample(c(-1e6, -37, 0, 5, 1e6), 1L)
  tick <- offset + sample(0:sample(span, 1L), n, replace = TRUE)
  if (n > 0L && sample(3L, 1L) == 1L) tick <- offset + (tick - offset) %/% 5 * 20 + tick %% 4
  names <- paste0(sample(c("u", "\u00e9", "unit ", ""), 1L), seq_len(units))
  unit <- sample(names, n, replace = TRUE, prob = sample(4L, units, replace = TRUE))
  k <- sample(intervals, 1L)
  low <- sample(0:(longest - 1L), k, replace = TRUE) * sample(0:1, k, replace = TRUE)
  high <- low + sample(longest, k, replace = TRUE)
  twice <- duplicated(cbind(low, high))
  bounds <- NULL
  if (is.na(trials)) trials <- sample(3L, 1L) == 1L
  if (trials) {
    length <- sample(5:30, 1L)
    begin <- offset + seq(0, 4 * span, by = length + sample(0:3, 1L))
    bounds <- data.frame(start = begin, end = begin + length)
  }
  stream <- list(tick = tick, unit = unit, names = names, bounds = bounds,
                 low = low[!twice], high = high[!twice])
  stream$x <- stream_trains(stream)
  stream$trial <- stream_trials(stream)
  stream
}

# The spikes come in any order. Now and then it is that of a clock which starts again with
# each trial, and spike_trains() warns of that.
stream_trains <- function(stream) {
  trials <- stream$bounds
  suppressWarnings(classes = "synfire_warning_unlikely", spikes_outside(spike_trains(
    stream$tick / 1000, factor(stream$unit, stream$names),
    start = min(stream$tick, trials$start, 0) / 1000,
    end = max(stream$tick, trials$end, 0) / 1000, resolution = 1e-3,
    trials = if (!is.null(trials)) trials / 1000
  )))
}

# The row of each spike's trial, NA outside all: of two that touch, the later one.
stream_trials <- function(stream) {
  if (is.null(stream$bounds)) return(rep(1L, length(stream$tick)))
  vapply(stream$tick, function(t) {
    inside <- which(stream$bounds$start <= t & t <= stream$bounds$end)
    if (length(inside)) max(inside) else NA_integer_
  }, 0L)
}

stream_intervals <- function(stream) cbind(stream$low, stream$high) / 1000

# All occurrences: a matrix with a row for each and the ticks of its spikes.
oracle_occurrences <- function(stream, units, low, high) {
  here <- function(u) {
    mine <- stream$unit == u & !is.na(stream$trial)
    unique(cbind(stream$tick[mine], stream$trial[mine]))
  }
  first <- here(units[[1L]])
  found <- first[, 1L, drop = FALSE]
  trial <- first[, 2L]
  for (k in seq_along(low)) {
    add <- here(units[[k + 1L]])
    lag <- outer(-found[, k], add[, 1L], `+`)
    pair <- which(lag > low[[k]] & lag <= high[[k]] & outer(trial, add[, 2L], `==`),
                  arr.ind = TRUE)
    found <- cbind(found[pair[, 1L], , drop = FALSE], add[pair[, 2L], 1L])
    trial <- trial[pair[, 1L]]
  }
  unname(found)
}

# Scheduling: among what starts after the last one taken, the first to end.
oracle_schedule <- function(start, end) {
  o <- order(end)
  start <- start[o]
  end <- end[o]
  count <- 0L
  last <- -Inf
  for (i in seq_along(start)) {
    if (start[[i]] > last) {
      count <- count + 1L
      last <- end[[i]]
    }
  }
  count
}

# The same by trying every subset.
oracle_subsets <- function(start, end) {
  n <- length(start)
  if (n == 0L) return(0L)
  apart <- outer(end, start, `<`)
  apart <- apart | t(apart)
  best <- 1L
  for (subset in seq_len(2^n) - 1) {
    chosen <- which(bitwAnd(subset, 2^(seq_len(n) - 1)) > 0)
    pairs <- apart[chosen, chosen, drop = FALSE]
    if (length(chosen) > best && all(pairs[upper.tri(pairs)])) best <- length(chosen)
  }
  best
}

oracle_count <- function(stream, units, low, high) {
  found <- oracle_occurrences(stream, units, low, high)
  oracle_schedule(found[, 1L], found[, ncol(found)])
}

oracle_row <- function(stream, units, edges) {
  low <- stream$low[edges]
  high <- stream$high[edges]
  list(units = units, edges = edges, size = length(units),
       count = oracle_count(stream, units, low, high),
       name = paste0(units, c(sprintf(" -(%s,%s]-> ", low / 1000, high / 1000), ""),
                     collapse = ""))
}

# Level by level: a candidate is an episode whose prefix and suffix are both frequent.
oracle_mine <- function(stream, min_count, max_size = Inf) {
  frequent <- list()
  level <- lapply(stream$names, oracle_row, stream = stream, edges = integer())
  candidates <- numeric()
  size <- 1L
  repeat {
    candidates[[size]] <- length(level)
    level <- Filter(\(e) e$count >= min_count, level)
    frequent <- c(frequent, level)
    if (size >= max_size || length(level) == 0L) break
    key <- function(units, edges) paste(c(units, edges), collapse = "\r")
    known <- vapply(level, \(e) key(e$units, e$edges), "")
    singles <- Filter(\(e) e$size == 1L, frequent)
    next_level <- list()
    for (prefix in level) for (k in seq_along(stream$low)) for (last in singles) {
      units <- c(prefix$units, last$units)
      edges <- c(prefix$edges, k)
      if (key(units[-1L], edges[-1L]) %in% known) {
        next_level <- c(next_level, list(oracle_row(stream, units, edges)))
      }
    }
    if (length(next_level) == 0L) break
    level <- next_level
    size <- size + 1L
  }
  oracle_table(frequent, candidates)
}

# Every episode there can be up to `max_size`, frequent or not.
oracle_enumerate <- function(stream, min_count, max_size) {
  rows <- list()
  for (size in seq_len(max_size)) {
    units <- rep(list(stream$names), size)
    edges <- rep(list(seq_along(stream$low)), size - 1L)
    all <- expand.grid(c(units, edges), stringsAsFactors = FALSE)
    for (i in seq_len(nrow(all))) {
      one <- unname(as.list(all[i, ]))
      rows <- c(rows, list(oracle_row(stream, unlist(one[seq_len(size)]),
                                      as.integer(one[-seq_len(size)]))))
    }
  }
  oracle_table(Filter(\(e) e$count >= min_count, rows), NULL)
}

oracle_table <- function(rows, candidates) {
  table <- data.frame(
    episode = vapply(rows, `[[`, "", "name"), size = vapply(rows, `[[`, 0L, "size"),
    count = vapply(rows, `[[`, 0L, "count")
  )
  o <- order(table$size, -table$count, table$episode, method = "radix")
  out <- table[o, ]
  rownames(out) <- NULL
  list(table = out, candidates = candidates, rows = rows[o])
}

# What two runs have to agree on.
plain <- function(x) {
  out <- as.data.frame(x)[c("episode", "size", "count")]
  out$episode <- enc2utf8(out$episode)
  out
}

mined_by <- function(stream, min_count, ...) {
  all <- list(...)
  # Oracles know units that repeat.
  if (is.null(all$distinct_units)) all$distinct_units <- FALSE
  do.call(mine_episodes, c(list(stream$x, min_count, stream_intervals(stream)), all))
}

engines <- c("window", "state", "two-pass")

ticks_of <- function(seconds) round(seconds * 1000)
