# Slow and obvious versions of what find_assemblies() measures.

# Counts of lags of b after a that are nearest to k bins, for all pairs of a recording.
counted_lags <- function(x, bin, margin) {
  n <- nlevels(x$unit)
  of <- split(round(x$time / attr(x, "resolution")), x$unit)
  count <- array(0, c(2 * margin + 1, n, n))
  for (a in seq_len(n)) for (b in seq_len(n)) {
    if (a == b) next
    lag <- outer(of[[b]], of[[a]], `-`)
    k <- sign(lag) * floor((2 * abs(lag) + bin) / (2 * bin))
    k <- k[abs(k) <= margin] + margin + 1
    count[, a, b] <- tabulate(k, 2 * margin + 1)
  }
  count
}

# Half the mean square of what counts in successive windows differ by, over their mean;
# windows without a spike next to empty ones add nothing.
allan <- function(ticks, width) {
  if (length(ticks) == 0L) return(1)
  window <- floor(ticks / width)
  count <- tabulate(window - min(window) + 2, max(window) - min(window) + 3)
  max(1, sum(diff(count)^2) / (2 * length(ticks)))
}

clip <- function(u) pmin(pmax(u, -2), 2)

# What pairs have in common at one lag: a share of what is expected, and its variance.
common_of <- function(excess, expected, clumps) {
  use <- expected > 0
  excess <- excess[use]
  expected <- expected[use]
  clumps <- clumps[use]
  if (length(excess) == 0L) return(c(0, 0))
  common <- sum(excess) / sum(expected)
  spread <- max(0, sum((excess - common * expected)^2) - sum(expected * 1.25 * clumps)) /
    sum(expected^2)
  for (round in 1:4) {
    variance <- expected * 1.25 * clumps * (1 + common) + spread * expected^2
    u <- clip((excess - common * expected) / sqrt(variance))
    weight <- expected^2 / variance
    common <- max(-0.9, common + sum(u * expected / sqrt(variance)) / sum(weight))
    spread <- max(0, spread + sum((u^2 / 0.9205 - 1) * weight) / sum(weight^2))
  }
  c(common, spread)
}

z_of <- function(inside, beside, clumps, common, spread) {
  expected <- beside / 4 * (1 + common)
  base <- max(0.5, expected)
  inflation <- clumps + spread * base / 1.25
  if (inside <= expected || inside < 2) return(0)
  share <- (1 + common) / (5 + common)
  n <- inside + beside
  if (inside - 0.5 <= n * share) return(0)
  d <- 2 * ((inside - 0.5) * log((inside - 0.5) / (n * share)) +
              (beside + 0.5) * log((beside + 0.5) / (n * (1 - share))))
  sqrt(max(0, d) / inflation)
}

# z and lag of the best window of each pair a < b at each width.
best_windows <- function(x, bin, lags, widths) {
  half <- (widths - 1) / 2
  last <- max(half)
  margin <- lags + last + (last + 1) + 2 * (2 * last + 1) + 1
  count <- counted_lags(x, bin, margin)
  n <- nlevels(x$unit)
  ticks <- split(round(x$time / attr(x, "resolution")), x$unit)
  pairs <- t(utils::combn(n, 2))
  z <- lag <- array(0, c(n, n, length(widths)))
  for (r in seq_along(widths)) {
    w <- widths[[r]]
    h <- half[[r]]
    step <- if (h < 2) 1 else h / 2
    at <- seq(-floor(lags / step), floor(lags / step)) * step
    clumps <- vapply(ticks, allan, 0, width = w * bin)
    sum_of <- function(p, from, to) {
      sum(count[(from:to) + margin + 1, pairs[p, 1], pairs[p, 2]])
    }
    inside <- outer(seq_len(nrow(pairs)), at, Vectorize(\(p, k) sum_of(p, k - h, k + h)))
    beside <- outer(seq_len(nrow(pairs)), at, Vectorize(\(p, k) {
      gap <- h + 1
      sum_of(p, k - h - gap - 2 * w, k - h - gap - 1) +
        sum_of(p, k + h + gap + 1, k + h + gap + 2 * w)
    }))
    both <- clumps[pairs[, 1]] * clumps[pairs[, 2]]
    for (p in seq_len(nrow(pairs))) {
      best <- 0
      for (k in seq_along(at)) {
        mirror <- length(at) + 1 - k
        same <- unique(c(k, mirror))
        fit <- common_of(c(inside[, same] - beside[, same] / 4), c(beside[, same] / 4),
                         rep(both, length(same)))
        one <- z_of(inside[p, k], beside[p, k], both[[p]], fit[[1L]], fit[[2L]])
        if (one > best + 1e-7) {
          best <- one
          z[pairs[p, 2], pairs[p, 1], r] <- one
          lag[pairs[p, 2], pairs[p, 1], r] <- at[[k]]
        }
      }
    }
  }
  list(z = z, lag = lag)
}
