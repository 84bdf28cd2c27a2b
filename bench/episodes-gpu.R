# Episodes on a GPU: the whole R call and its part on the device, beside the CPU.
#
# Rscript bench/episodes-gpu.R        milliseconds, warm, medians of 50 calls (5 on the CPU)
# SYNFIRE_DATA names the folder with the recordings; without it that row is left out.

library(synfire)

if (nrow(synfire_sitrep(test_devices = FALSE)$devices) == 0L) {
  message("no GPU here: ", synfire_sitrep(test_devices = FALSE)$cuda$reason)
  quit(status = 0L)
}

delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
set.seed(1)
sym26 <- simulate_sym26()
first <- system.time(mine_episodes(sym26, 150, delays, device = "gpu"))[["elapsed"]]
message(sprintf("first call of the session: %.0f ms", 1000 * first))

compare <- function(work, x, min_count, intervals, calls = 50) {
  elapsed <- function(device) {
    system.time(found <<- mine_episodes(x, min_count, intervals, device = device,
                                        threads = 1))[["elapsed"]]
  }
  found <- NULL
  part <- numeric(calls)
  call <- numeric(calls)
  for (i in seq_len(calls)) {
    call[[i]] <- elapsed("gpu")
    part[[i]] <- attr(found, "device_elapsed")
  }
  gpu <- found
  cpu <- replicate(5, elapsed("cpu"))
  stopifnot(identical(as.data.frame(gpu), as.data.frame(found)))
  levels <- attr(found, "levels")
  data.frame(
    work = work, candidates = sum(levels$candidates[-1]), frequent = nrow(found),
    device_ms = 1000 * median(part), call_ms = 1000 * median(call),
    cpu_call_ms = 1000 * median(cpu)
  )
}

rows <- list(
  compare("Sym26, 3 intervals, 300", sym26, 300, delays),
  compare("Sym26, 3 intervals, 150", sym26, 150, delays)
)
data <- Sys.getenv("SYNFIRE_DATA")
if (nzchar(data) && dir.exists(file.path(data, "episodes"))) {
  tc89 <- read_spikes(file.path(data, "episodes", "tc89.csv.gz"), time_unit = "ms")
  rows <- c(rows, list(compare("tc89, (5,15] ms, 800", tc89, 800, c(0.005, 0.015))))
}
set.seed(1)
culture <- simulate_culture()
rows <- c(rows, list(
  compare("culture, (5,15] ms, 5,500", culture, 5500, c(0.005, 0.015)),
  compare("culture, (5,15] ms, 0.30 %", culture, round(0.003 * nrow(culture)),
          c(0.005, 0.015), 10)
))
options(width = 120)
print(do.call(rbind, rows), row.names = FALSE, digits = 3)
