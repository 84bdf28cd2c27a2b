# Conditional forecasts, one row and one candidate after the other, by solving all equations
# with the candidate's value and square as two more regressors.

# Jobs as conditional_forecasts() takes them, from a list of lists with `effect`, `theta`,
# and `coordinate` and `candidate`: matrices with two rows, series and lag.
forecast_jobs <- function(jobs) {
  joined <- function(what) {
    do.call(cbind, c(list(matrix(0L, 2, 0)), lapply(jobs, `[[`, what)))
  }
  start <- function(what) cumsum(c(0, vapply(jobs, \(job) NCOL(job[[what]]), 0L)))
  list(
    effect = vapply(jobs, \(job) as.integer(job$effect), 1L),
    theta = vapply(jobs, \(job) as.double(job$theta), 1),
    coordinate_start = start("coordinate"), coordinate = joined("coordinate"),
    candidate_start = start("candidate"), candidate = joined("candidate")
  )
}

oracle_forecasts <- function(series, jobs, exclusion, reach) {
  each <- lapply(seq_along(jobs$effect), \(i) {
    part <- \(what) {
      at <- jobs[[paste0(what, "_start")]][i + 0:1]
      jobs[[what]][, seq_len(at[[2]] - at[[1]]) + at[[1]], drop = FALSE]
    }
    oracle_forecast(series, jobs$effect[[i]], part("coordinate"), part("candidate"),
                    jobs$theta[[i]], exclusion, reach)
  })
  joined <- \(what) unlist(lapply(each, `[[`, what)) %||% double()
  list(rows = joined("rows"), error = joined("error"), gain = joined("gain"), t = joined("t"))
}

oracle_forecast <- function(series, effect, coordinate, candidate, theta, exclusion, reach) {
  steps <- reach + seq_len(max(0, nrow(series) - 1 - reach))
  lagged <- \(of) matrix(vapply(seq_len(ncol(of)), \(k) {
    series[steps - of[2, k], of[1, k]]
  }, double(length(steps))), length(steps))
  f <- lagged(coordinate)
  x <- lagged(candidate)
  y <- series[steps + 1, effect]
  known <- !is.na(y) & rowSums(is.na(f)) == 0 & rowSums(is.na(x)) == 0
  steps <- steps[known]
  near <- abs(outer(steps, steps, `-`)) <= exclusion
  none <- rep(NA_real_, ncol(x))
  if (sum(known) < 4 * (ncol(f) + 2) || any(rowSums(!near) == 0)) {
    return(list(rows = sum(known), error = NA_real_, gain = none, t = none))
  }
  f <- f[known, , drop = FALSE]
  x <- x[known, , drop = FALSE]
  weights <- oracle_forecast_weights(f, near, theta)
  errors <- \(g) oracle_forecast_errors(g, y[known], weights)
  e0 <- errors(cbind(1, f))
  tests <- vapply(seq_len(ncol(x)), \(k) {
    oracle_forecast_test(e0, errors(cbind(1, f, x[, k], x[, k]^2)))
  }, double(2))
  list(rows = sum(known), error = mean(e0^2), gain = tests[1, ], t = tests[2, ])
}

# Squared weights of all rows (columns) for each forecast (row).
oracle_forecast_weights <- function(f, near, theta) {
  distance <- as.matrix(stats::dist(f))
  t(vapply(seq_len(nrow(f)), \(i) {
    d <- distance[i, ]
    mean <- mean(d[!near[i, ]])
    # By the nearest, so that not all are 0; nothing depends on the size of all of them.
    w <- if (mean > 0) exp(-theta * (d - min(d[!near[i, ]])) / mean) else rep(1, length(d))
    ifelse(near[i, ], 0, w^2)
  }, double(nrow(f))))
}

oracle_forecast_errors <- function(g, y, weights) {
  vapply(seq_along(y), \(i) {
    w <- weights[i, ]
    ridge <- 1e-6 * sum(w) * diag(c(0, rep(1, ncol(g) - 1)))
    a <- solve(crossprod(g, w * g) + ridge, crossprod(g, w * y), tol = 0)
    y[[i]] - sum(g[i, ] * a)
  }, 0)
}

oracle_forecast_test <- function(e0, e1) {
  fall <- e0^2 - e1^2
  n <- length(fall)
  apart <- fall - mean(fall)
  lags <- floor(4 * (n / 100)^(2 / 9))
  variance <- mean(apart^2)
  for (lag in seq_len(lags)) {
    variance <- variance + 2 * (1 - lag / (lags + 1)) *
      sum(apart[-seq_len(lag)] * apart[seq_len(n - lag)]) / n
  }
  t <- if (variance > 0) mean(fall) / sqrt(variance / n) else if (mean(fall) == 0) 0 else NA
  c(if (sum(e0^2) > 0) sum(fall) / sum(e0^2) else NA, t)
}
