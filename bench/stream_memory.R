# What a stream holds in the course of a day: a recording of 24 hours on its clock, in
# blocks of two seconds, through a window of a minute, with looks for alarms. It runs as fast
# as it can; each hour of recording prints the memory of the whole process.
#
# Rscript bench/stream_memory.R             86,400 s of recording
# LONG=7200 Rscript bench/stream_memory.R   so many seconds

library(synfire)
source("tools/machine.R")

long <- as.numeric(Sys.getenv("LONG", 86400))
chunk <- 600
block <- 2

set.seed(1)
resolution <- attr(simulate_culture(duration = 1), "resolution")
s <- episode_stream(c(0.005, 0.015), 60, 60, resolution = resolution, threads = 1, max_size = 3,
                    distinct_units = FALSE, alarms = 6, look = 60, history = 3600 / block)
spikes <- 0
began <- proc.time()[["elapsed"]]
cat("hours  spikes  x real time  window MB  process MB now, at most  slowest update, ms\n")
for (from in seq(0, long - 1, by = chunk)) {
  # Another culture every ten minutes, thinned to a few hundred spikes a second.
  x <- as.data.frame(simulate_culture(duration = chunk, burst_rate = 0.1 + 0.1 * runif(1)))
  x <- x[runif(nrow(x)) < 0.3, ]
  spikes <- spikes + nrow(x)
  ends <- seq(block, chunk, by = block)
  of_block <- split(seq_len(nrow(x)), factor(pmax(ceiling(x$time / block), 1), seq_along(ends)))
  for (k in seq_along(ends)) {
    at <- of_block[[k]]
    now <- data.frame(time = round(x$time[at] + from, 6), unit = x$unit[at])
    s <- update(s, now, now = from + ends[[k]])
  }
  if ((from + chunk) %% 3600 == 0 || from + chunk >= long) {
    gc()
    cat(sprintf("%5.1f %12s %8.0f %8.1f %8.0f %8.0f %8.0f\n", (from + chunk) / 3600,
                format(spikes, big.mark = ","),
                (from + chunk) / (proc.time()[["elapsed"]] - began),
                synfire:::held_memory(s$counting$state) / 1e6, memory("VmRSS"), memory("VmHWM"),
                1000 * max(tail(s$history$seconds, 3600 / block))))
  }
}
print(summary(s))
