# Episodes on a GPU: the whole R call and its part on the device, beside the CPU.
#
# Rscript bench/episodes-gpu.R [out=FILE]
#                                     milliseconds, warm, medians of 50 calls (5 of the
#                                     largest, and on the CPU with one thread); also as CSV,
#                                     each row as soon as it is measured
# Without recordings (tools/data.R says where they are looked for) tc89 is left out.
# bench/episodes-strategies.R has the published strategies, bench/stream.R the streams.
#
# The floor, for Sym26 at 150 on an H200: 3.3 million ends of lists, along which 9.5
# million are counted at eight warp instructions each (0.08 ms at 1e12 a second), and are
# made in turn at forty for 32 (0.01 ms), all in the L2; 13 sizes of four steps that wait
# for each other (0.1 ms). What is above that is the latency of the longest chain of each
# step: a warp with a list needs some ten loads that depend on each other before it counts,
# and as many before a list is made.
#
# The floor for 4,096 units and 40 million spikes: 2.2 billion spikes in windows, swept
# along at two warp instructions each (5 ms). The whole call reads 0.5 GB of R's, writes
# as much for the device, and copies it there (20 ms at 25 GB/s); what is above that are
# fresh pages of memory and the check of all spikes.

library(synfire)
source("tools/data.R")

out <- sub("^out=", "", commandArgs(TRUE))
if (length(out) > 1L || !all(grepl("^out=.", commandArgs(TRUE)))) {
  stop("usage: episodes-gpu.R [out=FILE]")
}

report <- synfire_sitrep(test_devices = FALSE)
if (nrow(report$devices) == 0L) {
  message("no GPU here: ", report$cuda$reason)
  quit(status = 0L)
}

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
set.seed(1)
sym26 <- simulate_sym26()
first <- system.time(mine_episodes(sym26, 150, delays, distinct_units = FALSE,
                                   device = "gpu"))[["elapsed"]]
message(sprintf("first call of the session: %.0f ms", 1000 * first))

#' Adds a row to the table, and to the file if there is one
keep <- function(row) {
  rows <<- rbind(rows, row)
  if (length(out) == 0L) return(invisible())
  doubles <- vapply(rows, is.double, NA)
  table <- replace(rows, doubles, lapply(rows[doubles], signif, 4))
  utils::write.csv(cbind(table, machine = report$devices$name[[1L]], cores = report$threads,
                         date = format(Sys.Date()),
                         version = as.character(utils::packageVersion("synfire"))),
                   out, row.names = FALSE)
}
rows <- NULL

compare <- function(work, x, min_count, intervals, calls = 50, cpu_calls = 5) {
  elapsed <- function(device) {
    threads <- if (device == "cpu") 1
    system.time(found <<- mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      device = device,
                                        threads = threads))[["elapsed"]]
  }
  found <- NULL
  part <- call <- numeric(calls + 3)
  for (i in seq_along(call)) {
    call[[i]] <- elapsed("gpu")
    part[[i]] <- attr(found, "device_elapsed")
  }
  gpu <- found
  levels <- attr(gpu, "levels")
  cpu <- NA
  if (cpu_calls > 0) {
    cpu <- median(replicate(cpu_calls, elapsed("cpu")))
    stopifnot(identical(as.data.frame(gpu), as.data.frame(found)))
  }
  keep(data.frame(
    work = work, spikes = nrow(x), candidates = sum(levels$candidates[-1]),
    frequent = nrow(gpu), device_ms = 1000 * median(part[-(1:3)]),
    call_ms = 1000 * median(call[-(1:3)]), cpu_call_ms = 1000 * cpu,
    device_mb = attr(gpu, "peak_memory") / 1e6,
    real_time = as.numeric(diff(range(x$time))) / median(part[-(1:3)])
  ))
}

compare("Sym26, 3 intervals, 300", sym26, 300, delays)
compare("Sym26, 3 intervals, 150", sym26, 150, delays)
data <- Sys.getenv("SYNFIRE_DATA")
if (nzchar(data) && dir.exists(file.path(data, "episodes"))) {
  tc89 <- read_spikes(file.path(data, "episodes", "tc89.csv.gz"), time_unit = "ms")
  compare("tc89, (5,15] ms, 800", tc89, 800, c(0.005, 0.015))
}
set.seed(1)
culture <- simulate_culture()
set.seed(2)
array60 <- simulate_culture(duration = 1800, burst_rate = 0.42)
compare("culture, (5,15] ms, 5,500", culture, 5500, c(0.005, 0.015))
compare("culture, (5,15] ms, 0.30 %", culture, round(0.003 * nrow(culture)),
        c(0.005, 0.015), 10)
compare("60 channels in 30 min, 0.43 %", array60, round(0.0043 * nrow(array60)),
        c(0.005, 0.015), 10)
compare("Sym26, 3 intervals, 40", sym26, 40, delays, 5, 0)
# Spikes of independent units, far more than a table of next occurrences has room for.
many <- function(units, min_count, n = 4e7) {
  set.seed(1)
  x <- spike_trains(floor(runif(n) * 36e8) / 1e6, sample.int(units, n, TRUE),
                    start = 0, end = 3600)
  compare(sprintf("%d units, 40 million spikes", units), x, min_count, c(0.005, 0.010),
          5, 1)
}
many(1000, 2500)
many(4096, 200)
options(width = 150)
print(rows, row.names = FALSE, digits = 3)
