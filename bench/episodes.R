# Episodes: our engine beside the published algorithms, in one run.
#
# Rscript bench/episodes.R            CPU seconds are user + system; medians of five,
#                                     or of as many runs as fit into a minute
# Without recordings (tools/data.R says where they are looked for) their rows are left out.

library(synfire)
source("tools/data.R")

#' Median CPU and wall seconds of up to five runs that start within a minute
measure <- function(run) {
  cpu <- wall <- numeric()
  while (length(wall) < 5 && sum(wall) < 60) {
    gc(FALSE)
    took <- system.time(result <- run())
    cpu <- c(cpu, took[["user.self"]] + took[["sys.self"]])
    wall <- c(wall, took[["elapsed"]])
  }
  list(cpu = median(cpu), wall = median(wall), runs = length(wall), result = result)
}

rows <- list()
note <- function(work, what, measured, base = NULL) {
  levels <- attr(measured$result, "levels")
  rows[[length(rows) + 1L]] <<- data.frame(
    work = work, what = what,
    candidates = if (is.null(levels)) NA else sum(levels$candidates[-1]),
    frequent = if (is.null(levels)) NA else sum(levels$frequent),
    cpu = measured$cpu, wall = measured$wall, runs = measured$runs,
    ratio = if (is.null(base)) NA else base$cpu / measured$cpu
  )
  message(sprintf("%s, %s: %.3f CPU s, %.3f s", work, what, measured$cpu, measured$wall))
}

#' One recording at one threshold: the window engine against the published ones
compare <- function(work, x, min_count, intervals, two_pass = FALSE) {
  mine <- function(engine, threads = 1) {
    measure(\() mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      engine = engine, threads = threads))
  }
  window <- mine("window")
  state <- mine("state")
  stopifnot(identical(as.data.frame(window$result), as.data.frame(state$result)))
  note(work, "state", state)
  if (two_pass) note(work, "two-pass", mine("two-pass"), state)
  note(work, "window", window, state)
}

#' Wall seconds on two threads against one, and the memory it takes
scale_up <- function(work, x, min_count, intervals) {
  mine <- function(threads) {
    measure(\() mine_episodes(x, min_count, intervals, distinct_units = FALSE,
      threads = threads))
  }
  one <- mine(1)
  two <- mine(2)
  note(work, "window, 1 thread", one)
  note(work, "window, 2 threads", two)
  rows[[length(rows)]]$ratio <<- one$wall / two$wall
  message(sprintf("%s: %.0f MB at most", work, attr(one$result, "peak_memory") / 1e6))
}

set.seed(1)
sym26 <- simulate_sym26()
delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
compare("Sym26, 3 intervals, 300", sym26, 300, delays, two_pass = TRUE)
compare("Sym26, 3 intervals, 150", sym26, 150, delays)

data <- Sys.getenv("SYNFIRE_DATA")
if (nzchar(data) && dir.exists(file.path(data, "episodes"))) {
  tc89 <- read_spikes(file.path(data, "episodes", "tc89.csv.gz"), time_unit = "ms")
  compare("tc89, (5,15] ms, 800", tc89, 800, c(0.005, 0.015))
}

set.seed(1)
culture <- simulate_culture()
compare("culture, (5,15] ms, 0.43 %", culture, round(0.0043 * nrow(culture)), c(0.005, 0.015))
scale_up("culture, (5,15] ms, 0.30 %", culture, round(0.0030 * nrow(culture)), c(0.005, 0.015))

csv <- tempfile(fileext = ".csv")
n <- 1.25e6
writeLines(c("time,unit", sprintf("%.6f,ch%02d", sort(runif(n, 0, 3600)),
                                  sample(60, n, TRUE))), csv)
note(sprintf("CSV of %.0f MB", file.size(csv) / 1e6), "read_spikes",
     measure(\() read_spikes(csv)))
unlink(csv)

table <- do.call(rbind, rows)
table[c("cpu", "wall", "ratio")] <- lapply(table[c("cpu", "wall", "ratio")], signif, 3)
options(width = 120)
print(table, row.names = FALSE)
