# Conditional forecasts, one row and one candidate after the other, by solving all equations
# with the candidate's value and square as two more regressors.

# Jobs as conditional_forecasts() takes them, from a list of lists with `effect`, `theta`,
# and `coordinate` and `candidate`: matrices with two rows, series and lag.
forecast_jobs <- function(jobs) {
  joined <- function(what) {
    all <- do.call(cbind, c(list(matrix(0L, 2, 0)), lapply(jobs, `[[`, what)))
    matrix(as.integer(all), 2)
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
    return(list(rows = sum(known), error = NA_real_, gain = none, t = none,
                missed = rep(NA_real_, nrow(series))))
  }
  f <- f[known, , drop = FALSE]
  x <- x[known, , drop = FALSE]
  weights <- oracle_forecast_weights(f, near, theta)
  # Less a constant, which no error depends on: what is constant has no errors at all.
  y <- y[known] - y[known][[1]]
  errors <- \(g) oracle_forecast_errors(g, y, weights)
  e0 <- errors(cbind(1, f))
  tests <- vapply(seq_len(ncol(x)), \(k) {
    oracle_forecast_test(e0, errors(cbind(1, f, x[, k], x[, k]^2)))
  }, double(2))
  list(rows = sum(known), error = mean(e0^2), gain = tests[1, ], t = tests[2, ],
       missed = replace(rep(NA_real_, nrow(series)), steps + 1, e0))
}

# The forecast of the best of some thetas.
oracle_best_forecast <- function(series, effect, coordinate, candidate, thetas, reach) {
  made <- lapply(thetas, \(theta) {
    oracle_forecast(series, effect, coordinate, candidate, theta, 0, reach)
  })
  made[[which.min(vapply(made, `[[`, 0, "error"))]]
}

# A series without its noise, by its steps `from` before and after, the cause and the effect; and
# the same with that in place of the steps. Numbers of columns.
oracle_pictures <- function(series, cause, other, effect, thetas, reach) {
  steps <- nrow(series)
  late <- c(rep(NA, 3), series[seq_len(steps - 3), other])
  picture <- \(from) {
    with <- cbind(series, from, late)
    own <- ncol(series) + 1
    coordinate <- cbind(rbind(own, c(0, 1, 3, 4)), rbind(cause, 2:4), rbind(effect, 2:3))
    made <- oracle_best_forecast(with, own + 1, coordinate, matrix(0, 2, 0), thetas, reach)
    c((late - made$missed)[-(1:3)], rep(NA, 3))
  }
  first <- picture(series[, other])
  cbind(first, picture(first))
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
  fall <- e0 * (e0 - e1)
  n <- length(fall)
  apart <- fall - mean(fall)
  lags <- floor(4 * (n / 100)^(2 / 9))
  variance <- mean(apart^2)
  for (lag in seq_len(lags)) {
    variance <- variance + 2 * (1 - lag / (lags + 1)) *
      sum(apart[-seq_len(lag)] * apart[seq_len(n - lag)]) / n
  }
  # A smaller spread is what rounding and the ridge leave.
  t <- if (variance > (1e-5 * mean(e0^2))^2) mean(fall) / sqrt(variance / n) else 0
  c(if (sum(e0^2) > 0) sum(fall) / sum(e0^2) else NA, t)
}

# What is promised of results of other processors.
expect_same_forecasts <- function(found, expected) {
  testthat::expect_identical(found$rows, expected$rows)
  for (what in c("error", "gain", "t")) {
    testthat::expect_identical(is.na(found[[what]]), is.na(expected[[what]]))
  }
  apart <- \(what, size) max(0, abs(found[[what]] - expected[[what]]) / size, na.rm = TRUE)
  testthat::expect_lt(apart("error", pmax(expected$error, 1e-300)), 1e-8)
  testthat::expect_lt(apart("gain", 1 + abs(expected$gain)), 1e-6)
  testthat::expect_lt(apart("t", 1 + abs(expected$t)), 1e-5)
}

# Standardised series of many kinds: some depend on each other, some are constant.
forecast_series <- function(kind, steps, n) {
  noise <- matrix(stats::rnorm(steps * n), steps)
  x <- switch(
    kind,
    maps = as.matrix(ring_series(n, steps)),
    noise = noise,
    counts = matrix(stats::rpois(steps * n, 0.3), steps),
    spikes = matrix(as.double(stats::runif(steps * n) < 0.05), steps),
    smooth = outer(seq_len(steps), seq_len(n), \(t, i) sin(t * sqrt(i) / 20)) + noise / 1000,
    same = noise[, 1] + 1e-7 * noise,
    flat = cbind(noise[, -1], 3)
  )
  x <- scale(x)
  x[is.nan(x)] <- 0
  matrix(x, steps)
}

# A job of random lists.
random_forecast <- function(n, most = 3) {
  some <- \(size) rbind(sample.int(n, size, TRUE), sample(0:most, size, TRUE))
  list(effect = sample.int(n, 1), theta = sample(c(0, 0.5, 2, 8, 60), 1),
       coordinate = some(sample(c(1, 2, 3, 5, 8), 1)),
       candidate = some(sample(c(0, 1, 3, 9), 1)))
}

# The search of direct_links(), one effect and one forecast after the other. `links` are numbers
# of series, `from` and `to`; the result has their tests, and the parties of each effect.
oracle_direct_links <- function(series, links, own, max_delay, alpha, max_parties,
                                exclusion = 0, clock = vector("list", ncol(series))) {
  thetas <- c(0, 1, 2, 4, 8, 16, 32)
  reach <- max(4, max_delay)
  columns <- c("delay", "gain", "t", "p_value")
  links[c(columns, "alone")] <- NA_real_
  parties <- list()
  for (to in unique(links$to)) {
    own_past <- rbind(to, seq_len(own[[to]]) - 1)
    clocks <- rbind(as.integer(clock[[to]]), rep(0, length(clock[[to]])))
    # Two values of each party, one step apart.
    with <- \(party) cbind(own_past, clocks, party, party + rep(0:1, ncol(party)))
    forecast <- \(party, theta, candidate = matrix(0, 2, 0)) {
      oracle_forecast(series, to, with(party), candidate, theta, exclusion, reach)
    }
    error <- \(places, party) vapply(thetas[places], \(theta) {
      error <- forecast(party, theta)$error
      if (is.na(error)) Inf else error
    }, 0)
    # A cause is tested in the rows in which it is known, whatever others miss.
    test <- function(from, party, place) {
      do.call(rbind, lapply(from, \(cause) {
        made <- forecast(party, thetas[[place]], rbind(cause, seq_len(max_delay) - 1))
        if (all(is.na(made$t))) return(data.frame(delay = NA, gain = NA, t = NA, p_value = NA))
        best <- which.max(made$t)
        data.frame(delay = best, gain = made$gain[[best]], t = made$t[[best]],
                   p_value = min(1, max_delay * stats::pnorm(-made$t[[best]])))
      }))
    }
    rows <- which(links$to == to)
    party <- matrix(0, 2, 0)
    place <- which.min(error(1:7, party))
    repeat {
      open <- rows[!links$from[rows] %in% party[1, ]]
      if (length(open) > 0) links[open, columns] <- test(links$from[open], party, place)
      if (ncol(party) == 0) links$alone[rows] <- links$p_value[rows]
      good <- open[which(links$p_value[open] * length(open) <= alpha & links$gain[open] > 0)]
      if (ncol(party) == max_parties || length(good) == 0) break
      enters <- good[[which.max(links$gain[good])]]
      party <- cbind(party, c(links$from[[enters]], links$delay[[enters]] - 1))
      places <- pmin(pmax(place + -1:1, 1), 7)
      place <- places[[which.min(error(places, party))]]
    }
    for (k in rows[links$from[rows] %in% party[1, ]]) {
      others <- party[, party[1, ] != links$from[[k]], drop = FALSE]
      links[k, columns] <- test(links$from[[k]], others, place)
    }
    parties[rows] <- list(party[1, ])
  }
  list(test = links, parties = parties)
}
