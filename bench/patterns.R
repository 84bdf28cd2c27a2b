# Spike patterns: the eight jobs of Porrmann et al. (2021, table 1) on the recording they
# used, and how the search grows with the number of units.
#
#   Rscript bench/patterns.R [fpgrowth]
#
# tools/get-data.R fetches spade/movement_PGHF_raster.txt.gz, `unit bin` in bins of 5 ms.
# Each measurement is an R process of its own, so that its peak memory is its own too. With
# `fpgrowth` that engine runs next to ours, which takes some minutes more. The published
# program runs beside both in vignettes/paper-spike-patterns/measure.R, and bench/limits.R has the
# GPU.

library(synfire)
source("tools/data.R")
source("tools/machine.R")
source("bench/raster.R")

#' One job in this process; prints what was measured
run_job <- function(min_count, min_spikes, engine, threads, copies, runs) {
  before <- memory("VmRSS")  # R with the package; the recording counts
  x <- read_raster(copies)
  mine <- \(...) mine_patterns(x, 0.005, 20, min_spikes, min_count, engine = engine,
                               threads = threads, max_memory = 8e9, ...)
  invisible(mine_patterns(x, 0.005, 20, 9, 1000, threads = 1))  # what loads late, loads
  gc(FALSE)
  forget_peak()
  rows <- replicate(runs, {
    took <- system.time(found <- mine())
    out <- c(patterns = length(found), cpu = took[["user.self"]] + took[["sys.self"]],
             wall = took[["elapsed"]], mining = attr(found, "mining_elapsed"),
             mb = memory("VmHWM") - before)
    rm(found)
    gc(FALSE)
    out
  })
  cat("measured", apply(rows[1:4, , drop = FALSE], 1, median), rows[5, 1], "\n")
}

#' The same in a process of its own: patterns, CPU s, wall s, s in C, MB
measure <- function(min_count, min_spikes, engine = "closure", threads = 1, copies = 1,
                    runs = 5) {
  out <- system2("Rscript", c("bench/patterns.R", "job", min_count, min_spikes, engine,
                              threads, copies, runs), stdout = TRUE, stderr = TRUE)
  line <- grep("^measured ", out, value = TRUE)
  if (!length(line)) {
    message(paste(out, collapse = "\n"))
    return(rep(NA_real_, 5))
  }
  as.numeric(strsplit(line, " ")[[1]][-1])
}

args <- commandArgs(TRUE)
if (identical(args[1], "job")) {
  n <- as.numeric(args[-c(1, 4)])
  run_job(n[1], n[2], args[4], n[3], n[4], n[5])
  quit(save = "no")
}

if (!nzchar(Sys.getenv("SYNFIRE_DATA"))) {
  message("SYNFIRE_DATA is not set: no recording to mine")
  quit(save = "no")
}

jobs <- data.frame(
  min_count = c(88, 25, 12, 10, 10, 10, 10, 10), min_spikes = c(2, 3, 4, 5, 6, 7, 8, 9)
)
ours <- t(mapply(measure, jobs$min_count, jobs$min_spikes))
two <- t(mapply(measure, jobs$min_count, jobs$min_spikes, threads = 2))
table <- data.frame(
  jobs[1:2], patterns = ours[, 1], cpu = ours[, 2], wall = ours[, 3], mb = ours[, 5],
  in_r = sprintf("%.1f %%", 100 * (ours[, 3] / ours[, 4] - 1)), wall_2 = two[, 3],
  gain_2 = ours[, 3] / two[, 3]
)
if (identical(args[1], "fpgrowth")) {
  theirs <- t(mapply(measure, jobs$min_count, jobs$min_spikes, "fpgrowth", runs = 1))
  table$fpgrowth <- theirs[, 2]
  table$fpgrowth_mb <- theirs[, 5]
}
options(width = 150)
print(format(table, digits = 3), row.names = FALSE)
cat(sprintf("all jobs: %.2f CPU s\n", sum(table$cpu)))

cat("\nMore units, one thread\n")
more <- expand.grid(units = c(300, 450), job = c(1, 2, 4, 5, 3))
grown <- t(mapply(\(units, job) measure(jobs$min_count[job], jobs$min_spikes[job],
                                        copies = units / 150, runs = 1),
                  more$units, more$job))
print(format(data.frame(units = more$units, jobs[more$job, 1:2], patterns = grown[, 1],
                        cpu = grown[, 2], wall = grown[, 3], mb = grown[, 5]), digits = 3),
      row.names = FALSE)
