# Obvious and slow, in double precision: what causal maps must hold.

# Correlation of a target and its prediction from a library series in E dimensions. `lib`,
# steps, are all that can be library points unless given.
oracle_cross <- function(library, target, E, tau = -1, Tp = 0, exclusion = 0,
                         split = FALSE, lib = NULL) {
  n <- length(library)
  first <- if (split) seq_len(n %/% 2) else seq_len(n)
  last <- if (split) setdiff(seq_len(n), first) else seq_len(n)
  points <- oracle_embed(library, E, tau)
  lags <- (seq_len(E) - 1) * tau
  within <- function(t, part) {
    !anyNA(points[t, ]) && all(t + lags >= min(part), t + lags <= max(part)) &&
      t + Tp >= min(part) && t + Tp <= max(part)
  }
  if (is.null(lib)) lib <- first[vapply(first, within, NA, part = first)]
  pred <- last[vapply(last, within, NA, part = last)]
  value <- c(rep(NA, 50), target, rep(NA, 50))[50 + seq_len(n) + Tp]
  if (length(lib) < E + 1 || length(pred) == 0) return(NA_real_)
  predicted <- oracle_simplex(points, lib, pred, value, E + 1, exclusion)$predictions
  oracle_correlation(predicted, value[pred])
}

oracle_correlation <- function(predicted, observed) {
  known <- is.finite(predicted) & is.finite(observed)
  p <- predicted[known]
  y <- observed[known]
  # Weighted means of the same values differ in the last bits.
  same <- function(v) diff(range(v)) <= 1e-6 * max(abs(v - mean(observed, na.rm = TRUE)),
                                                   stats::sd(y), 1e-300)
  if (length(y) < 3 || same(y) || same(p)) return(NA_real_)
  stats::cor(p, y)
}

# Series that have no rho: constant, or less than 20 times away from what most values are.
oracle_unmapped <- function(x) {
  apply(x, 2, \(v) {
    v <- v[!is.na(v)]
    if (length(unique(v)) < 2L) return(TRUE)
    most <- as.numeric(names(which.max(table(format(v, digits = 17)))))
    away <- rle(abs(v - most))$values
    if (mean(abs(v - most) == 0) <= 0.5) return(FALSE)
    sum(diff(sign(diff(c(0, away, 0)))) < 0) < 20
  })
}

# E: one for each target.
oracle_causal_map <- function(x, E, libraries = seq_len(ncol(x)),
                              targets = seq_len(ncol(x)), ...) {
  rho <- matrix(NA_real_, length(libraries), length(targets))
  for (i in seq_along(libraries)) {
    for (j in seq_along(targets)) {
      if (is.na(E[[j]])) next
      rho[i, j] <- oracle_cross(x[, libraries[[i]]], x[, targets[[j]]], E[[j]], ...)
    }
  }
  unmapped <- oracle_unmapped(x)
  rho[unmapped[libraries], ] <- rho[, unmapped[targets]] <- NA
  rho
}

# Series x E.
oracle_dimensions <- function(x, E_max, Tp = 1, ...) {
  skill <- vapply(seq_len(E_max), \(E) {
    vapply(seq_len(ncol(x)), \(j) oracle_cross(x[, j], x[, j], E, Tp = Tp, ...), 0)
  }, double(ncol(x)))
  matrix(skill, ncol(x), E_max)
}

# Whether single precision may take another neighbour than double precision: whether the
# last neighbour of some point and the next one are at the same distance to within rounding.
oracle_near_tie <- function(library, E, tau, Tp, exclusion, within = 1e-5) {
  n <- length(library)
  points <- oracle_embed(library, E, tau)
  lib <- which(!is.na(rowSums(points)) & seq_len(n) + Tp >= 1 & seq_len(n) + Tp <= n)
  any(vapply(lib, \(row) {
    d <- oracle_neighbours(points, lib, row, E + 2, exclusion)$distance
    length(d) > 1 && any(diff(d^2) <= within * pmax(d[-1]^2, 1e-30) & diff(d) != 0)
  }, NA))
}

# Coupled logistic maps, some of them rounded, with gaps, or constant.
random_series <- function(steps, n, seed, kind = "plain") {
  set.seed(seed)
  x <- matrix(stats::runif(n, 0.2, 0.6), steps, n, byrow = TRUE)
  r <- stats::runif(n, 3.6, 3.8)
  drive <- stats::runif(n, 0, 0.2)
  for (t in seq_len(steps - 1)) {
    before <- x[t, c(n, seq_len(n - 1))]
    x[t + 1, ] <- x[t, ] * (r - r * x[t, ] - drive * before)
  }
  x <- x * rep(10^stats::runif(n, -3, 3), each = steps) +
    rep(stats::rnorm(n, sd = 10), each = steps)
  if ("rounded" %in% kind) x[] <- round(4 * (x - rep(colMeans(x), each = steps)) /
                                          rep(apply(x, 2, stats::sd), each = steps))
  if ("gaps" %in% kind) x[sample(length(x), max(1, length(x) %/% 30))] <- NA
  if ("constant" %in% kind) x[, 1] <- 0.1
  x
}

# Layers of a map, straight from the driver.
driven <- function(x, E, ..., libraries = seq_len(ncol(x)), targets = seq_len(ncol(x)),
                   E_max = max(E, na.rm = TRUE), device = "cpu", gpus = 0L) {
  layers <- list()
  keep <- function(columns, values) {
    # Values are written anew for the next block.
    copy <- lapply(values, \(v) v + 0)
    layers <<- if (length(layers)) Map(rbind, layers, copy) else copy
  }
  place <- list(device = device, gpus = gpus)
  rule <- c(map_rule(E_max, ...), list(reasons = integer(ncol(x))))
  map_libraries(map_source(x), libraries, targets, rep_len(E, length(targets)), rule, place, keep)
  layers
}

# Single against double precision.
expect_close_maps <- function(found, oracle) {
  found <- unclass(found)
  expect_false(any(is.nan(found)))
  expect_identical(c(is.na(found)), c(is.na(oracle)))
  off <- abs(c(found) - c(oracle))
  if (!all(is.na(off))) expect_lte(max(off, na.rm = TRUE), 1e-5)
}
