# The definitions behind find_synapses(), one window and one bin at a time.

# Counts of lags -L to L of a pair, its first unit being the reference, in bins of the plan.
slow_counts <- function(a, b, bin, lags) {
  lag <- as.vector(outer(b, a, "-")) / bin
  # Half way between two bins a lag goes away from 0.
  k <- sign(lag) * floor(abs(lag) + 0.5)
  as.vector(table(factor(k[abs(k) <= lags], levels = -lags:lags)))
}

# The signed root of the deviance of two Poisson counts, half a count nearer to each other.
slow_root <- function(count, expected, noise) {
  beside <- max(expected, 0) / noise
  mean <- (count + beside) * noise / (1 + noise)
  if (abs(count - mean) <= 0.5) return(0)
  moved <- count - sign(count - mean) * 0.5
  rest <- max(count + beside - moved, 0)
  xlog <- \(x, m) if (x > 0) x * log(x / m) else 0
  deviance <- 2 * (xlog(moved, mean) + xlog(rest, count + beside - mean))
  sign(count - mean) * sqrt(max(deviance, 0))
}

# A weighted polynomial at 0: its value, and the sum of the squares of its coefficients.
slow_fit <- function(d, weight, x, order) {
  keep <- weight > 0
  if (!any(keep)) return(NULL)
  basis <- outer(d[keep], 0:order, "^")
  cross <- crossprod(basis, weight[keep] * basis)
  q <- if (qr(cross, tol = 1e-10)$rank <= order) weight[keep] / sum(weight[keep]) else
    (solve(cross, t(basis) * rep(weight[keep], each = order + 1)))[1, ]
  list(value = sum(q * x[keep]), squares = sum(q^2))
}

# Both baselines of the window that begins at `lo` on a side (1 or -1), without masked lags.
slow_window <- function(count, lags, lo, side, o, masked = integer()) {
  lag <- side * (-lags:lags)
  middle <- lo + (o$width - 1) / 2
  inside <- lag >= lo & lag < lo + o$width
  out <- lag == 0 | lag >= lo - o$guard & lag < lo + o$width + o$guard |
    (side * lag) %in% masked | abs(lag) > o$lags
  gaussian <- \(d, deviation) {
    ifelse(2 * abs(d) < floor(6 * deviation) + 2, exp(-0.5 * (d / deviation)^2), 0)
  }
  hollow <- slow_fit(lag - middle, gaussian(lag - middle, o$hollow) * !out, count, 2)
  folded <- if (o$folded > 0) {
    slow_fit(abs(lag) - middle, gaussian(abs(lag) - middle, o$folded) * !out, count, 1)
  }
  S <- sum(count[inside])
  fits <- lapply(Filter(Negate(is.null), list(hollow, folded)), \(fit) {
    E <- o$width * fit$value
    r <- o$width * fit$squares
    c(z = slow_root(S, E, r), count = S, expected = E, noise = r, lo = lo)
  })
  z <- vapply(fits, `[[`, 0, "z")
  list(up = fits[[which.min(z)]], down = fits[[which.max(z)]])
}

slow_side <- function(count, lags, side, o, masked = integer()) {
  windows <- lapply(seq_len(o$reach - o$width + 1), \(lo) {
    slow_window(count, lags, lo, side, o, masked)
  })
  up <- vapply(windows, \(w) w$up[["z"]], 0)
  down <- vapply(windows, \(w) w$down[["z"]], 0)
  list(up = windows[[which.max(up)]]$up, down = windows[[which.min(down)]]$down)
}

# The best windows of both directions of a pair; strong ones are masked for the others.
slow_scan <- function(count, o) {
  lags <- (length(count) - 1) / 2
  side <- c(1, -1)
  best <- lapply(side, \(s) slow_side(count, lags, s, o))
  strength <- \(b) max(b$up[["z"]], -b$down[["z"]])
  masked <- integer()
  hide <- function(i) {
    up <- best[[i]]$up[["z"]] > -best[[i]]$down[["z"]]
    lo <- best[[i]][[if (up) "up" else "down"]][["lo"]]
    masked <<- c(masked, side[[i]] * seq(max(1, lo - o$pad), lo + o$width + o$pad - 1))
    again <- slow_side(count, lags, side[[i]], o, masked)
    other <- if (up) "down" else "up"
    best[[i]][[other]] <<- again[[other]]
  }
  i <- if (strength(best[[1]]) >= strength(best[[2]])) 1 else 2
  if (o$mask > 0 && strength(best[[i]]) >= o$mask) {
    hide(i)
    best[[3 - i]] <- slow_side(count, lags, side[[3 - i]], o, masked)
    if (strength(best[[3 - i]]) >= o$mask) hide(3 - i)
  }
  best
}

# A parabola around each lag, by weighted least squares.
slow_part <- function(count, deviation) {
  lag <- seq_along(count)
  vapply(lag, \(at) {
    slow_fit((lag - at) / deviation, exp(-0.5 * ((lag - at) / deviation)^2), count, 2)$value
  }, 0)
}

# The differences from the slow part at lags that are `shift` farther, set on the slow part.
slow_null <- function(count, lags, shift, deviation) {
  most <- (length(count) - 1) / 2
  slow <- pmax(slow_part(count, deviation), 1e-3)
  t <- -lags:lags
  from <- t + ifelse(t > 0, shift, -shift)
  at <- most + 1 + t
  from <- most + 1 + from
  pmax(0, slow[at] + (count[from] - slow[from]) * sqrt(slow[at] / slow[from]))
}

# What is left of the correlogram of i and j, without what links into j (at positive lags) and
# into i (at negative ones) explain. `counts` is lags x from x to.
slow_residual <- function(counts, links, spikes, i, j, o) {
  lags <- (dim(counts)[[1]] - 1) / 2
  middle <- lags + 1
  peak <- \(lo) seq(max(1, lo - o$before), min(o$reach, lo + o$width + o$after))
  fast <- function(a, b) {
    level <- counts[, a, b]
    for (l in seq_len(nrow(links))) {
      flat <- links$expected[[l]] / o$width
      if (links$from[[l]] == a && links$to[[l]] == b) level[middle + peak(links$lo[[l]])] <- flat
      if (links$from[[l]] == b && links$to[[l]] == a) level[middle - peak(links$lo[[l]])] <- flat
    }
    counts[, a, b] - slow_part(level, o$smooth)
  }
  kernel <- function(l) {
    h <- numeric(o$reach)
    extra <- links$count[[l]] - links$expected[[l]]
    n <- spikes[[links$from[[l]]]]
    if (abs(links$z[[l]]) <= o$clear) {
      h[links$lo[[l]] + seq_len(o$width) - 1] <- extra / o$width / n
    } else {
      at <- peak(links$lo[[l]])
      value <- fast(links$from[[l]], links$to[[l]])[middle + at]
      h[at] <- ifelse(value * extra > 0, value, 0) / n
    }
    h
  }
  side <- function(from, to) {
    x <- counts[middle + seq_len(lags), from, to]
    for (l in which(links$to == to & links$from != from)) {
      f <- fast(from, links$from[[l]])
      h <- kernel(l)
      for (t in seq_len(lags)) x[[t]] <- x[[t]] - sum(h * f[middle + t - seq_len(o$reach)])
    }
    pmax(x, 0)
  }
  c(rev(side(j, i)), counts[middle, i, j], side(i, j))
}

# ---- Recordings ------------------------------------------------------------------------

poisson_train <- function(rate, end) sort(stats::runif(stats::rpois(1, rate * end), 0, end))

# A share of these spikes, each `lag` later.
followers <- function(spikes, share, lag, spread = 3e-4) {
  spikes <- spikes[stats::runif(length(spikes)) < share]
  spikes + lag + stats::runif(length(spikes), -spread, spread)
}

# Without a share of the spikes that come within a window after those of `by`.
inhibited <- function(spikes, by, share, from = 0.001, to = 0.005) {
  since <- spikes - c(-1, by)[findInterval(spikes, by) + 1]
  spikes[since < from | since > to | stats::runif(length(spikes)) >= share]
}

as_recording <- function(trains, end, ...) {
  unit <- factor(rep(names(trains), lengths(trains)), names(trains))
  spike_trains(unlist(trains, use.names = FALSE), unit, start = 0, end = end, ...)
}

# Units that do not know of each other, and what each of the planted pairs has.
connected_recording <- function(end = 900) {
  tr <- stats::setNames(lapply(c(7, 6, 6, 9, 12, 6, 6, 6, 6, 8), poisson_train, end),
                        c("A", "B", "C", "I", "T", "P", "Q", "S", "R", "N"))
  tr$B <- sort(c(tr$B, followers(tr$A, 0.3, 0.002)))
  tr$C <- sort(c(tr$C, followers(tr$B, 0.3, 0.003)))
  tr$T <- inhibited(tr$T, tr$I, 0.7)
  hidden <- poisson_train(8, end)
  tr$P <- sort(c(tr$P, followers(hidden, 0.4, 0.003)))
  tr$Q <- sort(c(tr$Q, followers(hidden, 0.4, 0.003)))
  tr$R <- sort(unique(c(tr$S[stats::runif(length(tr$S)) < 0.6], tr$R[seq(1, 1500)])))
  as_recording(tr, end + 1)
}

row_of <- function(found, from, to) {
  as.data.frame(found)[found$from == from & found$to == to, ]
}
