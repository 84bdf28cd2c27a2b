# What vignette("performance") shows besides the peers: seconds of typical calls on one core
# and, where there are some, on GPUs.
#
# In the folder of the package:
#
#   Rscript vignettes/performance/measure.R [small]
#
# Writes calls.csv next to this file, a row for each call and each place where it ran, with
# machine, date and version; some two minutes. Seconds are those of the whole R call: on one
# core those of the processor, whatever else the machine does, on GPUs by the clock. They are
# medians of five calls or of as many as begin within five seconds; what takes less than two
# seconds runs once before that. `small` takes a tenth of all data.
# tools/get-data.R fetches the two recordings; without them what needs them is left out. OUT
# names another folder. The tables of other programs are `make peers`.

library(synfire)
source("tools/data.R")
source("tools/machine.R")
options(cli.progress_show_after = Inf)

folder <- Sys.getenv("OUT", "vignettes/performance")
part <- if ("small" %in% commandArgs(TRUE)) 0.1 else 1
report <- synfire_sitrep(test_devices = FALSE)
n_gpus <- NROW(report$devices)

#' Median seconds of a call, and how many calls
seconds_of <- function(call, clock) {
  once <- \() {
    gc(FALSE)
    used <- system.time(call(), gcFirst = FALSE)
    if (clock) used[["elapsed"]] else used[["user.self"]] + used[["sys.self"]]
  }
  first <- once()
  times <- if (first >= 2) first
  while (length(times) < 5 && sum(times) < 5) times <- c(times, once())
  list(seconds = stats::median(times), runs = length(times))
}

places <- list("one core" = list(threads = 1, device = "cpu"))
if (n_gpus > 0) places[["1 GPU"]] <- list(threads = report$threads, device = "gpu", gpus = 1)
if (n_gpus > 1) {
  places[["2 GPUs"]] <- list(threads = report$threads, device = "gpu", gpus = 1:2)
}

rows <- list()

#' One work in the places named: `call` is given `threads` and, where `on_gpu`, the arguments
#' `device` and `gpus` too
measure <- function(work, call, where = names(places)) {
  for (place in intersect(where, names(places))) {
    on_gpu <- grepl("GPU", place)
    found <- seconds_of(\() do.call(call, places[[place]]), clock = on_gpu)
    row <- data.frame(
      work = work, place = place, threads = places[[place]]$threads,
      seconds = signif(found$seconds, 3), runs = found$runs,
      machine = if (on_gpu) report$devices$name[[1L]] else cpu_name(),
      date = format(Sys.Date()), synfire = as.character(utils::packageVersion("synfire"))
    )
    rows[[length(rows) + 1L]] <<- row
    message(sprintf("%s, %s: %.3g s", work, place, found$seconds))
    utils::write.csv(do.call(rbind, rows), file.path(folder, "calls.csv"), row.names = FALSE)
  }
}

cpu <- "one core"
count <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)

# ---- Episodes and patterns -------------------------------------------------------------

data <- Sys.getenv("SYNFIRE_DATA")
raster <- file.path(data, "spade", "movement_PGHF_raster.txt.gz")
culture <- file.path(data, "episodes", "tc89.csv.gz")
delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))

set.seed(1)
sym26 <- simulate_sym26()
mined <- mine_episodes(sym26, 254, delays, distinct_units = FALSE)
measure(sprintf("`episode_significance()`, %s episodes, 1,000 surrogates", count(nrow(mined))),
        \(threads, device, gpus = NULL) {
          set.seed(2)
          episode_significance(mined, sym26, 1000 * part, threads = threads, device = device,
                               gpus = gpus)
        })
if (file.exists(culture)) {
  x <- read_spikes(culture, time_unit = "ms")
  measure(sprintf("`mine_episodes()`, %s spikes of a culture, at least 800 times", count(nrow(x))),
          \(threads, device, gpus = NULL) {
            mine_episodes(x, 800, c(0.005, 0.015), distinct_units = FALSE, threads = threads,
                          device = device, gpus = gpus)
          })
}
set.seed(1)
hour <- simulate_culture(duration = 3600 * part)
measure(sprintf("`mine_episodes()`, %s spikes of an hour, at least 0.3 %%", count(nrow(hour))),
        \(threads, device, gpus = NULL) {
          mine_episodes(hour, round(0.003 * nrow(hour)), c(0.005, 0.015), distinct_units = FALSE,
                        threads = threads, device = device, gpus = gpus)
        })
if (file.exists(raster)) {
  cells <- utils::read.table(raster)
  x <- spike_trains((cells[[2]] * 5 + 2) / 1000, factor(cells[[1]], 0:149), start = 0,
                    end = 4464 * 0.005, resolution = 1e-3)
  measure("`mine_patterns()`, 22 s of 150 units: 8.3 million patterns",
          \(threads, ...) mine_patterns(x, 0.005, 20, 4, 12, threads = threads), cpu)
  measure("`spade()` of the same, at least 10 times, 100 surrogates",
          \(threads, device, gpus = NULL) {
            set.seed(1)
            spade(x, 0.005, 20, min_spikes = 5, min_count = 10, n_surrogates = 100,
                  surrogate = "dither", threads = threads, device = device, gpus = gpus)
          })
}

# ---- Series ----------------------------------------------------------------------------

series <- \(n, steps) {
  set.seed(1)
  matrix(stats::rnorm(n * steps), steps)
}
long <- data.frame(time = seq_len(1e5 * part),
                   x = as.numeric(stats::arima.sim(list(ar = c(0.5, 0.3)), 1e5 * part)))
measure(sprintf("`simplex()`, E 5, %s rows", count(nrow(long))),
        \(threads, ...) simplex(long, "x", E = 5, threads = threads), cpu)
for (n in c(1000, 10000) * part) {
  x <- series(n, 1600)
  measure(sprintf("`causal_map()`, %s series of 1,600 steps, E 5", count(n)),
          \(threads, device, gpus = NULL) {
            causal_map(x, E = rep(5, n), threads = threads, device = device, gpus = gpus)
          }, if (n > 1000) setdiff(names(places), cpu) else names(places))
}
# All that comes before the first library: vignette("performance") counts with it.
n <- 20000 * part
file <- tempfile(fileext = ".h5")
made <- hdf5r::H5File$new(file, "w")
made[["traces"]] <- series(n, 1600)
made$close_all()
measure(sprintf("`causal_map()`, one library of a file of %s series of 1,600 steps", count(n)),
        \(threads, ...) suppressMessages(
          causal_map(file, E = rep(1, n), libraries = 1, threads = threads)), cpu)
unlink(file)
rm(x)

# ---- Recordings ------------------------------------------------------------------------

n <- 4e7 * part
time <- stats::runif(n, 0, 7200)
unit <- sample(1000L, n, TRUE)
measure(sprintf("`spike_trains()`, %s spikes in no order", count(n)),
        \(...) spike_trains(time, unit), cpu)
m <- 1e7 * part
file <- tempfile(fileext = ".csv")
writeLines(c("time,unit", sprintf("%.6f,%d", sort(time[seq_len(m)]), unit[seq_len(m)])), file)
measure(sprintf("`read_spikes()`, a table of %s rows", count(m)), \(...) read_spikes(file),
        cpu)
unlink(file)
x <- spike_trains(time[seq_len(m)] / 7.2, unit[seq_len(m)], start = 0, end = 1000)
measure(sprintf("`cross_correlogram()`, %s spikes of 1,000 units, to 50 ms", count(m)),
        \(threads, ...) cross_correlogram(x, 0.001, 0.05, threads = threads, max_memory = 1e10),
        cpu)
