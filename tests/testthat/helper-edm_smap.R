# Obvious and slow: what the C code of S-maps must find.

# The minimum-norm least squares fit of one prediction by svd(). `target[t]` is what a
# point at row t predicts; neighbours without one count for the mean distance alone.
oracle_smap_row <- function(points, lib, row, target, theta, k, exclusion = 0, ridge = 0) {
  unknowns <- ncol(points) + 1
  near <- oracle_neighbours(points, lib, row, k, exclusion)
  mean <- mean(near$distance)
  known <- !is.na(target[near$row])
  near <- list(row = near$row[known], distance = near$distance[known])
  n <- length(near$row)
  if (n == 0) return(rep(NA_real_, 2 + 2 * unknowns))
  # Relative to the largest weight, since all of them may be tiny.
  rate <- if (mean > 0) theta / mean else 0
  weight <- exp(rate * (min(near$distance) - near$distance))
  scale <- exp(-rate * min(near$distance))
  A <- weight * cbind(1, points[near$row, , drop = FALSE])
  b <- weight * target[near$row]
  hold <- sqrt(ridge * sum(weight^2)) * diag(unknowns)[-1, , drop = FALSE]
  parts <- svd(rbind(A, hold, matrix(0, max(unknowns - n, 0), unknowns)))
  used <- parts$d > .Machine$double.eps * max(n, unknowns) * max(parts$d)
  u <- parts$u[seq_len(n), used, drop = FALSE]
  fit <- drop(parts$v[, used, drop = FALSE] %*% (crossprod(u, b) / parts$d[used]))
  prediction <- sum(fit * c(1, points[row, ]))
  variance <- sum(weight * (target[near$row] - prediction)^2) / sum(weight)
  c(prediction, variance, fit, scale * parts$d)
}

# What the compiled code gives, its columns as arrays [prediction, coefficient, theta]; with
# `local` the models, too.
called_smap <- function(points, lib, pred, target, theta, local, options) {
  at <- seq_along(pred)
  options["shown"] <- list(if (local) list(rows = length(pred), place = at, at = at))
  out <- .Call(r_edm_smap, points, as.integer(lib), as.integer(pred), target,
               as.double(theta), options)
  if (!is.list(out)) return(out)
  for (part in if (local) c("coefficients", "singular")) {
    out[[part]] <- array(unlist(out[[part]]), c(length(pred), ncol(points) + 1, length(theta)))
  }
  out
}

# As called_smap() returns it.
oracle_smap <- function(points, lib, pred, target, theta, k = max(length(lib) - 1, 1),
                        exclusion = 0, ridge = 0) {
  unknowns <- ncol(points) + 1
  all <- vapply(theta, function(th) {
    vapply(pred, function(row) {
      oracle_smap_row(points, lib, row, target, th, k, exclusion, ridge)
    }, numeric(2 + 2 * unknowns))
  }, matrix(0, 2 + 2 * unknowns, length(pred)))
  dim(all) <- c(2 + 2 * unknowns, length(pred), length(theta))
  pick <- function(i) aperm(all[i, , , drop = FALSE], c(2, 1, 3))
  list(predictions = matrix(all[1, , ], length(pred)),
       variance = matrix(all[2, , ], length(pred)),
       coefficients = pick(2 + seq_len(unknowns)),
       singular = pick(2 + unknowns + seq_len(unknowns)))
}
