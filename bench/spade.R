# Significant spike patterns and episodes: what was to be reached, and what is.
#
#   Rscript bench/spade.R [part ...]
#
# tools/get-data.R fetches spade/movement_PGHF_raster.txt.gz, `unit bin` in bins of 5 ms: 150
# units of motor cortex (Porrmann et al. 2021). Without arguments all parts but the last
# run.
#
#   start      its first 5 s, all stages, without and with pattern set reduction
#              (bench/peers runs Elephant on them)
#   reduction  10,000 of its patterns, compared with each other
#   maxima     the largest occurrences of each size in one surrogate of all of it
#   dither     uniform dithering of a million spikes
#   sym26      1,742 episodes of Sym26 against 1,000 surrogates
#   units300   300 units at 1 Hz, 3 s in bins of 1 ms; a process for each window, as the
#              peak of memory is asked for
#   gpu        maxima of 1,000 surrogates of the whole recording on a GPU, and on all threads
#
# Seconds are medians of three, those of the processor where one thread works, so that other
# work on the machine does not count, else those of the clock.

library(synfire)
source("tools/data.R")
source("tools/machine.R")
options(cli.progress_show_after = Inf, width = 150)

rows <- list()

#' One line of the table: what was measured, and what it must and should be at most
row <- function(work, measured, must, goal, unit = "s", least = FALSE) {
  good <- if (least) \(x) measured >= x else \(x) measured <= x
  rows[[length(rows) + 1L]] <<- data.frame(
    work, measured = sprintf("%.3g %s", measured, unit), must = sprintf("%g %s", must, unit),
    goal = sprintf("%g %s", goal, unit),
    reached = if (is.na(measured)) "?" else c("no", "must", "goal")[1 + good(must) + good(goal)]
  )
  cat(sprintf("%s: %.3g %s\n", work, measured, unit))
}

seconds <- function(run, threads = 1, times = 3) {
  median(replicate(times, {
    gc(FALSE)
    took <- system.time(run())
    if (threads == 1) took[["user.self"]] + took[["sys.self"]] else took[["elapsed"]]
  }))
}

#' The recording of motor cortex, or what it has before `end` (s)
read_cortex <- function(end = 4464 * 0.005) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "spade", "movement_PGHF_raster.txt.gz")
  if (!file.exists(file)) stop("SYNFIRE_DATA is not the folder with ", basename(file))
  raster <- read.table(file)
  raster <- raster[raster[[2]] * 0.005 < end, ]
  spike_trains((raster[[2]] * 5 + 2) / 1000, factor(raster[[1]], 0:149), start = 0, end = end,
               resolution = 1e-3)
}

# ---- Parts ---------------------------------------------------------------------------

parts <- list()

parts$start <- function() {
  x <- read_cortex(5)
  run <- function(reduction) {
    set.seed(1)
    # Elephant's p values: with (k + 1) / (n + 1), 20 surrogates make nothing significant.
    spade(x, 0.005, 20, min_spikes = 3, min_count = 15, min_units = 3, n_surrogates = 20,
          surrogate = "dither", p_estimator = "k/n", reduction = reduction, threads = 1)
  }
  run("none")
  row("first 5 s, 20 surrogates, no reduction", seconds(\() run("none")), 0.5, 0.2)
  row("first 5 s, 20 surrogates, reduction", seconds(\() run("combined")), 1, 0.4)
}

parts$reduction <- function() {
  x <- read_cortex()
  found <- mine_patterns(x, 0.005, 20, min_spikes = 3, min_count = 40)
  found <- found[round(seq(1, length(found), length.out = 10000))]
  for (method in c("combined", "subset")) {
    row(sprintf("reduction of 10,000 candidates, %s", method),
        seconds(\() reduce_patterns(found, method = method)), 2, 0.1)
  }
}

parts$maxima <- function() {
  x <- read_cortex()
  for (spikes in c(5, 3)) {
    run <- \(n) {
      set.seed(1)
      pvalue_spectrum(x, 0.005, 20, min_spikes = spikes, min_count = 10, n_surrogates = n,
                      surrogate = "dither", threads = 1)
    }
    row(sprintf("maxima of one surrogate of 22 s, min_spikes %d", spikes),
        seconds(\() run(3)) / 3, 6, 2)
  }
}

parts$dither <- function() {
  set.seed(1)
  n <- 1e6
  x <- spike_trains(runif(n, 0, 1000), sample(100, n, TRUE), start = 0, end = 1000)
  # What comes before the first surrogate is left out.
  one_more <- \(make) {
    make(1)
    1000 * (seconds(\() make(11), times = 5) - seconds(\() make(1), times = 5)) / 10
  }
  trains <- synfire:::trains_of(x)
  options <- synfire:::surrogate_options(x, "dither", dither = 0.015)
  in_c <- \(n) .Call(synfire:::r_surrogate_trains, trains, options,
                     list(n = n, threads = 1, max_memory = 4e9))
  row("dithering of 10^6 spikes, and sorting them", one_more(in_c), 10, 4, "ms")
  in_r <- \(n) surrogate_trains(x, n, "dither", dither = 0.015, threads = 1)
  row("the same as spike trains in R", one_more(in_r), 10, 4, "ms")
}

parts$sym26 <- function() {
  set.seed(1)
  x <- simulate_sym26()
  delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
  found <- mine_episodes(x, 254, delays, distinct_units = FALSE)
  run <- function(...) {
    set.seed(2)
    episode_significance(found, x, 1000, ...)
  }
  work <- sprintf("%s episodes of Sym26, 1,000 surrogates", format(nrow(found), big.mark = ","))
  row(paste0(work, ", one thread"), seconds(\() run(threads = 1), times = 1), 60, 20)
  if (on_gpu()) {
    columns <- c("mean", "sd", "p", "p_adjusted")
    stopifnot(isTRUE(all.equal(as.data.frame(run(device = "gpu"))[columns],
                               as.data.frame(run())[columns])))
    row(paste0(work, ", GPU"), seconds(\() run(device = "gpu"), 0), 2, 0.3)
  }
}

parts$units300 <- function() {
  for (window in c(20, 50, 100)) {
    out <- system2("Rscript", c("bench/spade.R", "job", window), stdout = TRUE)
    line <- grep("^measured ", out, value = TRUE)
    took <- if (length(line)) as.numeric(strsplit(line, " ")[[1]][-1]) else c(NA, NA)
    work <- sprintf("300 units, window %d, 1,000 surrogates, 2 threads", window)
    row(work, took[[1]], 60, 10)
    row(paste0(work, ", memory"), took[[2]], 1000, 1000, "MB")
  }
}

units300_job <- function(window) {
  set.seed(1)
  n <- rpois(300, 3)
  x <- spike_trains(runif(sum(n), 0, 3), factor(rep(1:300, n), 1:300), start = 0, end = 3)
  # Also where the data have no pattern, surrogates are mined.
  took <- system.time({
    found <- mine_patterns(x, 0.001, window, min_spikes = 2, min_count = 2, threads = 2)
    pvalues <- pvalue_spectrum(x, 0.001, window, min_spikes = 2, min_count = 2,
                               n_surrogates = 1000, threads = 2)
    significant_patterns(found, test_signatures(found, pvalues))
  })
  cat("measured", took[["elapsed"]], memory("VmHWM"), "\n")
}

on_gpu <- function() isTRUE(NROW(synfire_sitrep()$devices) > 0)

parts$gpu <- function() {
  if (!on_gpu()) {
    cat("gpu: there is none\n")
    return()
  }
  x <- read_cortex()
  run <- function(n, ...) {
    set.seed(1)
    pvalue_spectrum(x, 0.005, 20, min_spikes = 3, min_count = 10, n_surrogates = n,
                    surrogate = "dither", ...)
  }
  run(10, device = "gpu")
  gpu <- seconds(\() run(1000, device = "gpu"), 0)
  row("22 s, 1,000 surrogates, GPU", gpu, 120, 20)
  threads <- min(16, synfire_sitrep()$threads)
  # Enough for each thread to be busy most of the time.
  n <- 10 * threads
  cpu <- seconds(\() run(n, threads = threads), 0, times = 1) * 1000 / n
  row(sprintf("GPU against %d threads", threads), cpu / gpu, 5, 20, "x", least = TRUE)
  stopifnot(identical(attr(run(20, device = "gpu"), "maxima"),
                      attr(run(20, threads = threads), "maxima")))
}

# ---- What was asked for --------------------------------------------------------------

args <- commandArgs(TRUE)
if (identical(args[1], "job")) {
  units300_job(as.numeric(args[[2]]))
  quit(save = "no")
}
if (length(args) == 0L) args <- setdiff(names(parts), "gpu")
unknown <- setdiff(args, names(parts))
if (length(unknown)) stop("no part ", unknown[[1]], "; there are ", toString(names(parts)))
if (!nzchar(Sys.getenv("SYNFIRE_DATA"))) {
  message("SYNFIRE_DATA is not set: nothing of the recording of motor cortex")
  args <- setdiff(args, c("start", "reduction", "maxima", "gpu"))
}
for (part in args) parts[[part]]()
if (length(rows)) {
  cat("\n")
  print(do.call(rbind, rows), row.names = FALSE, right = FALSE)
}
