# Obvious and slow: what the C code of empirical dynamic modelling must find.

# The rows of the data next to `row` among `lib`, by squared distance with its terms added
# in the order of the coordinates, then by how far the rows are apart, then by row.
oracle_neighbours <- function(points, lib, row, k, exclusion = 0) {
  lib <- lib[abs(lib - row) > exclusion]
  squared <- numeric(length(lib))
  for (d in seq_len(ncol(points))) {
    squared <- squared + (points[lib, d] - points[row, d])^2
  }
  first <- head(order(squared, abs(lib - row), lib), k)
  list(row = lib[first], distance = sqrt(squared[first]))
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

# `target[t]` is what a point at row t predicts. NA where there is no neighbour, or where
# one of the neighbours has no target.
oracle_simplex <- function(points, lib, pred, target, k = ncol(points) + 1,
                           exclusion = 0) {
  one <- function(row) {
    near <- oracle_neighbours(points, lib, row, k, exclusion)
    value <- target[near$row]
    if (length(value) == 0 || anyNA(value)) return(c(NA_real_, NA_real_))
    weight <- exp(-near$distance / max(near$distance[[1]], 1e-6))
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
