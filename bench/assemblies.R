# How long find_assemblies() takes: 50 units for 20 minutes on one core, and 500 units for 30
# minutes on two threads and, where there is one, on a GPU; and a retina on an array of 1,152
# electrodes, recorded by others, in the folder SYNFIRE_DATA.
#
# Rscript bench/assemblies.R
# ROWS="large array" Rscript bench/assemblies.R    some of small, large, gpu, array, array_gpu
#
# vignettes/performance/assemblies.csv has the rows of the array.
#
# `call` is the time of the whole call, `cpu` that of all its threads together, `of_recording` what
# the peaks of the recording take of that, and `MB` the most that this process has held so far.

library(synfire)
source("tools/machine.R")

rows <- strsplit(Sys.getenv("ROWS", "small large gpu"), " ")[[1]]
if (nrow(synfire_sitrep(test_devices = FALSE)$devices) == 0) rows <- setdiff(rows, "gpu")

#' Rates are log-normal, `rate` on the mean.
recording <- function(units, minutes, rate) {
  set.seed(1)
  simulate_assemblies(duration = 60 * minutes, units = units, rate = rate / exp(0.8^2 / 2))
}

#' Seconds of all threads for getting ready and for the peaks of the recording
recorded <- function(x, gpus, threads) {
  options <- c(synfire:::assembly_ladder(x, 1, NULL),
               list(events = NULL, n = 0, from = 0, least = 2560, key = c(1, 2), gpus = gpus,
                    threads = threads, max_memory = 4e9))
  sum(system.time(.Call(synfire:::r_assembly_peaks, synfire:::trains_of(x), options))[1:2])
}

measure <- function(what, x, device, threads) {
  gpus <- if (device == "gpu") 0L
  peaks <- recorded(x, gpus, threads)
  time <- system.time(found <- find_assemblies(x, device = device, threads = threads))
  print(data.frame(
    recording = what, device = device, threads = threads, spikes = nrow(x),
    call = signif(time[[3]], 3), cpu = signif(sum(time[1:2]), 3), of_recording = signif(peaks, 2),
    assemblies = nrow(found), MB = round(memory("VmHWM"))
  ), row.names = FALSE)
}

options(width = 160)
of_array <- function() {
  folder <- Sys.getenv("SYNFIRE_DATA", "../shared/data")
  read_spikes(file.path(folder, "recordings", "retina-1152.h5"))
}

if ("array" %in% rows) measure("1,152 units, 30 min, 0.3 Hz", of_array(), "cpu", 2)
if ("array_gpu" %in% rows) {
  measure("1,152 units, 30 min, 0.3 Hz", of_array(), "gpu", synfire:::check_threads(NULL))
}
if ("small" %in% rows) measure("50 units, 20 min, 7 Hz", recording(50, 20, 7), "cpu", 1)
if (any(c("large", "gpu") %in% rows)) {
  x <- recording(500, 30, 5)
  if ("large" %in% rows) measure("500 units, 30 min, 5 Hz", x, "cpu", 2)
  if ("gpu" %in% rows) {
    # Making a context takes a while, once.
    measure("50 units, 20 min, 5 Hz", recording(50, 20, 5), "gpu", 2)
    measure("500 units, 30 min, 5 Hz", x, "gpu", synfire:::check_threads(NULL))
  }
}
