# Empirical dynamic modelling: what rEDM's users call, and a series rEDM cannot handle.
#
# Rscript bench/edm.R [gpu]  seconds of the whole R call; medians of 15 (of five: S-maps of
#                            8,000 rows, and on a GPU; of one: the long series, in a process
#                            of its own for its peak memory). With `gpu` only what runs on
#                            one.
#
# Other programs do the same work in bench/peers. The floor is that of a search that looks at
# all pairs of rows: each adds a term to a distance for each coordinate, a subtraction, a
# product and a sum, and with 512 bits at 2.6 GHz the two additions take 2 cycles for 8 pairs,
# so 1.04e10 terms a second. Blocks of rows that are passed over as a whole
# (src/core/edm/neighbours/neighbours.h) can beat it.

library(synfire)
source("tools/machine.R")

terms_per_second <- 1.04e10
long <- 1e5

#' A noisy series with two lags, and its time
ar_series <- function(n) {
  set.seed(1)
  data.frame(time = seq_len(n), x = as.numeric(arima.sim(list(ar = c(0.5, 0.3)), n)))
}

#' Median CPU and wall seconds of `runs` calls, after one that loads what loads late
measure <- function(run, runs = 15) {
  run()
  times <- replicate(runs, {
    used <- system.time(run())
    c(used[["user.self"]] + used[["sys.self"]], used[["elapsed"]])
  })
  apply(times, 1L, stats::median)
}

row <- function(work, seconds, terms, must, goal, extra_MB = NA) {
  data.frame(work = work, wall = seconds[[2]], cpu = seconds[[1]],
             floor = terms / terms_per_second, must = must, goal = goal, extra_MB = extra_MB)
}

#' The long series in this process: CPU and wall seconds, and MB above the data
run_long <- function() {
  small <- ar_series(200)
  simplex(small, "x", E = 5, threads = 2)
  x <- ar_series(long)
  gc(FALSE)
  before <- memory("VmHWM")
  used <- system.time(simplex(x, "x", E = 5, threads = 2))
  cat(used[["user.self"]] + used[["sys.self"]], used[["elapsed"]], memory("VmHWM") - before, "\n")
}

if (identical(commandArgs(TRUE), "long")) {
  run_long()
  quit(status = 0L)
}

#' CPU and wall seconds of S-maps of all pairs
map_seconds <- function(steps, series, counts = FALSE, device = "cpu") {
  set.seed(1)
  values <- if (counts) rpois(steps * series, 0.1) else rnorm(steps * series)
  x <- matrix(values, steps)
  if (device == "gpu") return(measure(\() smap_map(x, E = 5, device = "gpu")))
  used <- system.time(smap_map(x, E = 5, threads = 1))
  c(used[["user.self"]] + used[["sys.self"]], used[["elapsed"]])
}

map_floor <- function(steps, series) {
  steps^2 * series * 2 * (21 + 12 + series) / 8.3e10 * terms_per_second
}

x <- ar_series(1600)
pair <- cbind(x, y = c(0, head(x$x, -1)) + rnorm(1600))
long_pair <- ar_series(128000)
long_pair$y <- c(0, head(long_pair$x, -1)) + rnorm(128000)
long_counts <- long_pair
long_counts$x <- rpois(128000, 0.3)
flat <- data.frame(time = seq_len(long), x = 1)
set.seed(2)
rare <- data.frame(time = 1:1500, x = rbinom(1500, 1L, 0.05))
two <- data.frame(time = 1:4000, x = rbinom(4000, 1L, 0.5), y = rbinom(4000, 1L, 0.5))
sizes <- round(seq(160, 1590, length.out = 10))
cpu_rows <- function() list(
  row("embed_dimension, E 1..20, leave-one-out",
      measure(\() embed_dimension(x, "x", E_max = 20, threads = 1)), 1600^2 * 20,
      0.10, 0.04),
  row("simplex, E 3", measure(\() simplex(x, "x", E = 3, threads = 1)), 1600^2 * 3,
      0.01, 0.004),
  row("smap, E 5, theta 2", measure(\() smap(x, "x", E = 5, theta = 2, threads = 1)),
      1600^2 * 5, 0.10, 0.04),
  # Here the floor is that of the sums: 2 x 253 operations for each pair of rows, of which
  # 512 bits at 2.6 GHz do 8.3e10 a second.
  row("smap, E 20, theta 2, 8,000 rows",
      measure(\() smap(ar_series(8000), "x", E = 20, theta = 2, threads = 1), 5),
      8000^2 * 2 * 253 / 8.3e10 * terms_per_second, 0.8, 0.4),
  # The terms are those of one search among all rows; libraries share it.
  row("ccm, E 3, 10 library sizes x 100 samples, one direction",
      measure(\() ccm(pair, "x", "y", E = 3, lib_sizes = sizes, both = FALSE, threads = 1)),
      1600^2 * 3, 0.30, 0.10),
  row("ccm, E 10, all rows, both directions",
      measure(\() ccm(pair, "x", "y", E = 10, lib_sizes = Inf, threads = 1)),
      2 * 1600^2 * 10, 0.01, 0.005),
  row("ccm, E 5, 128,000 rows, 3 library sizes x 20 samples, both directions",
      measure(\() ccm(long_pair, "x", "y", E = 5, lib_sizes = c(1000, 16000, 115200),
                      samples = 20, threads = 1), 1), 2 * 128000^2 * 5, 40, 20),
  # Data of few values, for which 3 times what noise takes are allowed.
  row("smap, E 4, theta 2, 1,500 rows of rare spikes",
      measure(\() smap(rare, "x", E = 4, theta = 2, threads = 1), 5), 1500^2 * 4,
      0.03, 0.01),
  row("ccm, E 4, 4,000 rows of 0 and 1, 2 library sizes x 50 samples",
      measure(\() ccm(two, "x", "y", E = 4, lib_sizes = c(200, 3000), samples = 50,
                      threads = 1), 5), 2 * 4000^2 * 4, 0.6, 0.2),
  # The floor is that of two operations for each term of the equations, of two rows of the
  # hat matrix, and of each target, for each pair of rows of each library.
  row("smap_map, E 5, 200 x 200 series of 1,000 steps", map_seconds(1000, 200),
      map_floor(1000, 200), NA, NA),
  row("smap_map, E 5, 100 x 100 series of 8,000 steps", map_seconds(8000, 100),
      map_floor(8000, 100), NA, NA),
  row("smap_map, E 5, 200 x 200 series of 1,000 spike counts",
      map_seconds(1000, 200, counts = TRUE), map_floor(1000, 200), NA, NA),
  row("simplex, E 3, 100,000 rows that are all the same",
      measure(\() simplex(flat, "x", E = 3, threads = 1), 3), long^2 * 3, 1.5, 0.5)
)
# The floor of a GPU is that of the same terms in single precision, of which an H200 does
# 1.5e13 a second: a difference, and a product and sum in one.
gpu_rows <- function() {
  terms_of_gpu <- 1.5e13 / terms_per_second
  rows <- list(
    row("ccm, E 5, 128,000 rows, 3 library sizes x 20 samples, both directions, GPU",
        measure(\() ccm(long_pair, "x", "y", E = 5, lib_sizes = c(1000, 16000, 115200),
                        samples = 20, device = "gpu"), 5), 2 * 128000^2 * 5 / terms_of_gpu,
        2, 0.5),
    row("ccm_lag, E 5, 128,000 rows, 41 delays, both directions, GPU",
        measure(\() ccm_lag(long_pair, "x", "y", E = 5, Tp = -20:20, device = "gpu"), 5),
        2 * 128000^2 * 5 / terms_of_gpu, NA, NA),
    row("ccm, E 5, 128,000 spike counts, 3 library sizes x 20 samples, GPU",
        measure(\() ccm(long_counts, "x", "y", E = 5, lib_sizes = c(1000, 16000, 115200),
                        samples = 20, both = FALSE, device = "gpu"), 5),
        128000^2 * 5 / terms_of_gpu, NA, NA),
    # In single precision: one operation a term, or three where every E is compared, of
    # 2.8e13 a second.
    row("simplex, E 20, 128,000 rows, GPU",
        measure(\() simplex(long_pair, "x", E = 20, device = "gpu"), 5),
        128000^2 * 20 / 2.8e13 * terms_per_second, 0.08, 0.03),
    row("simplex, E 20, 128,000 spike counts, GPU",
        measure(\() simplex(long_counts, "x", E = 20, device = "gpu"), 5),
        128000^2 * 20 / 2.8e13 * terms_per_second, 0.24, 0.09),
    row("embed_dimension, E 1..20, 100,000 rows, GPU",
        measure(\() embed_dimension(long_pair[seq_len(long), ], "x", E_max = 20,
                                    device = "gpu"), 5),
        3 * long^2 * 20 / 2.8e13 * terms_per_second, 0.15, 0.05),
    # The floor is that of the CPU's rows, with the 6.6e13 operations a second of its
    # tensor cores in double precision.
    row("smap_map, E 5, 200 x 200 series of 1,000 steps, GPU",
        map_seconds(1000, 200, device = "gpu"), map_floor(1000, 200) * 8.3e10 / 6.6e13,
        0.03, 0.01),
    row("smap_map, E 5, 100 x 100 series of 8,000 steps, GPU",
        map_seconds(8000, 100, device = "gpu"), map_floor(8000, 100) * 8.3e10 / 6.6e13,
        0.3, 0.1),
    row("smap_map, E 5, 200 x 200 series of 1,000 spike counts, GPU",
        map_seconds(1000, 200, counts = TRUE, device = "gpu"),
        map_floor(1000, 200) * 8.3e10 / 6.6e13, NA, NA)
  )
  # Calls so short that most of their time are costs of any call.
  for (n in c(2000, 8000)) {
    short <- utils::head(long_pair, n)
    size <- format(n, big.mark = ",")
    rows <- c(rows, list(
      row(sprintf("simplex, E 20, %s rows, GPU", size),
          measure(\() simplex(short, "x", E = 20, device = "gpu")),
          n^2 * 20 / 2.8e13 * terms_per_second,
          if (n == 2000) 0.002 else 0.003, if (n == 2000) 0.001 else 0.002),
      row(sprintf("smap, E 20, theta 2, %s rows, GPU", size),
          measure(\() smap(short, "x", E = 20, theta = 2, device = "gpu")),
          n^2 * 2 * 253 / 6.5e13 * terms_per_second,
          if (n == 2000) 0.0025 else 0.008, if (n == 2000) 0.0015 else 0.005)
    ))
  }
  # S-maps: sums in double precision by tensor cores, 6.5e13 operations a second.
  for (n in c(32000, 128000)) {
    long_smap <- utils::head(long_pair, n)
    rows <- c(rows, list(
      row(sprintf("smap, E 20, theta 2, %s rows, GPU", format(n, big.mark = ",")),
          measure(\() smap(long_smap, "x", E = 20, theta = 2, device = "gpu"), 5),
          as.double(n)^2 * 2 * 253 / 6.5e13 * terms_per_second,
          if (n == 32000) 0.1 else 1.2, if (n == 32000) 0.05 else 0.4)
    ))
  }
  c(rows, list(
    row("predict_nonlinear, E 5, 15 values of theta, 8,000 rows, GPU",
        measure(\() predict_nonlinear(utils::head(long_pair, 8000), "x", E = 5,
                                      device = "gpu"), 5),
        8000^2 * 15 * 2 * 28 / 6.5e13 * terms_per_second, NA, NA)
  ))
}

long_row <- function() {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  answer <- system2(file.path(R.home("bin"), "Rscript"), c(script, "long"), stdout = TRUE,
                    stderr = FALSE)
  of_long <- as.numeric(strsplit(trimws(answer[[length(answer)]]), " +")[[1]])
  list(row("simplex, E 5, 100,000 rows, two threads", of_long[1:2], long^2 * 5 / 2, 60, 20,
           extra_MB = of_long[[3]]))
}

on_gpu <- nrow(synfire_sitrep(test_devices = FALSE)$devices) > 0L
only_gpu <- identical(commandArgs(TRUE), "gpu")
if (only_gpu && !on_gpu) stop("no GPU to measure: see synfire_sitrep()")
rows <- c(if (!only_gpu) c(cpu_rows(), long_row()), if (on_gpu) gpu_rows())
options(width = 130)
print(do.call(rbind, rows), row.names = FALSE, digits = 2)
