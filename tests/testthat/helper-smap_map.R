# Skill and strength of all pairs, by smap() for one pair after the other. Delay vectors are
# made by hand, so that Tp below 0 and tau above 0 have all rows that there are. `well`: the
# least of the smallest singular values, as shares of the largest.
oracle_smap_map <- function(x, E, tau = -1, Tp = 1, theta = 2, ridge = 0,
                            exclusion_radius = 0, libraries = seq_len(ncol(x)),
                            targets = seq_len(ncol(x))) {
  x <- as.matrix(x)
  storage.mode(x) <- "double"
  E <- rep_len(E, length(targets))
  rho <- strength <- well <- matrix(NA_real_, length(libraries), length(targets))
  for (i in seq_along(libraries)) for (j in seq_along(targets)) {
    if (is.na(E[[j]])) next
    one <- oracle_smap_pair(x[, libraries[[i]]], x[, targets[[j]]], E[[j]], tau, Tp, theta,
                            ridge, exclusion_radius)
    rho[i, j] <- one[[1L]]
    strength[i, j] <- one[[2L]]
    well[i, j] <- one[[3L]]
  }
  unmapped <- oracle_unmapped(x)
  rho[unmapped[libraries], ] <- rho[, unmapped[targets]] <- NA
  strength[unmapped[libraries], ] <- strength[, unmapped[targets]] <- NA
  list(rho = rho, strength = strength, well = well)
}

oracle_smap_pair <- function(from, to, E, tau, Tp, theta, ridge, exclusion) {
  steps <- seq_along(from)
  lags <- vapply(seq_len(E) - 1, \(k) {
    at <- steps + k * tau
    at[at < 1 | at > length(from)] <- NA
    from[at]
  }, double(length(from)))
  rows <- which(rowSums(is.na(lags)) == 0 & (steps + Tp) %in% steps)
  points <- unique(lags[rows, , drop = FALSE])
  if (length(rows) < 2 || nrow(points) < 2) return(c(NA, NA, NA))
  at <- steps + Tp
  at[at < 1 | at > length(from)] <- NA
  fit <- synfire:::smap_at(lags, rows, rows, to[at], theta, length(rows) - 1, exclusion,
                           ridge, list(threads = 1, gpus = NULL),
                           list(rows = length(rows), place = seq_along(rows)))
  later <- to[rows + Tp]
  singular <- do.call(cbind, fit$singular)
  slope <- fit$coefficients[[2]]
  c(synfire:::edm_rho(later, fit$predictions[, 1]),
    mean(slope[is.finite(slope)]),
    min(singular[, E + 1] / singular[, 1], na.rm = TRUE) |> suppressWarnings())
}

expect_same_smap_map <- function(map, expected, x, libraries = seq_len(ncol(x)),
                                 targets = seq_len(ncol(x))) {
  size <- apply(x, 2, \(v) max(stats::sd(v, na.rm = TRUE), 1e-300, na.rm = TRUE))
  scale <- outer(1 / size[libraries], size[targets])
  none <- \(m) {
    m[is.nan(m)] <- NA
    unname(is.na(m))
  }
  expect_identical(none(map$rho), none(expected$rho))
  expect_identical(none(map$strength), none(expected$strength))
  expect_lte(max(abs(map$rho - expected$rho), 0, na.rm = TRUE), 1e-7)
  expect_lte(max(abs(map$strength - expected$strength) / scale, 0, na.rm = TRUE), 1e-6)
}

quiet_smap_map <- function(...) {
  suppressMessages(smap_map(...), classes = "synfire_message_file")
}
