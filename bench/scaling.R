# Time and memory against size: each of these searches on data that double, until a call takes too
# long, on one core and, where there is one, on a GPU.
#
# Rscript bench/scaling.R [limit=2] [searches=simplex,smap] [out=FILE]
#                       a row for each size as a CSV, as soon as it is measured; a series of sizes
#                       ends with a call of `limit` seconds or more, or with data that take half a
#                       minute to make. Seconds are those of the processor on one core, and by the
#                       clock on a GPU. Rows of other searches and places stay in FILE
#
# Each size has an R process of its own, which gets the data, so that its peak memory is its own
# too. `mb` are the MB that the first call adds to the process at most: with the result, without
# the data, and without the memory of a GPU. They are NA where there is no /proc.
#
# `floor` is what the operations alone take that nobody can leave out, at the rates of bench/edm.R:
# a difference and a product for each coordinate of each two rows, and for S-maps the sums of the
# equations. It is counted for series, where the data do not decide how much there is to do: as
# for neighbours on one core, which leaves out rows that are too far away.

library(synfire)
source("tools/machine.R")

given <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)
given <- stats::setNames(lapply(given, `[`, 2L), vapply(given, `[`, "", 1L))
if (!all(names(given) %in% c("limit", "searches", "out"))) {
  stop("usage: scaling.R [limit=2] [searches=NAMES] [out=FILE]")
}
limit <- as.numeric(c(given$limit, 2)[[1L]])

report <- synfire_sitrep(test_devices = FALSE)
places <- list("one core" = list(device = "cpu", threads = 1))
if (nrow(report$devices) > 0L) places$GPU <- list(device = "gpu")

# Operations a second, on one core with 512 bits at 2.6 GHz and on an H200: in single precision a
# difference and a product; in double precision sums and products, on the GPU of its tensor cores.
terms <- c("one core" = 2.08e10, GPU = 1.5e13)
sums <- c("one core" = 8.3e10, GPU = 6.5e13)

independent <- function(units, seconds, rate = 3) {
  n <- stats::rpois(1, units * seconds * rate)
  spike_trains(stats::runif(n, 0, seconds), sample.int(units, n, TRUE), start = 0, end = seconds)
}
walk <- \(n) data.frame(time = seq_len(n),
                        x = as.numeric(stats::arima.sim(list(ar = c(0.5, 0.3)), n)))
noise <- \(n) matrix(stats::rnorm(1000 * n), 1000)

# What is searched: `of`, the unit of its size; `from`, the first size; `make` the data of a size;
# `call` what is timed, given the data and a place; `floor` seconds, given size and place.
searches <- list(
  mine_episodes = list(
    of = "spikes", from = 25000, make = \(n) simulate_culture(duration = round(n / 340)),
    call = \(x, ...) mine_episodes(x, ceiling(0.003 * nrow(x)), c(0.005, 0.015),
                                   distinct_units = FALSE, max_memory = 6e10, ...)),
  mine_patterns = list(
    of = "spikes", from = 25000, make = \(n) independent(100, round(n / 300)),
    call = \(x, ...) mine_patterns(x, 0.005, 10, 3, max(3, ceiling(nrow(x) / 12500)), ...)),
  find_assemblies = list(
    of = "units", from = 25, make = \(n) independent(n, 120),
    call = \(x, ...) find_assemblies(x, n_surrogates = 19, ...)),
  find_synapses = list(
    of = "units", from = 25, make = \(n) independent(n, 600), call = find_synapses),
  simplex = list(
    of = "rows", from = 2000, make = walk, call = \(x, ...) simplex(x, "x", E = 5, ...),
    floor = \(n, place) if (place == "GPU") n^2 * 5 / terms[[place]] else NA),
  smap = list(
    of = "rows", from = 1000, make = walk,
    call = \(x, ...) smap(x, "x", E = 5, theta = 2, ...),
    floor = \(n, place) n^2 * 2 * 28 / sums[[place]]),
  causal_map = list(
    of = "series of 1,000 steps", from = 25, make = noise,
    call = \(x, ...) causal_map(x, E = 5, ...),
    floor = \(n, place) n * 1000^2 * 5 / terms[[place]] + n^2 * 1000 * 6 / terms[[place]]),
  smap_map = list(
    of = "series of 1,000 steps", from = 25, make = noise,
    call = \(x, ...) smap_map(x, E = 5, ...),
    floor = \(n, place) n * 1000^2 * 2 * (21 + 12 + n) / sums[[place]])
)

#' In a process of its own: seconds of a call on `x`, the median of three where they are below
#' `limit`, and MB. The call on `small` loads parts that load late
measure <- function(call, small, x, place, limit) {
  library(synfire)
  source("tools/machine.R")
  options(cli.progress_show_after = Inf)
  run <- \(x) suppressMessages(do.call(call, c(list(x), place)))
  once <- \() {
    gc(FALSE)
    used <- system.time(run(x), gcFirst = FALSE)
    if (place$device == "gpu") used[["elapsed"]] else used[["user.self"]] + used[["sys.self"]]
  }
  set.seed(1)
  run(small)
  gc(FALSE)
  before <- if (forget_peak()) memory("VmRSS") else NA
  seconds <- once()
  mb <- memory("VmHWM") - before
  if (seconds < limit) seconds <- stats::median(c(seconds, once(), once()))
  c(seconds = seconds, mb = mb)
}

asked <- names(searches)
if (!is.null(given$searches)) asked <- strsplit(given$searches, ",", fixed = TRUE)[[1L]]
rows <- if (!is.null(given$out) && file.exists(given$out)) utils::read.csv(given$out)
for (name in asked) {
  of <- searches[[name]]
  small <- of$make(of$from %/% 4)
  for (where in names(places)) {
    if (!is.null(rows)) rows <- subset(rows, search != name | place != where)
    size <- of$from
    repeat {
      set.seed(1)
      making <- system.time(x <- of$make(size))[["elapsed"]]
      process <- parallel::makePSOCKcluster(1)
      found <- parallel::clusterCall(process, measure, of$call, small, x, places[[where]],
                                     limit)[[1L]]
      parallel::stopCluster(process)
      rows <- rbind(rows, data.frame(
        search = name, of = of$of, size = size, place = where,
        seconds = signif(found[["seconds"]], 3), mb = signif(found[["mb"]], 3),
        floor = if (is.null(of$floor)) NA else signif(of$floor(size, where), 3),
        machine = if (where == "GPU") report$devices$name[[1L]] else cpu_name(),
        date = format(Sys.Date()), version = as.character(utils::packageVersion("synfire"))
      ))
      message(sprintf("%s, %d %s, %s: %.3f s, %.1f MB", name, size, of$of, where,
                      found[["seconds"]], found[["mb"]]))
      if (!is.null(given$out)) utils::write.csv(rows, given$out, row.names = FALSE)
      if (found[["seconds"]] >= limit || making > 30) break
      size <- 2 * size
    }
  }
}
