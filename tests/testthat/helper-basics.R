# Slow and obvious versions of what is computed beside the miners, in whole ticks. A
# recording is a list: `tick`, `unit` (code) and `trial` (row, NA outside of all) of each
# spike, `units`, `start` and `end` (ticks of the trials, or of the recording),
# `resolution`.

ticks_of_recording <- function(x) {
  resolution <- attr(x, "resolution")
  to_ticks <- function(seconds) round(seconds / resolution)
  trials <- attr(x, "trials")
  start <- to_ticks(if (is.null(trials)) attr(x, "start") else trials$start)
  end <- to_ticks(if (is.null(trials)) attr(x, "end") else trials$end)
  tick <- to_ticks(x$time)
  trial <- vapply(tick, function(t) {
    hit <- which(start <= t & t <= end)
    if (length(hit)) max(hit) else NA_integer_
  }, integer(1))
  list(tick = tick, unit = as.integer(x$unit), trial = trial, units = nlevels(x$unit),
       start = start, end = end, resolution = resolution)
}

# Counts of all pairs of spikes in the same trial, lags x reference x target.
slow_correlogram <- function(x, bin, lags) {
  r <- ticks_of_recording(x)
  out <- array(0L, c(2 * lags + 1, r$units, r$units))
  for (i in seq_along(r$tick)) {
    for (j in seq_along(r$tick)) {
      if (i == j || is.na(r$trial[i]) || is.na(r$trial[j]) || r$trial[i] != r$trial[j]) next
      lag <- r$tick[j] - r$tick[i]
      # The nearest bin; half way, the one farther from 0.
      k <- sign(lag) * floor(abs(lag) / bin + 0.5)
      if (abs(k) > lags) next
      cell <- cbind(k + lags + 1, r$unit[i], r$unit[j])
      out[cell] <- out[cell] + 1L
    }
  }
  out
}

# Cutts and Eglen's coefficient from its definition: ticks of tiles are gone through one
# by one, half a tick at a time, so that lengths are exact.
slow_sttc <- function(x, reach) {
  r <- ticks_of_recording(x)
  inside <- which(!is.na(r$trial))
  near <- function(i, b) {
    any(r$unit[inside] == b & r$trial[inside] == r$trial[i] &
          abs(r$tick[inside] - r$tick[i]) <= reach)
  }
  of_unit <- lapply(seq_len(r$units), function(u) inside[r$unit[inside] == u])
  under <- vapply(seq_len(r$units), function(u) {
    sum(vapply(seq_along(r$start), function(k) {
      middle <- if (r$end[k] > r$start[k]) seq(r$start[k] + 0.5, r$end[k] - 0.5) else numeric()
      spikes <- r$tick[of_unit[[u]]][r$trial[of_unit[[u]]] == k]
      sum(vapply(middle, function(m) any(abs(spikes - m) <= reach), NA))
    }, 0))
  }, 0)
  share <- under / sum(r$end - r$start)
  term <- function(p, t) if (p * t == 1) 1 else (p - t) / (1 - p * t)
  out <- matrix(NA_real_, r$units, r$units, dimnames = list(levels(x$unit), levels(x$unit)))
  for (a in seq_len(r$units)) {
    for (b in seq_len(r$units)) {
      if (length(of_unit[[a]]) == 0L || length(of_unit[[b]]) == 0L) next
      p_a <- mean(vapply(of_unit[[a]], near, NA, b))
      p_b <- mean(vapply(of_unit[[b]], near, NA, a))
      out[a, b] <- (term(p_a, share[b]) + term(p_b, share[a])) / 2
    }
  }
  out
}

# Counts in bins, trial after trial, without rows between them.
slow_bins <- function(x, bin) {
  r <- ticks_of_recording(x)
  parts <- lapply(seq_along(r$start), function(k) {
    n <- (r$end[k] - r$start[k]) %/% bin
    counts <- matrix(0L, n, r$units)
    for (row in seq_len(n)) {
      from <- r$start[k] + (row - 1) * bin
      to <- from + bin
      for (u in seq_len(r$units)) {
        t <- r$tick[r$unit == u & r$trial %in% k]
        # The end of the trial is part of its last bin.
        counts[row, u] <- sum(t >= from & (t < to | t == to & to == r$end[k]))
      }
    }
    counts
  })
  do.call(rbind, parts)
}

# Each value a weighted mean of the counts of its trial.
slow_smooth <- function(count, sigma) {
  n <- length(count)
  vapply(seq_len(n), function(i) {
    apart <- abs(seq_len(n) - i)
    weight <- ifelse(apart <= ceiling(5 * sigma - 1e-9), exp(-0.5 * (apart / sigma)^2), 0)
    sum(weight * count) / sum(weight)
  }, 0)
}

# Spikes of each event, unit and bin: an array events x bins x units, and which events
# count.
slow_psth <- function(x, events, from, to, bin) {
  r <- ticks_of_recording(x)
  keep <- vapply(events, function(e) any(e + from >= r$start & e + to <= r$end), NA)
  out <- array(0L, c(length(events), (to - from) / bin, r$units))
  for (e in which(keep)) {
    for (b in seq_len(dim(out)[[2L]])) {
      low <- events[[e]] + from + (b - 1) * bin
      for (u in seq_len(r$units)) {
        out[e, b, u] <- sum(r$unit == u & r$tick >= low & r$tick < low + bin)
      }
    }
  }
  list(counts = out, keep = keep)
}

# Intervals of one unit, trial after trial, each trial by itself.
slow_intervals <- function(x, unit) {
  r <- ticks_of_recording(x)
  lapply(seq_along(r$start), function(k) {
    diff(r$tick[r$unit == unit & r$trial %in% k]) * r$resolution
  })
}

# Bursts of sorted times of one trial, spike by spike.
slow_bursts <- function(t, max_start, max_within, min_between, min_duration, min_spikes) {
  found <- list()
  i <- 1
  while (i < length(t)) {
    if (t[i + 1] - t[i] <= max_start) {
      j <- i + 1
      while (j < length(t) && t[j + 1] - t[j] <= max_within) j <- j + 1
      found[[length(found) + 1]] <- c(i, j)
      i <- j
    } else {
      i <- i + 1
    }
  }
  k <- 1
  while (k < length(found)) {
    if (t[found[[k + 1]][1]] - t[found[[k]][2]] < min_between) {
      found[[k]][2] <- found[[k + 1]][2]
      found[[k + 1]] <- NULL
    } else {
      k <- k + 1
    }
  }
  Filter(function(b) t[b[2]] - t[b[1]] >= min_duration && diff(b) + 1 >= min_spikes, found)
}

# The value of `code`, which may make recordings with spikes outside of all trials: to tell
# of them is no news where they are part of what is tried.
spikes_outside <- function(code) {
  suppressMessages(code, classes = "synfire_message_trials")
}

# A small recording with ties, a silent unit, and trials or none, in whole ms.
small_recording <- function(trials = stats::runif(1) < 0.5, n = sample(2:80, 1)) {
  units <- sample(1:4, 1)
  cuts <- sort(sample(0:300, 4))
  if (stats::runif(1) < 0.3) cuts[3] <- cuts[2]
  spikes_outside(spike_trains(
    sample(0:300, n, TRUE) / 1000, factor(sample(units, n, TRUE), levels = 1:(units + 1)),
    start = 0, end = 0.3, resolution = 1e-3,
    trials = if (trials) data.frame(trial = c("a", "b"), start = cuts[c(1, 3)] / 1000,
                                    end = cuts[c(2, 4)] / 1000)
  ))
}

# Spikes and ticks by the value of a behaviour, tick by tick: `count` (bins of values, unit after
# unit) and `ticks`, how many each bin has.
slow_tuning <- function(x, ticks, value, edges, most) {
  r <- ticks_of_recording(x)
  n <- length(ticks)
  until <- pmin(c(ticks[-1], ticks[n] + round(stats::median(diff(ticks)))), ticks + most)
  bin_at <- function(t) {
    k <- which(ticks <= t & t < until)
    if (length(k) == 0 || is.na(value[k])) return(NA)
    b <- which(edges[-length(edges)] <= value[k] & value[k] < edges[-1])
    if (value[k] == edges[length(edges)]) b <- length(edges) - 1
    if (length(b)) b else NA
  }
  held <- unlist(lapply(seq_along(r$start), function(k) {
    vapply(seq_len(r$end[k] - r$start[k]) - 1 + r$start[k], bin_at, 1)
  }))
  # The last tick of a trial is what the tick before it is.
  last <- r$tick %in% r$end & !r$tick %in% r$start
  of_spike <- vapply(seq_along(r$tick), function(i) {
    if (is.na(r$trial[i])) NA else bin_at(r$tick[i] - last[i])
  }, 1)
  bins <- seq_len(length(edges) - 1)
  list(count = unlist(lapply(seq_len(r$units), function(u) {
    tabulate(of_spike[r$unit == u], length(bins))
  })), ticks = tabulate(held, length(bins)))
}
