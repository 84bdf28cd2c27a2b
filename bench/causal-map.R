# Causal maps: seconds of each phase, from the R call to the result in host memory, beside
# the counted floor of that phase and the share of it that was reached.
#
#   Rscript bench/causal-map.R [cpu | gpu | memory] [key=value ...]
#
#   cpu      100 series x 1,600 steps, one and two threads (also without any argument)
#   gpu      1,000 x 1,600, 10,000 x 1,600 and 10,000 x 8,528 on one GPU: half a minute
#   memory   peak of a process that maps 10,000 x 1,600 on the CPU, in memory and to a
#            file: minutes; libraries=500 maps only so many, to the same targets
#
#   shapes=1000x1600,10000x1600   series x steps; by-N: more and more series; by-L: of
#                    steps; brains: the three published recordings, 53,053 x 1,450,
#                    92,538 x 3,780 and 101,729 x 8,528, all libraries to all targets in
#                    one call: the last takes 83 GB for the map and 7 GB for the series
#   libraries=500    only so many of them are timed
#   phases=search,map,call        only some of them
#   precision=float,half          of the GPU's map
#   data=counts      series other than chaotic ones, in which many points are equally near:
#                    counts of spikes, `zeros` nine times in ten, or `periodic` ones
#   threads=1,2      on the CPU
#   gpus=1,2         on one GPU, and on two side by side
#   out=FILE         all rows, in full, as CSV, each as soon as it is measured; rows of a
#                    file that is there are kept
#
# The search looks for dimensions among 1 to 20. Targets of the map have 1 to 20 of them by
# turns (mean 10.5), given as `E =`, so that it finds all neighbours itself. The call does
# both: it is causal_map() without `E`, where the map uses neighbours that the search has
# found. The dimensions that are found are then replaced by those of the map, so that every
# shape has the same work. The call needs all libraries. It has rows for its parts, for the
# summary of the map and for a table of its strongest links, ten for each series. Where not
# all libraries are timed, `whole` is a straight line through the times of a quarter and of
# all of those that were, and the row says how many.
# What takes less than 1 s is the median of three, after a small map that loads what loads
# late. `seconds` are those of the clock, but of a single thread those of the processor,
# whatever else the machine does. On the CPU, `map: neighbours` is a map to one target of
# each number of dimensions, and `map: lookup` what the map of all targets takes more; on
# GPUs these are the seconds of the kernels alone, which run side by side. `error` is the
# largest difference to the map of 20 of the series on the CPU, `peak_GB` the most memory
# that the process had so far.
#
# Floors. A search adds series x steps^2 x E terms, each a subtraction, a fused
# multiply-add and a comparison; an H200 does 132 x 128 x 1.755e9 such operations a
# second, and a core with 512 bits 32 a cycle. A lookup gathers libraries x targets x
# steps x (mean E + 1) numbers: 7.4e12 a second from the shared memory of an H200, twice that in
# half precision; on a core one line of 16 a cycle.

library(synfire)
source("tools/machine.R")
options(cli.progress_show_after = Inf)

E_max <- 20
cpu_hz <- 2.6e9
rates <- list(
  cpu = list(operations = 32 * cpu_hz, gathers = c(float = 16 * cpu_hz)),
  gpu = list(operations = 132 * 128 * 1.755e9,
             gathers = c(float = 7.4e12, half = 14.8e12))
)

shapes_known <- list(
  cpu = rbind(c(100, 1600)),
  gpu = rbind(c(1000, 1600), c(10000, 1600), c(10000, 8528)),
  brains = rbind(c(53053, 1450), c(92538, 3780), c(101729, 8528))
)

# ---- What is timed -------------------------------------------------------------------

#' Chaotic series, smoothed as calcium does, made by blocks of columns in place
make_series <- function(series, steps, data = "chaos", width = 256) {
  set.seed(1)
  if (data == "counts") return(matrix(stats::rpois(steps * series, 1), steps))
  if (data == "periodic") {
    period <- rep_len(20:69, series)
    return(vapply(period, \(n) rep_len(sin(2 * pi * seq_len(n) / n), steps), numeric(steps)))
  }
  x <- matrix(0, steps, series)
  for (first in seq(1, series, width)) {
    columns <- first:min(first + width - 1, series)
    state <- runif(length(columns), 0.1, 0.9)
    r <- runif(length(columns), 3.87, 4)  # chaos, no period that repeats exactly
    level <- state
    block <- matrix(0, length(columns), steps)
    for (t in seq_len(steps)) {
      state <- r * state * (1 - state)
      level <- 0.7 * level + state
      block[, t] <- level
    }
    if (data == "zeros") block[stats::runif(length(block)) < 0.9] <- 0
    x[, columns] <- t(block)
  }
  x
}

dimensions_of <- function(series) rep_len(seq_len(E_max), series)

#' Runs what finds the dimensions of series, and then takes others
with_dimensions <- function(run) {
  found <- getFromNamespace("first_maximum", "synfire")
  on.exit(assignInNamespace("first_maximum", found, "synfire"))
  assignInNamespace("first_maximum", function(skill) {
    stopifnot(!anyNA(found(skill)))
    dimensions_of(ncol(skill))
  }, "synfire")
  run()
}

#' Median seconds of a call, of the parts that its result knows of, and what `look` finds in
#' the result: named numbers
time_call <- function(run, clock, look = \(result) NULL) {
  once <- function() {
    gc(FALSE)
    used <- system.time(result <- run())
    elapsed <- attr(result, "elapsed") %||% c(total = NA)
    seconds <- if (clock) used[["elapsed"]] else used[["user.self"]] + used[["sys.self"]]
    c(seconds = seconds, search = unname(elapsed["dimensions"]),
      map = unname(elapsed["map"]), neighbours = unname(elapsed["neighbours"]),
      lookup = unname(elapsed["correlations"]), look(result))
  }
  first <- once()
  if (first[["seconds"]] > 1) return(first)
  times <- cbind(first, replicate(2, once()))
  times[, order(times["seconds", ])[[2L]]]
}

`%||%` <- function(a, b) if (is.null(a)) b else a

#' Seconds for `n` of all libraries, and, on a straight line, for all
extrapolated <- function(run, n, all, clock, look = \(result) NULL) {
  most <- time_call(\() run(n), clock, look)
  if (n >= all) return(list(timed = most, whole = most))
  quarter <- max(1, n %/% 4)
  few <- time_call(\() run(quarter), clock, look)
  slope <- pmax((most - few) / (n - quarter), 0)
  list(timed = most, whole = most + slope * (all - n))
}

#' Largest difference between a map, or its first rows, and that of some series on the CPU
difference <- function(map, x, E) {
  some <- unique(round(seq(1, nrow(map), length.out = 20)))
  right <- causal_map(x[, some, drop = FALSE], E = E[some])
  max(abs(unclass(map[some, some]) - unclass(right)), na.rm = TRUE)
}

#' Seconds for the summary of a whole map, and for a table of its strongest links, ten a series
reading <- function(map) {
  seconds <- \(run) system.time(run())[["elapsed"]]
  c(summary = seconds(\() summary(map)),
    links = seconds(\() as.data.frame(map, max_links = 10 * ncol(map))))
}

#' Rows for one phase of one shape
measure <- function(x, phase, device, workers, precision, n) {
  series <- ncol(x)
  steps <- nrow(x)
  on_gpu <- device == "gpu"
  gpus <- if (on_gpu) seq_len(workers)
  threads <- if (!on_gpu) workers
  clock <- on_gpu || workers > 1
  E <- dimensions_of(series)
  map <- function(n, targets = NULL) {
    causal_map(x, E = if (is.null(targets)) E else E[targets], libraries = seq_len(n),
               targets = targets, device = device, gpus = gpus, threads = threads,
               precision = precision, max_memory = 1e11)
  }
  # The search has no libraries but the series themselves.
  search <- function(n) {
    embed_dimension(if (n == series) x else x[, seq_len(n), drop = FALSE],
                       E_max = E_max, device = device, gpus = gpus, threads = threads)
  }
  call <- function(n) {
    with_dimensions(\() causal_map(x, E_max = E_max, device = device, gpus = gpus,
                                   threads = threads, precision = precision,
                                   max_memory = 1e11))
  }
  look <- function(result) {
    c(error = if (on_gpu && phase != "search") difference(result, x, E) else NA,
      if (phase == "call") reading(result))
  }
  run <- list(search = search, map = map, call = call)[[phase]]
  seconds <- extrapolated(run, n, series, clock, look)
  rate <- rates[[device]]
  near <- series * steps^2 * E_max * 3 / rate$operations / workers
  far <- series^2 * steps * (mean(E) + 1) / rate$gathers[[precision]] / workers
  row <- function(phase, part, floor) {
    data.frame(device = device, workers = workers, precision = precision, series = series,
               steps = steps, libraries = n, phase = phase, seconds = part[[1L]],
               whole = part[[2L]], floor = floor,
               share = if (isTRUE(part[[2L]] > 0)) floor / part[[2L]] else NA,
               error = if (phase %in% c("map", "call")) seconds$timed[["error"]] else NA)
  }
  part <- \(name) c(seconds$timed[[name]], seconds$whole[[name]])
  if (phase == "search") return(row("search", part("seconds"), near))
  if (phase == "call") {
    # The neighbours of the search are those of the map as well.
    floors <- c(call = near + far, "call: search" = near, "call: map" = far,
                "call: neighbours" = 0, "call: lookup" = far, "call: summary" = NA,
                "call: links" = NA)
    parts <- c("seconds", sub("call: ", "", names(floors)[-1L]))
    rows <- do.call(rbind, Map(row, names(floors), lapply(parts, part), floors))
    return(rows[!is.na(rows$seconds), ])
  }
  neighbours <- part("neighbours")
  lookup <- part("lookup")
  if (!on_gpu) {
    targets <- seq_len(min(E_max, series))
    one_of_each <- extrapolated(\(n) map(n, targets), n, series, clock)
    neighbours <- c(one_of_each$timed[["seconds"]], one_of_each$whole[["seconds"]])
    lookup <- pmax(part("seconds") - neighbours, 0)
  }
  rbind(row("map", part("seconds"), near + far), row("map: neighbours", neighbours, near),
        row("map: lookup", lookup, far))
}

# ---- What was asked for --------------------------------------------------------------

read_arguments <- function(arguments) {
  pairs <- strsplit(grep("=", arguments, value = TRUE), "=", fixed = TRUE)
  given <- lapply(pairs, \(pair) strsplit(pair[[2L]], ",", fixed = TRUE)[[1L]])
  names(given) <- vapply(pairs, `[[`, "", 1L)
  what <- setdiff(arguments, grep("=", arguments, value = TRUE))
  allowed <- c("shapes", "libraries", "phases", "precision", "data", "threads", "gpus",
               "out")
  unknown <- c(setdiff(names(given), allowed),
               setdiff(what, c("cpu", "gpu", "memory", "peak")))
  if (length(unknown) > 0L) stop("no such argument: ", paste(unknown, collapse = ", "))
  c(list(what = if (length(what)) what[[1L]] else "cpu"), given)
}

#' Matrix of series and steps, a row a shape
shapes_of <- function(given, device) {
  series <- c(100, 300, 1000, 3000, 10000)
  steps <- c(200, 400, 800, 1600, 3200)
  by_N <- list(cpu = series, gpu = c(series, 30000))
  by_L <- list(cpu = steps, gpu = c(steps, 6400))
  unique(do.call(rbind, lapply(given %||% device, \(shape) switch(
    shape,
    cpu = , gpu = , brains = shapes_known[[shape]],
    `by-N` = cbind(by_N[[device]], 1600),
    `by-L` = cbind(1000, by_L[[device]]),
    rbind(as.numeric(strsplit(shape, "x", fixed = TRUE)[[1L]]))
  ))))
}

devices <- function() synfire_sitrep(test_devices = FALSE)$devices

#' What was at work: the GPU, or the processor
machine <- function(device) {
  if (device == "gpu") return(devices()$name[[1L]])
  if (!file.exists("/proc/cpuinfo")) return(NA_character_)
  sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[[1L]])
}

#' How many threads this process may use
cores <- function() synfire_sitrep(test_devices = FALSE)$threads

#' Add rows to the file of results at once: a run may be cut short
append_rows <- function(rows, file) {
  if (is.null(file)) return(invisible())
  measured <- c("seconds", "whole", "floor", "share", "error", "peak_GB")
  rows[measured] <- lapply(rows[measured], signif, 5)
  there <- if (file.exists(file)) utils::read.csv(file)
  utils::write.csv(rbind(there, rows), file, row.names = FALSE)
}

run_shapes <- function(asked) {
  device <- asked$what
  workers <- if (device == "gpu") asked$gpus %||% 1 else asked$threads %||% 1:2
  workers <- as.numeric(workers)
  precisions <- if (device == "gpu") asked$precision %||% c("float", "half") else "float"
  precisions_of <- \(phase) if (phase == "search") "float" else precisions
  # On the CPU a call is nothing but the two one after the other.
  phases <- asked$phases %||% c("search", "map", if (device == "gpu") "call")
  data <- match.arg(asked$data %||% "chaos", c("chaos", "counts", "zeros", "periodic"))
  about <- data.frame(machine = machine(device), cores = cores(),
                      date = format(Sys.Date()),
                      version = as.character(utils::packageVersion("synfire")))
  rows <- list()
  # Before anything is timed.
  warm <- make_series(20, 200)
  for (of in workers) measure(warm, "map", device, of, "float", 20)
  shapes <- shapes_of(asked$shapes, device)
  for (k in seq_len(nrow(shapes))) {
    series <- shapes[[k, 1L]]
    n <- min(series, as.numeric(asked$libraries %||% series))
    x <- make_series(series, shapes[[k, 2L]], data)
    for (of in workers) {
      possible <- if (n < series) setdiff(phases, "call") else phases
      for (phase in possible) for (precision in precisions_of(phase)) {
        found <- cbind(measure(x, phase, device, of, precision, n),
                       peak_GB = memory("VmHWM") / 1024, about)
        append_rows(found, asked$out)
        rows <- c(rows, list(found))
        message(sprintf("  %s x %s, %s, %s, %g: %.3g s", series, shapes[[k, 2L]], phase,
                        precision, of, found$seconds[[1L]]))
      }
    }
  }
  do.call(rbind, rows)
}

#' All phases side by side, and how well more workers are used
print_totals <- function(rows) {
  shape <- c("device", "workers", "precision", "series", "steps", "libraries")
  key <- \(of, ...) do.call(paste, c(of[c("device", "series", "steps")], list(...)))
  # Seconds of a phase by so many workers; the search is the same in all precisions.
  whole <- function(out, phase, workers = out$workers) {
    of <- rows[rows$phase == phase, ]
    precision <- \(of) if (phase == "search") "" else of$precision
    of$whole[match(key(out, workers, precision(out)), key(of, of$workers, precision(of)))]
  }
  out <- unique(rows[rows$phase %in% c("map", "call"), shape])
  if (nrow(out) == 0L) return(invisible())
  phases <- c("search", "map", "call", "call: summary", "call: links")
  seconds <- lapply(phases, \(phase) whole(out, phase))
  worked <- phases[1:3]
  used <- lapply(rlang::set_names(worked, paste0("used_", worked)), \(phase) {
    whole(out, phase, 1) / whole(out, phase) / out$workers
  })
  names(seconds) <- sub("call: ", "", phases)
  columns <- c(out, seconds, if (any(out$workers > 1)) used)
  print(data.frame(columns, check.names = FALSE), row.names = FALSE, digits = 3)
}

# ---- Memory --------------------------------------------------------------------------

#' Peak of this process, MB: with the series, which are 128 MB, and the package
run_peak <- function(libraries, file) {
  x <- make_series(10000, 1600)
  before <- memory("VmRSS")
  seconds <- system.time(
    map <- causal_map(x, E = dimensions_of(10000), libraries = seq_len(libraries),
                      file = file, threads = 2)
  )[["elapsed"]]
  cat("measured", memory("VmHWM"), before, seconds, "\n")
}

run_memory <- function(libraries) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  rows <- lapply(c("", tempfile(fileext = ".h5")), \(file) {
    out <- system2(file.path(R.home("bin"), "Rscript"),
                   c(script, "peak", paste0("libraries=", libraries),
                     if (nzchar(file)) paste0("out=", file)),
                   stdout = TRUE, stderr = TRUE)
    unlink(file)
    line <- grep("^measured ", out, value = TRUE)
    if (length(line) == 0L) stop(paste(out, collapse = "\n"))
    found <- as.numeric(strsplit(line, " ")[[1L]][2:4])
    data.frame(to = if (nzchar(file)) "file" else "memory", libraries = libraries,
               peak_MB = found[[1L]], of_that_before = found[[2L]], seconds = found[[3L]],
               must = 1500)
  })
  print(do.call(rbind, rows), row.names = FALSE, digits = 4)
}

# ---- Here it begins ------------------------------------------------------------------

asked <- read_arguments(commandArgs(TRUE))
options(width = 160)
if (asked$what == "peak") {
  run_peak(as.numeric(asked$libraries), asked$out)
} else if (asked$what == "memory") {
  run_memory(as.numeric(asked$libraries %||% 10000))
} else if (asked$what == "gpu" && nrow(devices()) == 0L) {
  message("no GPU to measure: see synfire_sitrep()")
} else {
  rows <- run_shapes(asked)
  about <- c("machine", "cores", "date", "version")
  cat(paste0(names(rows[about]), ": ", unlist(rows[1L, about]), collapse = ", "), "\n\n")
  print(rows[setdiff(names(rows), about)], row.names = FALSE, digits = 3)
  cat("\n")
  print_totals(rows)
}
