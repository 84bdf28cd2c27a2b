# Row by row, what the functions of empirical dynamic modelling must make of a data frame.

# Arguments as simplex() takes them; `lib` and `pred` are pairs, `columns` a vector.
oracle_series <- function(x, columns, target = columns[[1]], lib = c(1, nrow(x)),
                          pred = c(1, nrow(x)), E = length(columns), Tp = 1, knn = E + 1,
                          tau = -1, exclusion_radius = 0, embedded = FALSE,
                          valid_lib = rep(TRUE, nrow(x)), segments = rep(1, nrow(x))) {
  n <- nrow(x)
  trial <- cumsum(c(TRUE, segments[-1] != segments[-n]))
  lags <- if (embedded) 0 else (seq_len(E) - 1) * tau
  used <- union(columns, target)
  x[used] <- lapply(x[used], \(v) ifelse(is.finite(v), v, NA))
  at <- function(name, row, from) {
    if (row < 1 || row > n || trial[[row]] != trial[[from]]) NA else x[[name]][[row]]
  }
  points <- t(vapply(seq_len(n), \(t) {
    unlist(lapply(columns, \(name) vapply(lags, \(lag) at(name, t + lag, t), 0)))
  }, double(length(columns) * length(lags))))
  if (ncol(points) != length(columns) * length(lags)) points <- t(points)
  future <- vapply(seq_len(n), \(t) at(target, t + Tp, t), 0)
  rows <- pairs <- list()
  for (k in seq(1, length(lib), 2)) {
    for (one in split(lib[[k]]:lib[[k + 1]], trial[lib[[k]]:lib[[k + 1]]])) {
      first <- min(one)
      last <- max(one)
      for (t in one) {
        inside <- all(t + lags >= first, t + lags <= last)
        to <- t + Tp
        known <- to >= 1 && to <= n && trial[[min(max(to, 1), n)]] == trial[[t]]
        # What rEDM leaves out on top of that: at the end of the last pair, and where the
        # target lies before.
        is_last <- k == length(lib) - 1 && last == lib[[length(lib)]]
        late <- if (Tp < 0 && !embedded) t + min(lags) + Tp + 1 >= first else TRUE
        early <- if (Tp > 0 && is_last) t + max(lags, 0) + Tp <= last else TRUE
        if (inside && known && late && early && !anyNA(points[t, ]) && valid_lib[[t]]) {
          rows <- c(rows, t)
        }
      }
    }
  }
  # A row of several pairs is one point.
  rows <- sort(unique(unlist(rows)))
  table <- list()
  for (k in seq(1, length(pred), 2)) {
    for (one in split(pred[[k]]:pred[[k + 1]], trial[pred[[k]]:pred[[k + 1]]])) {
      trial_rows <- range(which(trial == trial[[one[[1]]]]))
      ok <- vapply(one, \(t) all(t + lags >= trial_rows[[1]], t + lags <= trial_rows[[2]]), NA)
      one <- one[ok]
      if (length(one) == 0) next
      shown <- (min(one) + min(Tp, 0)):(max(one) + max(Tp, 0))
      block <- data.frame(row = shown, Observations = NA_real_, Predictions = NA_real_,
                          Pred_Variance = NA_real_)
      seen <- shown >= trial_rows[[1]] & shown <= trial_rows[[2]]
      block$Observations[seen] <- x[[target]][shown[seen]]
      one <- one[!is.na(rowSums(points[one, , drop = FALSE]))]
      found <- oracle_simplex(points, rows, one, future, knn, exclusion_radius)
      block$Predictions[match(one + Tp, shown)] <- found$predictions
      block$Pred_Variance[match(one + Tp, shown)] <- found$variance
      table <- c(table, list(block))
    }
  }
  do.call(rbind, table)
}

# Numbers of the table that simplex() returns against those of the oracle.
expect_series <- function(found, oracle) {
  expect_equal(nrow(found), nrow(oracle))
  for (name in c("Observations", "Predictions", "Pred_Variance")) {
    expect_equal(found[[name]], oracle[[name]], tolerance = 1e-10)
    expect_false(any(is.nan(found[[name]])))
  }
}

logistic_series <- function(n, seed = 1) {
  set.seed(seed)
  a <- Reduce(\(a, i) 3.8 * a * (1 - a), seq_len(n - 1), 0.3, accumulate = TRUE)
  b <- as.vector(stats::filter(stats::rnorm(n), 0.7, method = "recursive"))
  data.frame(time = seq_len(n), a = a + stats::rnorm(n, sd = 0.02), b = b,
             c = 0.5 * b + a)
}
