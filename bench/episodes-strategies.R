# The published GPU strategies side by side: what their kernels take, next to the window.
#
# Rscript bench/episodes-strategies.R     milliseconds, warm, medians of 5 calls
# Without recordings (tools/data.R says where they are looked for) tc89 is left out.

library(synfire)
source("tools/data.R")

report <- synfire_sitrep(test_devices = FALSE)
if (nrow(report$devices) == 0L) {
  message("no GPU here: ", report$cuda$reason)
  quit(status = 0L)
}

# A warp issues (33 + 3 size) instructions an event for 32 candidates (src/gpu/published/machine.cuh),
# a multiprocessor 4 of them a clock, at 1.7 GHz.
floor_ms <- function(levels, events) {
  counted <- levels[-1L, ]
  issued <- sum((33 + 3 * counted$size) * counted$candidates / 32) * events
  1000 * issued / (report$devices$multiprocessors[[1L]] * 4 * 1.7e9)
}

measure <- function(work, x, min_count, intervals, calls = 5) {
  found <- NULL
  window <- mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      device = "gpu")
  row <- function(engine) {
    times <- replicate(calls + 1, {
      call <- system.time(found <<- mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      engine = engine,
                                                  device = "gpu"))[["elapsed"]]
      kernels <- sum(attr(found, "levels")$seconds, na.rm = TRUE)
      1000 * c(call, attr(found, "device_elapsed"), kernels)
    })
    middle <- apply(times[, -1L, drop = FALSE], 1L, median)
    stopifnot(identical(as.data.frame(found), as.data.frame(window)))
    levels <- attr(found, "levels")
    data.frame(
      work = work, engine = engine, candidates = sum(levels$candidates[-1L]),
      eliminated = sum(levels$eliminated), call_ms = middle[[1L]], device_ms = middle[[2L]],
      kernels_ms = if (engine == "window") NA else middle[[3L]],
      floor_ms = if (engine == "ptpe") floor_ms(levels, nrow(x)) else NA
    )
  }
  out <- do.call(rbind, lapply(c("window", "ptpe", "mtpe", "hybrid", "two-pass", "occurrence"), row))
  out$to_window <- ifelse(is.na(out$kernels_ms), 1, out$kernels_ms / out$device_ms[[1L]])
  out
}

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
set.seed(1)
sym26 <- simulate_sym26()
rows <- list(measure("Sym26, 3 intervals, 300", sym26, 300, delays),
             measure("Sym26, 3 intervals, 150", sym26, 150, delays))
data <- Sys.getenv("SYNFIRE_DATA")
if (nzchar(data) && dir.exists(file.path(data, "episodes"))) {
  tc89 <- read_spikes(file.path(data, "episodes", "tc89.csv.gz"), time_unit = "ms")
  rows <- c(rows, list(measure("tc89, (5,15] ms, 800", tc89, 800, c(0.005, 0.015))))
}
set.seed(1)
rows <- c(rows, list(measure("culture, (5,15] ms, 5,500", simulate_culture(), 5500,
                             c(0.005, 0.015), calls = 3)))
options(width = 130)
print(do.call(rbind, rows), row.names = FALSE, digits = 3)
