# Surrogates of spike trains as they are defined, spike by spike.

# Surrogates, with those of the arguments that the method has.
own_surrogates <- function(x, n, method = "dither", ..., threads = 1) {
  given <- list(...)
  given <- given[names(given) %in% synfire:::method_arguments[[method]]]
  if (!is.null(given$window)) given$dither <- NULL
  do.call(surrogate_trains, c(list(x, n, method, threads = threads), given))
}

# The first `n` words of a unit of a surrogate, both numbered from 0.
oracle_words <- function(key, index, unit, n) {
  blocks <- lapply(seq_len(ceiling(n / 4)) - 1, \(b) {
    .Call(synfire:::r_philox, c(b, unit, index, 0), key)
  })
  unlist(blocks)[seq_len(n)]
}

# Words one after the other; below(bound) is uniform on 0 to bound - 1.
oracle_drawer <- function(key, index, unit) {
  at <- 0
  word <- numeric()
  next_word <- function() {
    if (at == length(word)) word <<- oracle_words(key, index, unit, 2 * length(word) + 64)
    at <<- at + 1
    word[[at]]
  }
  function(bound) {
    repeat {
      product <- next_word() * bound
      if (product %% 2^32 >= 2^32 %% bound) return(product %/% 2^32)
    }
  }
}

# For each unit and trial: rows of the unit's spikes `at` (from 1, within the unit) and
# what make(unit, at, start, stop) makes of them; ticks sorted by time, then unit.
oracle_surrogate <- function(x, make) {
  trains <- synfire:::trains_of(x)
  trial <- trains$trial %||% rep(1L, nrow(x))
  out <- lapply(seq_len(trains$units), \(u) {
    mine <- which(trains$unit == u & !is.na(trial))
    tick <- trains$tick[mine]
    runs <- split(seq_along(mine), trial[mine])
    made <- lapply(names(runs), \(t) {
      t <- as.integer(t)
      at <- runs[[as.character(t)]]
      make(u - 1, at, tick[at], trains$start[[t]], trains$stop[[t]], t - 1)
    })
    data.frame(tick = as.double(unlist(made)), unit = rep(u, length(mine)))
  })
  out <- do.call(rbind, out)
  # All spikes in trials, or a comparison would compare with nothing.
  stopifnot(nrow(out) == sum(!is.na(trial)))
  out[order(out$tick, out$unit), ]
}

oracle_dither <- function(tick, d, start, stop, words) {
  moved <- tick + floor(words * (2 * d + 1) / 2^32) - d
  moved <- ifelse(moved < start, 2 * start - moved, moved)
  ifelse(moved > stop, 2 * stop - moved, moved)
}

oracle_shift <- function(tick, d, start, stop, word) {
  start + (tick - start + floor(word * (2 * d + 1) / 2^32) - d) %% (stop - start + 1)
}

# `apart`: of the unit.
oracle_refractory <- function(tick, d, start, stop, apart, below) {
  order <- seq_along(tick)
  for (n in rev(seq_along(tick))) {
    at <- below(n) + 1
    j <- order[[at]]
    order[[at]] <- order[[n]]
    before <- if (j == 1L) start - apart else tick[[j - 1L]]
    after <- if (j == length(tick)) stop + apart else tick[[j + 1L]]
    left <- min(d, tick[[j]] - before - apart)
    right <- min(d, after - tick[[j]] - apart)
    tick[[j]] <- tick[[j]] + below(left + right + 1) - left
  }
  tick
}

oracle_isi_shuffle <- function(tick, start, below) {
  interval <- diff(c(start - 1, tick))
  n <- length(tick)
  for (j in seq_len(n)) {
    other <- j + below(n - j + 1)
    interval[c(j, other)] <- interval[c(other, j)]
  }
  start - 1 + cumsum(interval)
}

oracle_window_shuffle <- function(tick, bin, window, start, stop, below) {
  bins <- (stop - start + 1) %/% bin
  b <- (tick - start) %/% bin
  full <- b < bins
  target <- b
  for (w in unique(b[full] %/% window)) {
    size <- min(window, bins - w * window)
    taken <- numeric()
    for (from in unique(b[full & b %/% window == w])) {
      repeat {
        to <- below(size)
        if (!to %in% taken) break
      }
      taken <- c(taken, to)
      target[b == from] <- w * window + to
    }
  }
  tick + (target - b) * bin
}

# Two words a spike make one number; 2^64 is more than a double holds.
oracle_jitter <- function(tick, window, start, stop, words) {
  opens <- start + (tick - start) %/% window * window
  ticks <- pmin(window, stop - opens + 1)
  # floor(ticks * (second * 2^32 + first) / 2^64), exact for less than 2^21 ticks
  first <- words[c(TRUE, FALSE)]
  second <- words[c(FALSE, TRUE)]
  carried <- second * ticks + floor(first * ticks / 2^32)
  opens + floor(carried / 2^32)
}

# All bins of a trial in a vector, empty ones too, and all that a window holds permuted,
# bin by bin, as what comes first is drawn.
oracle_slide <- function(tick, bin, window, start, stop, below) {
  bins <- (stop - start + 1) %/% bin
  b <- (tick - start) %/% bin
  target <- b
  spiked <- unique(b[b < bins])
  coming <- spiked
  held <- numeric()
  for (place in seq_len(bins) - 1) {
    held <- c(held, coming[coming < place + window])
    coming <- coming[coming >= place + window]
    if (length(held) == 0L) next
    at <- below(min(window, bins - place)) + 1
    if (at > length(held)) next
    target[b == held[[at]]] <- place
    held[[at]] <- held[[length(held)]]
    held <- held[-length(held)]
  }
  tick + (target - b) * bin
}

# Counts of pairs of intervals (in bins, from 0), smoothed from bin `from` on, where they
# are mirrored.
oracle_joint <- function(intervals, n, bin, sigma, from, product) {
  bins <- lapply(intervals, \(i) i %/% bin)
  count <- matrix(0, n, n)
  if (product) {
    alone <- tabulate(unlist(bins) + 1, n)
    count <- outer(alone, alone)
  } else {
    for (b in bins) for (k in seq_len(max(0, length(b) - 1L))) {
      pair <- t(b[k + 0:1] + 1)
      if (all(pair <= n)) count[pair] <- count[pair] + 1
    }
  }
  if (sigma == 0) return(count)
  radius <- floor(4 * sigma + 0.5)
  weight <- exp(-(-radius:radius)^2 / (2 * sigma^2))
  size <- n - from
  mirror <- \(i) { i <- i %% (2 * size); ifelse(i < size, i, 2 * size - 1 - i) }
  blur <- t(vapply(seq_len(size) - 1, \(i) {
    row <- numeric(size)
    for (k in seq_along(weight)) {
      j <- mirror(i + k - 1 - radius) + 1
      row[[j]] <- row[[j]] + weight[[k]]
    }
    row
  }, numeric(size)))
  some <- from + seq_len(size)
  smooth <- matrix(0, n, n)
  smooth[some, some] <- blur %*% count[some, some] %*% t(blur)
  smooth
}

# All spikes of a unit, with their trials' bounds.
oracle_joint_unit <- function(tick, trial, start, stop, words, d, apart, bin, joint) {
  n <- nrow(joint)
  count <- length(tick)
  same <- \(a, b) b >= 1 && b <= count && trial[[a]] == trial[[b]]
  for (parity in c(0, 1)) for (j in which(seq_len(count) %% 2 == parity)) {
    word <- words[[j]]
    before <- if (same(j, j - 1)) tick[[j]] - tick[[j - 1]]
    after <- if (same(j, j + 1)) tick[[j + 1]] - tick[[j]]
    left <- if (is.null(before)) tick[[j]] - start[[trial[[j]]]] else before - apart
    right <- if (is.null(after)) stop[[trial[[j]]]] - tick[[j]] else after - apart
    known <- FALSE
    if (!is.null(before) && !is.null(after) && before %/% bin + after %/% bin < n) {
      a <- before %/% bin
      sum <- a + after %/% bin
      diagonal <- joint[cbind(0:sum, sum:0) + 1]
      weight <- floor(cumsum(diagonal) * (2^31 / max(sum(diagonal), 1e-100)))
      low <- max(0, a - min(left %/% bin, d %/% bin))
      high <- min(sum, a + min(right %/% bin, d %/% bin))
      below <- if (low > 0) weight[[low]] else 0
      all <- weight[[high + 1]] - below
      known <- all > 0
      if (known) {
        drawn <- below + floor(word * all / 2^32)
        to <- low + which(weight[(low:high) + 1] > drawn)[[1L]] - 1
        tick[[j]] <- tick[[j]] + (to - a) * bin
      }
    }
    if (!known) {
      left <- min(left, d)
      right <- min(right, d)
      tick[[j]] <- tick[[j]] + floor(word * (left + right + 1) / 2^32) - left
    }
  }
  tick
}
