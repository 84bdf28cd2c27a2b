# Slow and obvious cross mapping, given the same libraries as the C code draws.

# Rows of `lib` that library `sample`, from 1, of `size` rows has: the first distinct
# numbers of its stream, or, of more than half, all others.
oracle_library <- function(lib, size, sample, direction, key) {
  n <- length(lib)
  named <- if (size > n %/% 2) n - size else size
  stream <- direction * 2^52 + size * 2^21 + sample - 1
  drawn <- unique(random_below(20 * n + 20, n, key, stream)) + 1
  drawn <- head(drawn, named)
  lib[sort(if (size > n %/% 2) setdiff(seq_len(n), drawn) else drawn)]
}

# `size` is that of the whole series: the square of what is 1e150 times smaller is lost.
oracle_rho <- function(observed, predicted, size = 0) {
  known <- !is.na(observed) & !is.na(predicted)
  if (sum(known) < 3) return(NA_real_)
  if (diff(range(observed[known])) <= 1e-150 * size) return(NA_real_)
  alike <- function(x) sqrt(mean((x - mean(x))^2)) <= 1e-12 * sqrt(mean(x^2))
  if (alike(observed[known]) || alike(predicted[known])) return(NA_real_)
  cor(observed[known], predicted[known])
}

# rho, MAE and RMSE of one library: of all rows of `pred` with a prediction.
oracle_cross_map <- function(points, lib, pred, target, k, exclusion = 0) {
  predicted <- oracle_simplex(points, lib, pred, target, k, exclusion)$predictions
  error <- target[pred] - predicted
  size <- max(0, abs(target), na.rm = TRUE)
  c(rho = oracle_rho(target[pred], predicted, size), MAE = mean(abs(error), na.rm = TRUE),
    RMSE = sqrt(mean(error^2, na.rm = TRUE)))
}

# Two series of which x drives y, from a start of their own.
coupled_from <- function(x, y, n) {
  for (t in seq_len(n - 1)) {
    x[t + 1] <- x[t] * (3.8 - 3.8 * x[t])
    y[t + 1] <- y[t] * (3.5 - 3.5 * y[t] - 0.3 * x[t])
  }
  data.frame(x, y)
}

# Two series that drive each other (Sugihara et al. 2012).
coupled_maps <- function(n, to_x = 0, to_y = 0, rx = 3.8, ry = 3.5) {
  x <- y <- numeric(n)
  x[1] <- 0.4
  y[1] <- 0.2
  for (t in seq_len(n - 1)) {
    x[t + 1] <- x[t] * (rx - rx * x[t] - to_x * y[t])
    y[t + 1] <- y[t] * (ry - ry * y[t] - to_y * x[t])
  }
  data.frame(time = seq_len(n), x = x, y = y)
}

# One direction of the C code as plain lists, with any library sizes.
map_in_c <- function(points, lib, pred, targets, sizes, k, exclusion = 0, samples = 3,
                     direction = 0, threads = 1, key = c(17, 4), gpus = NULL) {
  .Call(r_ccm, points, list(lib), pred, as.matrix(targets), as.integer(sizes),
        list(k = k, exclusion = exclusion, samples = samples, direction = direction,
             threads = threads, key = key, gpus = gpus))
}

random_case <- function(seed) {
  set.seed(seed)
  n <- sample(12:60, 1)
  dims <- sample(1:4, 1)
  # Few different values make ties, which have an order of their own.
  value <- if (seed %% 2) rnorm(n * dims) else sample(4, n * dims, TRUE)
  target <- if (seed %% 3) rnorm(n) else sample(c(NA, 1:5), n, TRUE)
  lib <- sort(sample(n, sample(6:n, 1)))
  list(points = matrix(as.double(value), n), lib = lib, target = as.double(target),
       pred = sort(sample(n, sample(4:n, 1))), k = sample(1:5, 1),
       exclusion = sample(c(0, 0, 1, 3), 1))
}
