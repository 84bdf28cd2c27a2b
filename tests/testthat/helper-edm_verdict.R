# Slow and obvious traits of series and evidence on causes.

# Share of the variance that the means of places in the other half explain.
oracle_season_share <- function(x, period, place = (seq_along(x) - 1) %% period) {
  n <- length(x)
  x <- x - mean(x)
  half <- n %/% 2
  error <- numeric(n)
  for (t in seq_len(n)) {
    others <- if (t <= half) (half + 1):n else seq_len(half)
    alike <- others[place[others] == place[[t]]]
    if (length(alike) == 0) return(0)
    error[[t]] <- x[[t]] - mean(x[alike])
  }
  # Of a place before the last one that neither half has, nothing is known, either.
  if (!all(0:max(place) %in% place)) return(0)
  1 - sum(error^2) / sum(x^2)
}

# All traits of a series, as traits_of_each() gives them.
oracle_traits <- function(x, first = rep(1L, length(x))) {
  rows <- which(!is.na(x))
  known <- x[rows]
  n <- length(known)
  out <- data.frame(known = n, constant = TRUE, period = NA_integer_, explained = NA_real_,
                    drift = NA_real_, repeated = NA_real_)
  if (n < 8 || diff(range(known)) <= 8 * .Machine$double.eps * max(abs(known))) return(out)
  # Squares of tiny and of huge values are no numbers.
  known <- known / max(abs(known))
  out$constant <- FALSE
  out$period <- 0L
  out$explained <- 0
  for (period in seq_len(min(n %/% 4, 100))[-1]) {
    share <- oracle_season_share(known, period, (rows - first[rows]) %% period)
    if (share <= max(out$explained + 0.02, 6 * sqrt(period) / n)) next
    out$period <- period
    out$explained <- share
  }
  if (out$explained <= 0.1) out$period <- 0L
  out$drift <- oracle_kpss(known)
  out$repeated <- max(table(match(x[rows], x[rows]))) / n
  out
}

oracle_kpss <- function(x) {
  n <- length(x)
  x <- x - mean(x)
  lags <- min(floor(12 * (n / 100)^0.25), n - 1)
  long <- sum(x^2) / n
  for (k in seq_len(lags)) {
    together <- 0
    for (t in seq_len(n - k)) together <- together + x[[t]] * x[[t + k]]
    long <- long + 2 * (1 - k / (lags + 1)) * together / n
  }
  long <- max(long, sum(x^2) / n / 100)
  total <- 0
  for (t in seq_len(n)) total <- total + sum(x[seq_len(t)])^2
  total / n^2 / long
}

# White noise x that drives y three steps later.
noise_driver <- function(n = 300, delay = 3) {
  x <- runif(n, 0.1, 0.9)
  y <- rep(0.4, n)
  for (t in delay:(n - 1)) y[[t + 1]] <- y[[t]] * (3.6 - 3.6 * y[[t]] - 0.3 * x[[t + 1 - delay]])
  data.frame(time = seq_len(n), x, y)
}

verdict_of <- function(data, ..., alpha = 0.05) {
  summary(ccm(data, "y", "x", E = 2, lib_sizes = Inf, ..., threads = 2), alpha = alpha)
}
