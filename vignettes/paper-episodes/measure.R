# The measurements shown in vignette("gpu-strategies").
#
# Rscript measure.R OUT_FOLDER [PART ...]
#
# Parts: crossover, passes, engines, compaction, merge on one GPU, all of them if none is
# named, and gpus on several. Each writes its tables to OUT_FOLDER when it is done: CSV,
# times in milliseconds, medians of warm runs. The environment variable SYNFIRE_DATA names
# the folder with episodes/tc89.csv.gz and episodes/axion_B3.csv.gz.

library(synfire)
options(cli.progress_show_after = Inf)

three_delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))

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
works <- function() {
  list(
    sym26 = list(name = "Sym26", x = seeded(simulate_sym26), delays = three_delays),
    tc89 = list(name = "tc89", x = read_recording("tc89"), delays = c(0.005, 0.015)),
    axion = list(name = "axion B3", x = read_recording("axion_B3"),
                 delays = rbind(c(0, 0.01), c(0.01, 0.03))),
    bursts = list(name = "bursts", x = busiest(seeded(simulate_culture, duration = 120), 3),
                  delays = c(0, 0.05))
  )
}

# The n channels with most spikes.
busiest <- function(x, n) {
  x[unit = names(sort(table(x$unit), decreasing = TRUE))[seq_len(n)]]
}

# ---- Timing ----------------------------------------------------------------------------

# Mine once to warm up, then `runs` times; what takes longer than `patience` s is mined
# once. Gives the last result, with the medians in place of its times.
mine <- function(work, min_count, engine, ..., device = "gpu", runs = 3, patience = 1) {
  once <- \() mine_episodes(work$x, min_count, work$delays, engine = engine,
                            device = device, threads = 1, ...)
  found <- list(once())
  if (attr(found[[1L]], "elapsed") < patience) found <- replicate(runs, once(), FALSE)
  middle <- \(of) apply(rbind(vapply(found, of, of(found[[1L]]))), 1L, median)
  out <- found[[length(found)]]
  attr(out, "call_ms") <- 1000 * middle(\(of) attr(of, "elapsed"))
  attr(out, "device_ms") <- 1000 * middle(\(of) attr(of, "device_elapsed") %||%
                                            attr(of, "elapsed"))
  attr(out, "level_ms") <- 1000 * middle(\(of) attr(of, "levels")$seconds)
  message(sprintf("  %s, %s: %s on the %s%s, %.1f ms", work$name, min_count, engine, device,
                  if (...length()) paste0(" (", paste(names(list(...)), unlist(lapply(
                    list(...), \(a) paste(a, collapse = ","))), collapse = ", "), ")")
                  else "", attr(out, "device_ms")))
  out
}

`%||%` <- function(a, b) if (is.null(a)) b else a

# ---- Parts -----------------------------------------------------------------------------

# Figures 9 and 10 and table 1 of Cao et al. (2010). Few episodes are timed often; a
# million is past all crossovers and shows the slope alone.
measure_crossover <- function(works, sizes = 2:8, few = 2^seq(6, 12, 2), near = 2^(14:18),
                              many = 2^20, many_sizes = c(2, 4, 8)) {
  x <- works$sym26$x
  low <- calibrate_gpu(x, sizes, few, repeats = 5)
  message("  few episodes done")
  middle <- calibrate_gpu(x, sizes, near, repeats = 2, save = TRUE)
  message("  episodes near the crossover done")
  high <- calibrate_gpu(x, many_sizes, many, repeats = 1)
  times <- do.call(rbind, lapply(list(low, middle, high), as.data.frame))
  times <- data.frame(times[c("size", "episodes")], ptpe_ms = 1000 * times$ptpe,
                      mtpe_ms = 1000 * times$mtpe)
  list(crossover_times = times[order(times$size, times$episodes), ],
       crossover = attr(middle, "crossover"),
       crossover_fit = data.frame(t(attr(middle, "fit"))))
}

# Figures 11 and 12: one pass, and two.
measure_passes <- function(works, counts = list(sym26 = c(100, 150, 200, 300, 400),
                                                tc89 = c(800, 1000, 1500, 2000),
                                                axion = c(200, 250, 300))) {
  rows <- lapply(names(counts), function(name) {
    lapply(counts[[name]], function(min_count) {
      lapply(c("hybrid", "two-pass"), function(engine) {
        found <- mine(works[[name]], min_count, engine)
        data.frame(work = works[[name]]$name, spikes = nrow(works[[name]]$x),
                   min_count = min_count, engine = engine, levels_of(found))
      })
    })
  })
  list(passes = bind(unlist(unlist(rows, FALSE), FALSE)))
}

levels_of <- function(found) {
  levels <- attr(found, "levels")
  levels$seconds <- NULL
  levels$ms <- attr(found, "level_ms")
  levels[-1L, ]
}

# Figure 16: all engines on one GPU, and those of the CPU on one thread.
measure_engines <- function(works, counts = list(sym26 = 300, tc89 = 1500, axion = 300),
                            gpu_counts = list(sym26 = 150, tc89 = 800)) {
  cpu <- lapply(names(counts), \(name) engines_of(works[[name]], counts[[name]], TRUE))
  gpu <- lapply(names(gpu_counts), \(name) engines_of(works[[name]], gpu_counts[[name]], FALSE))
  list(engines = bind(c(cpu, gpu)))
}

engines_of <- function(work, min_count, published_cpu) {
  runs <- rbind(
    data.frame(device = "cpu", engine = c("window", if (published_cpu) c("state", "two-pass"))),
    data.frame(device = "gpu", engine = c("window", "ptpe", "mtpe", "hybrid", "two-pass",
                                          "occurrence"))
  )
  expected <- NULL
  bind(lapply(seq_len(nrow(runs)), function(i) {
    found <- mine(work, min_count, runs$engine[[i]], device = runs$device[[i]])
    if (is.null(expected)) expected <<- as.data.frame(found)
    stopifnot(identical(as.data.frame(found), expected))
    data.frame(work = work$name, min_count = min_count, as.list(runs[i, ]),
               candidates = sum(attr(found, "levels")$candidates[-1L]),
               frequent = nrow(found), device_ms = attr(found, "device_ms"),
               call_ms = attr(found, "call_ms"))
  }))
}

# Chapter 15 of GPU Computing Gems: bringing occurrences together, by size; and without
# deduplication where there are bursts, as far as that goes.
measure_compaction <- function(works, min_count = 300, burst_count = 200, burst_size = 6) {
  ways <- expand.grid(compaction = c("atomic", "scan", "count-scan-write"),
                      dedup = c(TRUE, FALSE), stringsAsFactors = FALSE)
  by_way <- function(work, min_count, ways, ...) {
    bind(lapply(seq_len(nrow(ways)), function(i) {
      found <- mine(work, min_count, "occurrence", compaction = ways$compaction[[i]],
                    dedup = ways$dedup[[i]], ...)
      data.frame(work = work$name, min_count = min_count, as.list(ways[i, ]),
                 levels_of(found))
    }))
  }
  list(compaction = by_way(works$sym26, min_count, ways),
       bursts = bind(lapply(c(TRUE, FALSE), burst_sizes, works$bursts, burst_count,
                            burst_size)))
}

# Mine up to 2, 3, ... units until that is refused. A size that is likely to take more
# than `patience` seconds, from the growth so far, is not tried.
burst_sizes <- function(dedup, work, min_count, max_size, patience = 15) {
  rows <- list()
  before <- Inf
  for (size in 2:max_size) {
    row <- data.frame(work = work$name, min_count = min_count, dedup = dedup, size = size,
                      candidates = NA, frequent = NA, ms = NA, refused = NA)
    found <- tryCatch(
      mine(work, min_count, "occurrence", dedup = dedup, max_size = size),
      synfire_error = identity
    )
    if (inherits(found, "condition")) {
      row$refused <- gsub("\\s+", " ", cli::ansi_strip(conditionMessage(found)))
      message("  refused: ", row$refused)
      return(bind(c(rows, list(row))))
    }
    level <- attr(found, "levels")
    if (nrow(level) < size) break
    row[c("candidates", "frequent")] <- level[size, c("candidates", "frequent")]
    row$ms <- attr(found, "level_ms")[[size]]
    rows <- c(rows, list(row))
    if (row$ms * max(1, row$ms / before) > 1000 * patience) break
    before <- row$ms
  }
  bind(rows)
}

# Episodes that the published merge of MTPE cannot put together.
measure_merge <- function(works, counts = list(sym26 = 150, tc89 = 800, axion = 200)) {
  list(merge = bind(lapply(names(counts), function(name) {
    found <- mine(works[[name]], counts[[name]], "mtpe", merge = "published", runs = 1)
    data.frame(work = works[[name]]$name, min_count = counts[[name]], levels_of(found))
  })))
}

# Figures 13 to 15 and table 2: a level of eight million candidates on several GPUs.
measure_gpus <- function(works, min_count = 20, max_size = 4,
                         numbers = c(1, 2, 4, 8)) {
  there <- nrow(synfire_sitrep(test_devices = FALSE)$devices)
  rows <- lapply(numbers[numbers <= there], function(n) {
    mine(works$sym26, 400, "ptpe", gpus = seq_len(n), runs = 1)
    lapply(c("window", "ptpe"), function(engine) {
      found <- mine(works$sym26, min_count, engine, max_size = max_size, top = 10,
                    gpus = seq_len(n), runs = if (engine == "window") 20 else 1)
      levels <- attr(found, "levels")
      shares <- attr(found, "gpus")
      data.frame(work = works$sym26$name, min_count = min_count, engine = engine, gpus = n,
                 gpu = shares$gpu, share = shares$candidates,
                 candidates = sum(levels$candidates[-1L]),
                 last_level = levels$candidates[[nrow(levels)]],
                 last_ms = attr(found, "level_ms")[[nrow(levels)]],
                 device_ms = attr(found, "device_ms"), call_ms = attr(found, "call_ms"))
    })
  })
  list(gpus = bind(unlist(rows, FALSE)))
}

bind <- function(rows) {
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

# ---- What it ran on --------------------------------------------------------------------

machine <- function() {
  report <- synfire_sitrep(test_devices = FALSE)
  asked <- tryCatch(
    system2("nvidia-smi", c("--query-gpu=driver_version", "--format=csv,noheader"),
            stdout = TRUE, stderr = FALSE),
    error = \(e) NA, warning = \(w) NA
  )
  cpu <- if (file.exists("/proc/cpuinfo")) {
    sub(".*: *", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L])
  } else NA
  data.frame(gpu = report$devices$name[[1L]], gpus = nrow(report$devices),
             multiprocessors = report$devices$multiprocessors[[1L]],
             driver = asked[1L], cuda = report$cuda$runtime, cpu = cpu,
             date = format(Sys.Date()), synfire = report$version)
}

write_tables <- function(tables, out) {
  for (name in names(tables)) {
    table <- tables[[name]]
    doubles <- vapply(table, is.double, TRUE)
    table[doubles] <- lapply(table[doubles], signif, 7)
    utils::write.csv(table, file.path(out, paste0(name, ".csv")), row.names = FALSE)
  }
}

main <- function(out, parts) {
  one_gpu <- c("crossover", "passes", "engines", "compaction", "merge")
  if (length(parts) == 0L) parts <- one_gpu
  stopifnot(!is.na(out), parts %in% c(one_gpu, "gpus"))
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  if (any(parts %in% one_gpu)) write_tables(list(machine = machine()), out)
  if ("gpus" %in% parts) write_tables(list(machine_gpus = machine()), out)
  works <- works()
  failed <- FALSE
  for (part in parts) {
    message(part)
    seconds <- system.time(
      tables <- try(get(paste0("measure_", part))(works))
    )[["elapsed"]]
    if (inherits(tables, "try-error")) failed <- TRUE else write_tables(tables, out)
    message(sprintf("%s took %.1f s", part, seconds))
  }
  if (failed) stop("not all parts were measured")
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  main(arguments[1L], arguments[-1L])
}
