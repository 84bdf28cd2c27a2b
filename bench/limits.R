# Short calls, whose fixed costs a user waits for: the whole R call, warm, on a GPU where there
# is one. Other benches have the long ones (edm.R, causal-map.R, episodes-gpu.R, patterns.R).
# Rows of recordings that are not there (tools/data.R says where they are looked for) are left out.
#
# Rscript bench/limits.R [out=FILE]
#                       seconds, medians of as many calls as begin in two seconds, 5 to 200; also
#                       as CSV, each row as soon as it is measured
#
# Rows of a first call are medians of five processes of R, each on its own.

library(synfire)
source("tools/data.R")
source("tools/machine.R")
source("bench/raster.R")
options(cli.progress_show_after = Inf)

out <- sub("^out=", "", commandArgs(TRUE))
if (length(out) > 1L || !all(grepl("^out=.", commandArgs(TRUE)))) {
  stop("usage: limits.R [out=FILE]")
}
report <- synfire_sitrep(test_devices = FALSE)
on_gpu <- nrow(report$devices) > 0L
device <- if (on_gpu) "gpu" else "cpu"
rows <- NULL

#' Adds a row to the table, and to the file if there is one
keep <- function(work, seconds, where = device) {
  row <- data.frame(
    work = work, device = where, seconds = signif(stats::median(seconds), 3),
    runs = length(seconds), machine = if (where == "gpu") report$devices$name[[1L]] else cpu_name(),
    cores = if (where == "one core") 1L else report$threads, date = format(Sys.Date()),
    synfire = as.character(utils::packageVersion("synfire"))
  )
  rows <<- rbind(rows, row)
  message(sprintf("%-58s %.4f s", work, row$seconds))
  if (length(out) == 1L) utils::write.csv(rows, out, row.names = FALSE)
}

#' Seconds of warm calls
warm <- function(call) {
  call()
  call()
  once <- \() as.numeric(system.time(call(), gcFirst = FALSE)[["elapsed"]])
  gc(FALSE)
  # The clock of system.time() has milliseconds: short calls are taken ten at a time.
  several <- if (once() < 0.05) 10 else 1
  times <- numeric()
  while (length(times) < 5 || (sum(times) * several < 2 && length(times) < 200)) {
    times <- c(times, system.time(for (i in seq_len(several)) call(),
                                  gcFirst = FALSE)[["elapsed"]] / several)
  }
  times
}

#' Seconds that an expression says it took, in processes of their own
processes <- function(code, n = 5) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), code), script)
  vapply(seq_len(n), \(i) {
    said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE,
                    stderr = FALSE)
    as.numeric(said[[length(said)]])
  }, 0)
}

# ---- Series ----------------------------------------------------------------------------

set.seed(1)
series <- data.frame(time = 1:128000,
                     x = as.numeric(stats::arima.sim(list(ar = c(0.5, 0.3)), 128000)))
noise <- \(n, steps) matrix(stats::rnorm(n * steps), steps)
for (n in c(2, 100)) {
  x <- noise(n, 1000)
  keep(sprintf("causal_map, %d series of 1,000 steps, E 5", n),
       warm(\() causal_map(x, E = 5, device = device)))
}
x <- noise(1000, 1600)
keep("causal_map, 1,000 series of 1,600 steps, E 1 to 20",
     warm(\() causal_map(x, E_max = 20, device = device)))
for (n in c(2000, 8000, 128000)) {
  some <- utils::head(series, n)
  rows_of <- format(n, big.mark = ",")
  keep(sprintf("simplex, E 20, %s rows", rows_of),
       warm(\() simplex(some, "x", E = 20, device = device)))
  keep(sprintf("smap, E 20, theta 2, %s rows", rows_of),
       warm(\() smap(some, "x", E = 20, theta = 2, device = device)))
}
some <- utils::head(series, 100000)
keep("embed_dimension, E 1 to 20, 100,000 rows",
     warm(\() embed_dimension(some, "x", E_max = 20, device = device)))
keep("embed_dimension, E 1 to 10, 100,000 rows",
     system.time(embed_dimension(some, "x", E_max = 10, threads = 1))[["elapsed"]], "one core")
x <- noise(200, 1000)
keep("smap_map, E 5, 200 x 200 series of 1,000 steps of noise",
     warm(\() smap_map(x, E = 5, device = device)))
x <- matrix(stats::rpois(200 * 1000, 0.1), 1000)
keep("smap_map, E 5, 200 x 200 series of 1,000 spike counts",
     warm(\() smap_map(x, E = 5, device = device)))

# ---- Spikes ----------------------------------------------------------------------------

set.seed(1)
x <- simulate_sym26()
delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
for (least in c(150, 40)) {
  keep(sprintf("mine_episodes, Sym26, at least %d times", least),
       warm(\() mine_episodes(x, least, delays, distinct_units = FALSE, device = device)))
}

recording <- \(...) file.path(Sys.getenv("SYNFIRE_DATA"), ...)
chains <- function(work, x, least) {
  keep(sprintf("mine_episodes, %s, at least %s times", work, format(least, big.mark = ",")),
       warm(\() mine_episodes(x, least, c(0.005, 0.015), distinct_units = FALSE, device = device)))
}
if (file.exists(recording("episodes", "tc89.csv.gz"))) {
  chains("tc89", read_spikes(recording("episodes", "tc89.csv.gz"), time_unit = "ms"), 800)
}
set.seed(1)
chains("a culture", simulate_culture(), 5500)
set.seed(2)
x <- simulate_culture(duration = 1800, burst_rate = 0.42)
chains("60 channels in 30 min", x, round(0.0043 * nrow(x)))

patterns <- function(work, ...) {
  mine <- \() mine_patterns(..., device = device, max_memory = 8e9)
  keep(sprintf("mine_patterns, %s", work), warm(mine))
}
if (file.exists(recording("spade", "movement_PGHF_raster.txt.gz"))) {
  x <- read_raster()
  least <- c(88, 25, 12, 10, 10, 10, 10, 10)
  keep("mine_patterns, the eight published jobs", warm(\() {
    for (i in seq_along(least)) {
      mine_patterns(x, 0.005, 20, i + 1, least[[i]], device = device, max_memory = 8e9)
    }
  }))
  patterns("300 units, at least 4 spikes, 12 times", read_raster(copies = 2), 0.005, 20, 4, 12)
}
set.seed(1)
n <- stats::rpois(1000, 5 * 600)
patterns("1,000 independent units, 600 s",
         spike_trains(stats::runif(sum(n)) * 600, rep(1:1000, n), start = 0, end = 600),
         0.005, 12, 3, 60)

# ---- First calls -----------------------------------------------------------------------

keep("first call of a process, simplex of 2,000 rows, above a warm one", processes(c(
  "suppressPackageStartupMessages(library(synfire)); set.seed(1)",
  "x <- data.frame(time = 1:2000, x = cumsum(rnorm(2000)))",
  sprintf("call <- \\() system.time(simplex(x, 'x', E = 5, device = '%s'))[['elapsed']]", device),
  "first <- call(); cat(first - median(replicate(20, call())))"
)))
file <- tempfile(fileext = ".csv")
writeLines(c("time,unit", sprintf("%.5f,%d", sort(stats::runif(1e6, 0, 1800)),
                                  sample(200L, 1e6, TRUE))), file)
keep("library(synfire) to rates of a CSV of 1,000,000 spikes", processes(c(
  "began <- proc.time()[['elapsed']]; suppressPackageStartupMessages(library(synfire))",
  sprintf("x <- read_spikes('%s'); print(summary(x), n = 1)", file),
  "cat('\\n', proc.time()[['elapsed']] - began, sep = '')"
)), "one core")
unlink(file)
