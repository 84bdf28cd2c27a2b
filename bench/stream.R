# A culture mined while it is recorded: milliseconds an update, and how many times faster
# than the recording that is.
#
# Rscript bench/stream.R        one thread; medians over the updates of 20 s of recording

library(synfire)

has_gpu <- nrow(synfire_sitrep(test_devices = FALSE)$devices) > 0L
if (!has_gpu) message("no GPU here: ", synfire_sitrep(test_devices = FALSE)$cuda$reason)
delays <- c(0.005, 0.015)

#' Share of the episodes of two or more units whose counts the moving window can have
#' changed: they begin with a unit of a spike that left, or end with a unit of one that came
recount <- function(stream, came, left) {
  units <- stream$episodes$units[stream$episodes$size > 1]
  if (length(units) == 0L) return(NA)
  first <- vapply(units, `[[`, "", 1L)
  last <- vapply(units, \(u) u[[length(u)]], "")
  mean(first %in% left | last %in% came)
}

#' The updates of `blocks` blocks once the window is full
replay <- function(x, window, block, support, device) {
  blocks <- max(10, round(20 / block))
  cuts <- window + block * (0:blocks)
  pieces <- lapply(seq_len(blocks), \(k) x[time = cuts[k + 0:1]])
  leaving <- lapply(seq_len(blocks), \(k) x[time = cuts[k + 0:1] - window])
  s <- episode_stream(delays, round(support * nrow(x) * window / max(x$time)), window,
                      resolution = attr(x, "resolution"), device = device, threads = 1)
  s <- update(s, x[time = c(0, window)])
  core <- again <- cpu <- numeric(blocks)
  for (k in seq_len(blocks)) {
    cpu[[k]] <- sum(system.time(s <- update(s, pieces[[k]]), gcFirst = FALSE)[1:2])
    core[[k]] <- attr(s$episodes, if (device == "gpu") "device_elapsed" else "elapsed")
    again[[k]] <- recount(s, as.character(pieces[[k]]$unit), as.character(leaving[[k]]$unit))
  }
  took <- tail(s$history$seconds, blocks)
  list(ms = 1000 * median(took), cpu = 1000 * mean(cpu), core = 1000 * median(core),
       slowest = 1000 * max(took), factor = block * blocks / sum(took),
       episodes = nrow(s$episodes), spikes = nrow(attr(s$episodes, "recording")),
       recount = mean(again, na.rm = TRUE))
}

#' One window and block, on the CPU and where there is one on the GPU
row <- function(x, window, block, support = 0.0043) {
  cpu <- replay(x, window, block, support, "cpu")
  message(sprintf("window %g s, block %g s: %.1f ms", window, block, cpu$ms))
  out <- data.frame(
    window = window, block = block, spikes = cpu$spikes, episodes = cpu$episodes,
    recount = cpu$recount, cpu_ms = cpu$ms, outside_mining = cpu$ms - cpu$core,
    cpu_time = cpu$cpu, slowest = cpu$slowest, factor = cpu$factor
  )
  if (has_gpu) {
    gpu <- replay(x, window, block, support, "gpu")
    stopifnot(gpu$episodes == cpu$episodes)
    out <- cbind(out, gpu_ms = gpu$ms, gpu_core = gpu$core, gpu_slowest = gpu$slowest,
                 gpu_factor = gpu$factor)
  }
  out
}

set.seed(1)
x <- simulate_culture(duration = 660, burst_rate = 0.42)
message(sprintf("%.0f spikes a second", nrow(x) / 660))
settings <- expand.grid(block = c(0.1, 1), window = c(10, 60, 600))
table <- do.call(rbind, Map(\(w, b) row(x, w, b), settings$window, settings$block))
options(width = 140)
cat("milliseconds; factor: times faster than the recording; recount: share of the episodes",
    "whose counts can have changed\n")
print(table, row.names = FALSE, digits = 3)

# The whole recording at once, as after the experiment.
set.seed(1)
whole <- simulate_culture(duration = 1800, burst_rate = 0.42)
least <- round(0.0043 * nrow(whole))
cat(sprintf("\n60-channel MEA, %s spikes in 30 minutes, mined whole (min_count %d)\n",
            format(nrow(whole), big.mark = ","), least))
mine <- function(device, calls) {
  seconds <- replicate(calls, {
    took <- system.time(found <- mine_episodes(whole, least, delays, device = device,
                                               threads = 1))[["elapsed"]]
    c(call = took, core = attr(found, if (device == "gpu") "device_elapsed" else "elapsed"))
  })
  seconds <- apply(seconds, 1L, median)
  cat(sprintf("%s: call %.2f ms, real-time factor %s; core %.2f ms, real-time factor %s\n",
              toupper(device), 1000 * seconds[["call"]],
              format(round(1800 / seconds[["call"]]), big.mark = ","),
              1000 * seconds[["core"]],
              format(round(1800 / seconds[["core"]]), big.mark = ",")))
}
mine("cpu", 5)
if (has_gpu) {
  mine("gpu", 3)   # a context, and the memory that is kept
  mine("gpu", 50)
}
