# How often causal_map() gives a p value of at most 0.05 between independent series, with its
# default surrogates: series of 600 steps, six at a time, that know nothing of each other.
#
# Rscript bench/map-p-values.R        about three minutes of one core; RUNS=40 for fewer
library(synfire)

runs <- as.integer(Sys.getenv("RUNS", 200))
steps <- 600

filtered <- function(memory) {
  as.numeric(stats::filter(rnorm(steps + 200), memory, "recursive"))[-seq_len(200)]
}
# One variable of a system of three equations, in steps of `by` after those of its start.
flow <- function(slope, start, by, inner, skip) {
  h <- by / inner
  out <- numeric(steps + skip)
  for (t in seq_along(out)) {
    for (k in seq_len(inner)) {
      a <- slope(start)
      b <- slope(start + h / 2 * a)
      c <- slope(start + h / 2 * b)
      start <- start + h / 6 * (a + 2 * b + 2 * c + slope(start + h * c))
    }
    out[[t]] <- start[[1L]]
  }
  out[-seq_len(skip)]
}
lorenz <- \(s) c(10 * (s[[2L]] - s[[1L]]), s[[1L]] * (28 - s[[3L]]) - s[[2L]],
                 s[[1L]] * s[[2L]] - 8 / 3 * s[[3L]])
roessler <- \(s) c(-s[[2L]] - s[[3L]], s[[1L]] + 0.2 * s[[2L]], 0.2 + s[[3L]] * (s[[1L]] - 5.7))

# Each kind: the rows that neighbours are apart, and one series.
kinds <- list(
  "noise with memory 0.8" = list(10, \() filtered(0.8)),
  "noise with memory 0.95" = list(30, \() filtered(0.95)),
  "random walk" = list(50, \() cumsum(rnorm(steps))),
  "season of 24 and noise" = list(12, \() {
    sin(2 * pi * seq_len(steps) / 24 + runif(1, 0, 2 * pi)) + rnorm(steps)
  }),
  "logistic map" = list(3, \() {
    x <- runif(1, 0.2, 0.8)
    for (t in seq_len(steps + 100)) x[[t + 1L]] <- 3.8 * x[[t]] * (1 - x[[t]])
    utils::tail(x, steps)
  }),
  "Lorenz flow" = list(20, \() flow(lorenz, c(rnorm(2), 25 + rnorm(1)), 0.05, 5, 200)),
  "Roessler flow" = list(20, \() flow(roessler, c(rnorm(2), 0), 0.3, 6, 300)),
  "counts of 0.2 a bin" = list(3, \() rpois(steps, 0.2)),
  "counts of 4 a bin" = list(3, \() rpois(steps, 4)),
  "counts of 4, rates change" = list(3, \() rpois(steps, 4 * exp(0.3 * filtered(0.8)))),
  "counts in bursts" = list(5, \() {
    rate <- stats::filter(rbinom(steps, 1, 0.02), c(1, 0.8, 0.6, 0.4, 0.2), sides = 1)
    rpois(steps, 0.5 + 5 * ifelse(is.na(rate), 0, rate))
  })
)

p_values <- function(kind) {
  x <- replicate(6, kind[[2L]]())
  colnames(x) <- letters[seq_len(6)]
  map <- suppressMessages(causal_map(x, E_max = 5, exclusion_radius = kind[[1L]],
                                     n_surrogates = 99, threads = 1))
  map <- as.data.frame(map)
  map$p_value[map$cause != map$effect]
}

cat(sprintf("%-28s %10s %8s %15s\n", "kind", "p <= 0.05", "p values", "cannot be told"))
for (name in names(kinds)) {
  p <- unlist(lapply(seq_len(runs), \(run) {
    set.seed(run)
    p_values(kinds[[name]])
  }))
  known <- p[!is.na(p)]
  cat(sprintf("%-28s %8.1f %% %8d %15d\n", name, 100 * mean(known <= 0.05 + 1e-9), length(known),
              sum(is.na(p))))
}
