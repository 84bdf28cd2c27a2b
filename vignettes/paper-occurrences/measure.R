# The measurements shown in vignette("paper-occurrences").
#
# Rscript measure.R OUT_FOLDER [PART ...]
#
# Parts: ways, bursts, lengths, engines, kernels; all of them if none is named. Needs one
# NVIDIA GPU, and for kernels Nsight Compute (ncu). Each part writes its table to OUT_FOLDER
# when it is done: CSV, times in milliseconds, medians of warm runs, with the machine, the
# date and the version of synfire in every row. The environment variable SYNFIRE_DATA names
# the folder with episodes/tc89.csv.gz.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf)

three_delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
ways <- c("atomic-compact", "cudpp-compact", "count-scan-write", "count-once", "one-counter")

# ---- Recordings ------------------------------------------------------------------------

read_recording <- function(name) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "episodes", paste0(name, ".csv.gz"))
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with episodes/", basename(file))
  read_spikes(file, time_unit = "ms")
}

seeded <- function(simulate, ...) {
  set.seed(1)
  simulate(...)
}

# What is mined: a name, a recording, and delays in seconds.
sym26 <- function(duration = 60) {
  list(name = "Sym26", x = seeded(simulate_sym26, duration = duration),
       delays = three_delays)
}

tc89 <- function() {
  list(name = "tc89", x = read_recording("tc89"), delays = c(0.005, 0.015))
}

# The three busiest channels of a culture that fires in bursts.
bursts <- function() {
  x <- seeded(simulate_culture, duration = 120)
  busiest <- names(sort(table(x$unit), decreasing = TRUE))[1:3]
  list(name = "bursts", x = x[unit = busiest], delays = c(0, 0.05))
}

# ---- Timing ----------------------------------------------------------------------------

# Mines once to warm up, then `runs` times; what takes longer than `patience` seconds is
# mined once. Gives the last result, with medians in place of its times.
mine <- function(work, min_count, engine, ..., max_size = Inf, device = "gpu", runs = 5,
                 patience = 1) {
  once <- \() mine_episodes(work$x, min_count, work$delays, max_size, distinct_units = FALSE,
                            engine = list(engine, ...), device = device, threads = 1)
  found <- list(once())
  if (attr(found[[1L]], "elapsed") < patience) found <- replicate(runs, once(), FALSE)
  level_ms <- rbind(vapply(found, \(of) attr(of, "levels")$seconds,
                           attr(found[[1L]], "levels")$seconds))
  whole_ms <- vapply(found, \(of) {
    seconds <- if (device == "gpu") attr(of, "device_elapsed") else attr(of, "elapsed")
    as.double(seconds)
  }, 0)
  out <- found[[length(found)]]
  attr(out, "level_ms") <- 1000 * apply(level_ms, 1L, median)
  attr(out, "ms") <- 1000 * median(whole_ms)
  message(sprintf("  %s, %s: %s on the %s, %s: %.2f ms", work$name, min_count, engine, device,
                  paste(names(list(...)), unlist(lapply(list(...), format)),
                        collapse = ", "), attr(out, "ms")))
  out
}

levels_of <- function(found) {
  levels <- attr(found, "levels")
  data.frame(size = levels$size, candidates = levels$candidates, frequent = levels$frequent,
             ms = attr(found, "level_ms"))[-1L, ]
}

# ---- Parts -----------------------------------------------------------------------------

# Each way counts the candidates of a size several times over: what is timed is the
# counting alone, with the memory taken in the first run, which is left out.
count_by_way <- function(work, candidates, compaction, dedup, times = 7L) {
  internal <- asNamespace("synfire")
  ticks <- round(rbind(work$delays) / attr(work$x, "resolution"))
  counted <- internal$gpu_count(
    internal$trains_of(work$x), list(low = ticks[, 1], high = ticks[, 2]), candidates$units,
    candidates$intervals, internal$gpu_request("occurrence", 0L, compaction = compaction,
                                               dedup = dedup),
    times = times
  )
  list(count = counted$count, ms = 1000 * median(counted$seconds[-1L]))
}

# The candidates of each size from 2 on, as a list of `size`, `units` and `intervals`, integer
# matrices with a row for each: those whose parts one unit shorter are frequent.
candidates_of <- function(work, min_count, max_size) {
  found <- mine_episodes(work$x, min_count, work$delays, max_size = max_size,
                         distinct_units = FALSE, threads = 1)
  levels <- attr(found, "levels")
  delays <- rbind(work$delays)
  lapply(seq_len(nrow(levels))[-1L], function(size) {
    shorter <- found[found$size == size - 1L, ]
    units <- matrix(match(unlist(shorter$units), base::levels(work$x$unit)), nrow(shorter),
                    byrow = TRUE)
    intervals <- matrix(match(unlist(shorter$low), delays[, 1]), nrow(shorter), byrow = TRUE)
    made <- join(units, intervals, nrow(delays))
    stopifnot(nrow(made$units) == levels$candidates[[size]])
    c(list(size = size, frequent = levels$frequent[[size]]), made)
  })
}

# All episodes one unit longer whose first units are one of those given, and whose last
# units are as well.
join <- function(units, intervals, n_intervals) {
  size <- ncol(units)
  if (size == 1L) {
    pairs <- expand.grid(first = units[, 1], second = units[, 1], k = seq_len(n_intervals))
    return(list(units = unname(as.matrix(pairs[1:2])), intervals = matrix(pairs$k)))
  }
  key <- \(columns, gaps) do.call(paste, c(
    lapply(columns, \(i) units[, i]), lapply(gaps, \(i) intervals[, i])))
  head <- key(seq_len(size - 1L), seq_len(size - 2L))
  tail <- key(seq_len(size)[-1L], seq_len(size - 1L)[-1L])
  pairs <- merge(data.frame(key = tail, a = seq_along(tail)),
                 data.frame(key = head, b = seq_along(head)))
  list(units = cbind(units[pairs$a, , drop = FALSE], units[pairs$b, size]),
       intervals = cbind(intervals[pairs$a, , drop = FALSE], intervals[pairs$b, size - 1L]))
}

# A row for each way, which all give the same counts.
compare_ways <- function(work, candidates, min_count, dedup) {
  expected <- NULL
  by_way(ways, dedup, function(compaction, dedup) {
    counted <- count_by_way(work, candidates, compaction, dedup)
    if (is.null(expected)) expected <<- counted$count
    stopifnot(identical(counted$count, expected),
              sum(counted$count >= min_count) == candidates$frequent)
    data.frame(compaction = compaction, dedup = dedup, size = candidates$size,
               candidates = nrow(candidates$units), ms = counted$ms)
  })
}

# The ways of bringing occurrences together, size by size.
measure_ways <- function(sym26_count = 300, tc89_count = 2000) {
  tasks <- list(list(work = sym26(), min_count = sym26_count, max_size = Inf),
                list(work = tc89(), min_count = tc89_count, max_size = 3))
  bind(lapply(tasks, function(task) {
    sizes <- candidates_of(task$work, task$min_count, task$max_size)
    rows <- bind(lapply(sizes, \(size) compare_ways(task$work, size, task$min_count,
                                                    c(TRUE, FALSE))))
    message("  ", task$work$name, " done")
    data.frame(work = task$work$name, min_count = task$min_count, rows)
  }))
}

# The same at size 3 in longer and longer recordings, all occurrences kept as published.
# The least count grows with the recording, so that about the same episodes are candidates.
measure_lengths <- function(durations = c(7.5, 15, 30, 60, 120, 240, 480), per_second = 5) {
  bind(lapply(durations, function(duration) {
    work <- sym26(duration)
    min_count <- round(per_second * duration)
    of_three <- candidates_of(work, min_count, 3)[[2L]]
    message("  ", duration, " s done")
    data.frame(duration = duration, spikes = nrow(work$x),
               compare_ways(work, of_three, min_count, FALSE))
  }))
}

by_way <- function(ways, dedup, measure) {
  grid <- expand.grid(compaction = ways, dedup = dedup, stringsAsFactors = FALSE)
  bind(Map(measure, grid$compaction, grid$dedup))
}

# Where there are bursts, as far as it goes: as published, ours keeping all occurrences,
# and ours keeping one for each end.
measure_bursts <- function(min_count = 200, max_size = 6) {
  work <- bursts()
  kinds <- list(list("atomic-compact", FALSE), list("count-once", FALSE),
                list("count-once", TRUE))
  bind(lapply(kinds, \(kind) burst_sizes(work, kind[[1L]], kind[[2L]], min_count, max_size)))
}

# Mines up to 2, 3, ... units until that is refused. A size that is likely to take more
# than `patience` seconds, from the growth so far, is not tried.
burst_sizes <- function(work, compaction, dedup, min_count, max_size, patience = 8) {
  rows <- list()
  before <- Inf
  for (size in 2:max_size) {
    row <- data.frame(work = work$name, spikes = nrow(work$x), min_count = min_count,
                      compaction = compaction, dedup = dedup, size = size,
                      candidates = NA, frequent = NA, ms = NA, refused = NA)
    found <- tryCatch(
      mine(work, min_count, "occurrence", compaction = compaction, dedup = dedup,
           max_size = size, runs = 3),
      synfire_error = identity
    )
    if (inherits(found, "condition")) {
      row$refused <- gsub("\\s+", " ", cli::ansi_strip(conditionMessage(found)))
      message("  refused: ", row$refused)
      return(bind(c(rows, list(row))))
    }
    level <- levels_of(found)
    if (nrow(level) < size - 1L) break
    row[c("candidates", "frequent", "ms")] <- level[size - 1L, c("candidates", "frequent", "ms")]
    rows <- c(rows, list(row))
    if (row$ms * max(1, row$ms / before) > 1000 * patience) break
    before <- row$ms
  }
  bind(rows)
}

# A thread for an occurrence next to a thread for an episode, and to the CPU.
measure_engines <- function() {
  tasks <- list(list(work = sym26(), min_count = 300), list(work = tc89(), min_count = 2000))
  bind(lapply(tasks, function(task) {
    runs <- list(list("gpu", "occurrence", compaction = "atomic-compact", dedup = FALSE),
                 list("gpu", "occurrence", compaction = "count-once", dedup = TRUE),
                 list("gpu", "ptpe"), list("gpu", "mtpe"), list("gpu", "window"),
                 list("cpu", "window"), list("cpu", "state"))
    bind(lapply(runs, function(run) {
      found <- do.call(mine, c(list(task$work, task$min_count, run[[2L]], device = run[[1L]],
                                    max_size = 3), run[-(1:2)]))
      data.frame(work = task$work$name, min_count = task$min_count, device = run[[1L]],
                 engine = run[[2L]], compaction = if (is.null(run$compaction)) NA else run$compaction,
                 dedup = if (is.null(run$dedup)) NA else run$dedup,
                 candidates = sum(levels_of(found)$candidates), ms = attr(found, "ms"))
    }))
  }))
}

# ---- What the kernels take -------------------------------------------------------------

# Kernels by what they are for, in the order of a step.
purposes <- c(
  search = "find_longer|extend_by|extend_sparse", `prefix sum` = "Scan",
  write = "write_found|pack_sparse",
  sort = "RadixSort", thin = "ReduceByKey", take = "take_disjoint"
)

# The time of each kernel of one search up to size 3, all occurrences kept as published.
# Nsight Compute reads it, in another R process.
measure_kernels <- function() {
  places <- c(Sys.which("ncu"),
              Sys.glob(c("/usr/local/cuda*/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")))
  places <- places[nzchar(places)]
  if (length(places) == 0L) stop("Nsight Compute (ncu) is not here")
  bind(lapply(ways, \(way) profile(places[[1L]], way)))
}

profile <- function(ncu, way) {
  log <- tempfile()
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  args <- c("--target-processes", "all", "--clock-control", "none", "--csv",
            "--print-units", "base", "--log-file", log, "--metrics", "gpu__time_duration.sum",
            file.path(R.home("bin"), "Rscript"), script, tempfile(), "profiled", way)
  said <- suppressWarnings(system2("timeout", shQuote(c("60", ncu, args)), stdout = TRUE,
                                   stderr = TRUE))
  lines <- if (file.exists(log)) readLines(log) else character()
  table <- grep("^\"", lines, value = TRUE)
  if (length(table) < 2L) stop(way, ": ", paste(utils::tail(c(lines, said), 3), collapse = " "))
  read <- utils::read.csv(text = table, check.names = FALSE)
  nanoseconds <- as.numeric(gsub(",", "", read[["Metric Value"]]))
  purpose <- rep("other", nrow(read))
  for (name in names(purposes)) purpose[grepl(purposes[[name]], read[["Kernel Name"]])] <- name
  # The kernel that writes searches again there.
  if (way == "count-scan-write") purpose[purpose == "write"] <- "second search"
  message("  ", way, ": ", nrow(read), " kernels")
  sums <- aggregate(data.frame(kernels = 1, ms = nanoseconds / 1e6), list(purpose = purpose), sum)
  data.frame(compaction = way, sums)
}

run_profiled <- function(way, min_count = 300) {
  work <- sym26()
  mine_episodes(work$x, min_count, work$delays, max_size = 3, distinct_units = FALSE,
                engine = list("occurrence", compaction = way, dedup = FALSE), device = "gpu")
}

bind <- function(rows) {
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

# ---- What it ran on --------------------------------------------------------------------

machine <- function() {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) == 0L) stop("there is no GPU here: ", report$cuda$reason)
  cpu <- if (file.exists("/proc/cpuinfo")) {
    sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L])
  } else NA
  data.frame(gpu = report$devices$name[[1L]],
             multiprocessors = report$devices$multiprocessors[[1L]],
             cuda = report$cuda$runtime, cpu = cpu, date = format(Sys.Date()),
             synfire = report$version)
}

main <- function(out, parts) {
  all_parts <- c("ways", "bursts", "lengths", "engines", "kernels")
  if (length(parts) == 0L) parts <- all_parts
  stopifnot(!is.na(out), parts %in% all_parts)
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  ran_on <- machine()
  failed <- FALSE
  for (part in parts) {
    message(part)
    seconds <- system.time(
      table <- try(get(paste0("measure_", part))())
    )[["elapsed"]]
    if (inherits(table, "try-error")) {
      failed <- TRUE
    } else {
      table$ms <- signif(table$ms, 6)
      utils::write.csv(cbind(table, ran_on), file.path(out, paste0(part, ".csv")),
                       row.names = FALSE)
    }
    message(sprintf("%s took %.1f s", part, seconds))
  }
  if (failed) stop("not all parts were measured")
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  if (identical(arguments[2L], "profiled")) invisible(run_profiled(arguments[3L])) else {
    main(arguments[1L], arguments[-1L])
  }
}
