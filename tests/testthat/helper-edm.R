# Obvious and slow: what the C code of empirical dynamic modelling must find.

# The rows of the data next to `row` among `lib`, by squared distance with its terms added
# in the order of the coordinates, then as they follow `row` in a fixed shuffle. Squares that only
# rounding tells apart are equal.
oracle_neighbours <- function(points, lib, row, k, exclusion = 0) {
  lib <- lib[abs(lib - row) > exclusion]
  squared <- numeric(length(lib))
  for (d in seq_len(ncol(points))) {
    squared <- squared + (points[lib, d] - points[row, d])^2
  }
  first <- head(order(signif(squared, 10), oracle_rank(lib, row)), k)
  list(row = lib[first], distance = sqrt(squared[first]))
}

# How far rows, from 1, come after row `from` in the shuffle that orders those at equal
# distance, which begins anew after its end.
oracle_rank <- function(row, from) (oracle_shuffle(row) - oracle_shuffle(from)) %% 2^32

# The places of rows, from 1, in the shuffle: a whole number below 2^32 each.
oracle_shuffle <- function(row) {
  halves <- function(x) list(high = x %/% 65536, low = x %% 65536)
  xor <- function(a, b) {
    a <- halves(a)
    b <- halves(b)
    65536 * bitwXor(a$high, b$high) + bitwXor(a$low, b$low)
  }
  times <- function(a, by) {
    a <- halves(a)
    (a$high * by %% 65536 * 65536 + a$low * by) %% 2^32
  }
  x <- row - 1
  x <- times(xor(x, x %/% 2^16), 0x7feb352d)
  x <- times(xor(x, x %/% 2^15), 0x846ca68b)
  xor(x, x %/% 2^16)
}

# Matrices length(pred) x k, NA behind the last neighbour there is.
oracle_all_neighbours <- function(points, lib, pred, k, exclusion = 0) {
  found <- lapply(pred, function(row) oracle_neighbours(points, lib, row, k, exclusion))
  fill <- function(part) {
    values <- vapply(found, function(f) as.double(f[[part]])[seq_len(k)], numeric(k))
    matrix(values, length(pred), k, byrow = TRUE)
  }
  row <- fill("row")
  storage.mode(row) <- "integer"
  list(row = row, distance = fill("distance"))
}

# The least nearest distance: a millionth of the power of two above how far coordinates lie
# from their means, on average.
oracle_floor <- function(points) {
  points[!is.finite(points)] <- NA
  from_mean <- abs(points - rep(colMeans(points, na.rm = TRUE), each = nrow(points)))
  spread <- mean(colMeans(from_mean, na.rm = TRUE))
  if (is.na(spread) || spread == 0) 1e-6 else 1e-6 * 2^(floor(log2(spread)) + 1)
}

# `target[t]` is what a point at row t predicts. NA where there is no neighbour, or where
# one of the neighbours has no target.
oracle_simplex <- function(points, lib, pred, target, k = ncol(points) + 1,
                           exclusion = 0) {
  floor <- oracle_floor(points)
  one <- function(row) {
    near <- oracle_neighbours(points, lib, row, k, exclusion)
    value <- target[near$row]
    if (length(value) == 0 || anyNA(value)) return(c(NA_real_, NA_real_))
    weight <- exp(-near$distance / max(near$distance[[1]], floor))
    prediction <- sum(weight * value) / sum(weight)
    c(prediction, sum(weight * (value - prediction)^2) / sum(weight))
  }
  both <- vapply(pred, one, numeric(2))
  list(predictions = both[1, ], variance = both[2, ])
}

# Delay vectors: column j holds the series (j - 1) * tau rows away.
oracle_embed <- function(series, E, tau = -1) {
  at <- outer(seq_along(series), (seq_len(E) - 1) * tau, `+`)
  at[at < 1 | at > length(series)] <- NA
  matrix(series[at], length(series), E)
}
