# The measurements shown in vignette("paper-episodes").
#
# Rscript measure.R OUT_FOLDER [PART ...]
#
# Parts, in this order when none is named: crossover, levels, gpus, engines, counters,
# culture and preelim. All but the last two need a machine with NVIDIA GPUs and, for the counters, Nsight
# Compute (ncu); engines also times the CPU, with up to all its cores. With two H200 all of
# them take three minutes.
# Each part writes its tables to OUT_FOLDER when it is done: CSV, times in milliseconds,
# medians of warm runs, with the machine, the date and the version of synfire. The
# environment variable SYNFIRE_DATA names the folder with episodes/tc89.csv.gz and
# episodes/axion_B3.csv.gz, and with the cultures of the papers, episodes/culture-2-1-33.spk.txt.gz
# and so on (`Rscript tools/get-data.R dense`): those of days 33 to 35 that are there, else that
# of day 20. With QUICK=1 the work is small, to try the script.

library(synfire)
source("tools/data.R")
options(cli.progress_show_after = Inf)
# The user's own calibration of the hybrid is neither used nor changed.
Sys.setenv(R_USER_CACHE_DIR = tempfile("synfire-"))

three_delays <- rbind(c(0, 0.005), c(0.005, 0.010), c(0.010, 0.015))
quick <- nzchar(Sys.getenv("QUICK"))

# ---- Recordings ------------------------------------------------------------------------

read_recording <- function(name) {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "episodes", paste0(name, ".csv.gz"))
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with episodes/", basename(file))
  read_spikes(file, time_unit = "ms")
}

sym26 <- function(...) {
  set.seed(1)
  simulate_sym26(...)
}

# The days of the papers' cultures that are there, else day 20.
days_here <- function(folder = Sys.getenv("SYNFIRE_DATA")) {
  file <- \(day) file.path(folder, "episodes", sprintf("culture-2-1-%d.spk.txt.gz", day))
  days <- Filter(\(day) file.exists(file(day)), 33:35)
  if (length(days) == 0L) days <- Filter(\(day) file.exists(file(day)), 20)
  stats::setNames(file(days), sprintf("culture 2-1-%d", days))
}

# What is mined: a name, a recording, and delays in seconds.
works <- function() {
  cultures <- days_here()
  c(
    list(
      sym26 = list(name = "Sym26", x = if (quick) sym26(duration = 10) else sym26(),
                   delays = three_delays),
      tc89 = list(name = "tc89", x = read_recording("tc89"), delays = c(0.005, 0.015)),
      axion = list(name = "axion B3", x = read_recording("axion_B3"),
                   delays = rbind(c(0, 0.01), c(0.01, 0.03)))
    ),
    Map(\(file, name) {
      list(name = name, x = read_spikes(file, time_unit = "s"), delays = c(0.005, 0.015))
    }, cultures, names(cultures))
  )
}

# The same thresholds for each of the papers' cultures.
for_cultures <- function(works, counts) {
  cultures <- grep("^culture ", names(works), value = TRUE)
  stats::setNames(rep(list(counts), length(cultures)), cultures)
}

# ---- Timing ----------------------------------------------------------------------------

# Mine once to warm up, then `runs` times; what takes longer than `patience` s is mined
# once. Gives the last result, with the medians in place of its times.
mine <- function(work, min_count, engine, ..., merge = "exact", device = "gpu", threads = 1,
                 runs = 3, patience = 1) {
  once <- \() mine_episodes(work$x, min_count, work$delays, distinct_units = FALSE,
                            engine = if (merge == "exact") engine else list(engine, merge = merge),
                            device = device, threads = threads, ...)
  found <- list(once())
  if (attr(found[[1L]], "elapsed") < patience) found <- replicate(runs, once(), FALSE)
  middle <- \(of) apply(rbind(vapply(found, of, of(found[[1L]]))), 1L, median)
  out <- found[[length(found)]]
  attr(out, "call_ms") <- 1000 * middle(\(of) attr(of, "elapsed"))
  attr(out, "device_ms") <- 1000 * middle(\(of) attr(of, "device_elapsed") %||%
                                            attr(of, "elapsed"))
  levels <- attr(out, "levels")
  for (column in c("seconds", "copy_seconds", "published_seconds")) {
    if (!is.null(levels[[column]])) {
      levels[[sub("seconds", "ms", column)]] <-
        1000 * middle(\(of) attr(of, "levels")[[column]])
      levels[[column]] <- NULL
    }
  }
  names(levels) <- sub("^seconds$", "ms", names(levels))
  attr(out, "levels") <- levels[-1L, ]
  message(sprintf("  %s, %s: %s on the %s, %.1f ms", work$name, min_count, engine, device,
                  attr(out, "device_ms")))
  out
}

`%||%` <- function(a, b) if (is.null(a)) b else a

gpus_here <- function() nrow(synfire_sitrep(test_devices = FALSE)$devices)

# What a search tells of where its time went. The window engine has no times of kernels.
times_of <- function(found) {
  levels <- attr(found, "levels")
  data.frame(candidates = sum(levels$candidates), frequent = nrow(found),
             kernels_ms = sum(levels$ms), copy_ms = sum(levels$copy_ms %||% NA),
             device_ms = attr(found, "device_ms"), call_ms = attr(found, "call_ms"))
}

# ---- Parts -----------------------------------------------------------------------------

# Figures 9 and 10 and table 1 of Cao et al. (2010): PTPE, MTPE, and MTPE with the published
# merge, by size and number of episodes. Many numbers near the crossing, each run `repeats`
# times; the rule comes from calibrate_gpu(), which the same runs go into.
measure_crossover <- function(works, sizes = 2:8,
                              episodes = round(2^c(seq(6, 12, 2), seq(14, 18.5, 0.5))),
                              repeats = 5, published_sizes = c(2, 4, 6, 8)) {
  if (quick) {
    sizes <- 2:3
    episodes <- c(64, 1024, 16384)
    repeats <- published_sizes <- 2
  }
  x <- works$sym26$x
  made <- calibrate_gpu(x, sizes, episodes, repeats = repeats, save = TRUE)
  runs <- attr(made, "runs")
  spread <- function(column) {
    of <- stats::aggregate(runs[[column]], runs[c("episodes", "size")],
                           \(s) 1000 * c(median(s), min(s), max(s)))
    out <- data.frame(of[c("size", "episodes")], of$x)
    names(out)[3:5] <- paste0(column, c("_ms", "_min", "_max"))
    out
  }
  message("  PTPE and MTPE done")
  times <- merge(spread("ptpe"), spread("mtpe"))
  list(crossover_times = times[order(times$size, times$episodes), ],
       published = published_merge(x, published_sizes, episodes[log2(episodes) %% 2 == 0]),
       crossover = attr(made, "crossover"),
       crossover_fit = data.frame(
         term = c("a", "b"), estimate = attr(made, "fit"), error = attr(made, "fit_error")
       ),
       crossover_cost = data.frame(rule = c(names(attr(made, "cost")), "uncalibrated"),
                                   over_faster = c(attr(made, "cost"), uncalibrated(made))))
}

# What the rule costs that the hybrid goes by without a calibration.
uncalibrated <- function(made) {
  internal <- asNamespace("synfire")
  rule <- internal$gpu_crossover("a GPU that nobody calibrated")
  internal$cost_of_rule(made, attr(made, "crossover"), c(a = rule[[1]], b = rule[[2]]))[["rule"]]
}

# The exact merge and the published one on the same episodes.
published_merge <- function(x, sizes, numbers, repeats = 2) {
  internal <- asNamespace("synfire")
  events <- internal$trains_of(x)
  ticks <- list(low = c(0, 5000, 10000), high = c(5000, 10000, 15000))
  cells <- expand.grid(episodes = numbers, size = sizes)
  bind(lapply(seq_len(nrow(cells)), function(i) {
    drawn <- internal$random_candidates(cells$episodes[[i]], cells$size[[i]], events$units, 3L)
    counted <- internal$gpu_count(
      events, ticks, drawn$units, drawn$intervals,
      internal$gpu_request("mtpe", 0L, "published"), times = repeats + 1L
    )
    data.frame(size = cells$size[[i]], episodes = cells$episodes[[i]],
               exact_ms = 1000 * median(counted$seconds[-1L]),
               published_ms = 1000 * median(counted$published_seconds[-1L]),
               unmatched = counted$report$unmatched / (repeats + 1))
  }))
}

# Figure 16: all engines on one GPU, and those of the CPU with 1 and 4 threads and all
# cores. The hybrid as it comes, and as calibrated.
measure_engines <- function(works, counts = list(sym26 = c(300, 150), tc89 = c(1500, 800),
                                                 axion = 300)) {
  cores <- parallel::detectCores()
  counts <- c(counts, for_cultures(works, 500))
  if (quick) counts <- list(sym26 = 60)
  rows <- lapply(names(counts), function(name) {
    lapply(counts[[name]], function(min_count) {
      first <- min_count == max(counts[[name]])
      engines_of(works[[name]], min_count, unique(c(1, min(4, cores), cores)), first)
    })
  })
  list(engines = bind(unlist(rows, FALSE)))
}

# The published algorithms on the CPU are timed where that takes seconds.
engines_of <- function(work, min_count, threads, published) {
  cpu <- expand.grid(threads = threads, engine = c("window", if (published) "state",
                                                   if (published) "two-pass"),
                     device = "cpu", stringsAsFactors = FALSE)
  gpu <- data.frame(threads = 1, device = "gpu",
                    engine = c("window", "ptpe", "mtpe", "hybrid", "hybrid calibrated",
                               "two-pass", "occurrence"))
  runs <- rbind(cpu, gpu)
  if (gpus_here() == 0L) runs <- cpu
  expected <- NULL
  bind(lapply(seq_len(nrow(runs)), function(i) {
    use_calibration(runs$engine[[i]] == "hybrid calibrated")
    found <- mine(work, min_count, sub(" calibrated", "", runs$engine[[i]]),
                  device = runs$device[[i]], threads = runs$threads[[i]])
    if (is.null(expected)) expected <<- as.data.frame(found)
    stopifnot(identical(as.data.frame(found), expected))
    data.frame(work = work$name, min_count = min_count, as.list(runs[i, ]),
               times_of(found))
  }))
}

# The hybrid finds its rule in a file, which is put aside for the rule that it has without.
use_calibration <- function(yes) {
  file <- asNamespace("synfire")$crossover_file()
  aside <- paste0(file, ".aside")
  if (yes && file.exists(aside)) file.rename(aside, file)
  if (!yes && file.exists(file)) file.rename(file, aside)
  invisible()
}

# Figures 13 to 15 and table 2: whole searches on 1, 2, 4, 8 GPUs, from what a level of eight
# million candidates takes there to thresholds that leave each GPU next to none.
measure_gpus <- function(works, counts = list(sym26 = c(20, 40, 100, 300, 800)),
                         engines = c("ptpe", "two-pass", "window"),
                         numbers = c(1, 2, 4, 8)) {
  counts <- c(counts, for_cultures(works, c(500, 800, 1300)))
  if (quick) counts <- list(sym26 = c(50, 60))
  searches <- data.frame(work = rep(names(counts), lengths(counts)), min_count = unlist(counts))
  rows <- lapply(numbers[numbers <= gpus_here()], function(n) {
    mine(works$sym26, 400, "ptpe", gpus = seq_len(n), runs = 1)
    lapply(seq_len(nrow(searches)), function(i) {
      work <- works[[searches$work[[i]]]]
      min_count <- searches$min_count[[i]]
      max_size <- if (min_count == 20) 4 else Inf
      lapply(engines, function(engine) {
        found <- mine(work, min_count, engine, max_size = max_size, top = 10,
                      gpus = seq_len(n), runs = if (engine == "window") 9 else 1)
        levels <- attr(found, "levels")
        largest <- which.max(levels$candidates)
        shares <- attr(found, "gpus")
        data.frame(work = work$name, min_count = min_count, max_size = max_size,
                   engine = engine, gpus = n, gpu = shares$gpu,
                   share = shares$candidates, largest_size = levels$size[[largest]],
                   largest_level = levels$candidates[[largest]],
                   largest_ms = levels$ms[[largest]], times_of(found))
      })
    })
  })
  list(gpus = bind(unlist(unlist(rows, FALSE), FALSE)))
}

# Figures 11 and 12, and time by size: every level of whole searches. MTPE also runs the
# published merge, for its time and for the episodes that it has no answer for.
measure_levels <- function(works, counts = list(sym26 = c(100, 150, 200, 300),
                                                tc89 = c(800, 1000, 1500, 2000),
                                                axion = c(200, 250, 300)), runs = 2) {
  counts <- c(counts, for_cultures(works, c(500, 800, 1300)))
  if (quick) counts <- list(sym26 = c(60, 80))
  use_calibration(TRUE)
  rows <- lapply(names(counts), function(name) {
    lapply(counts[[name]], function(min_count) {
      lapply(c("ptpe", "mtpe", "hybrid", "two-pass"), function(engine) {
        found <- mine(works[[name]], min_count, engine, runs = runs,
                      merge = if (engine == "mtpe") "published" else "exact")
        levels <- attr(found, "levels")
        for (column in c("unmatched", "published_ms")) {
          if (is.null(levels[[column]])) levels[[column]] <- NA
        }
        data.frame(work = works[[name]]$name, spikes = nrow(works[[name]]$x),
                   min_count = min_count, engine = engine,
                   levels[c("size", "candidates", "eliminated", "frequent", "mtpe", "ms",
                            "copy_ms", "unmatched", "published_ms")])
      })
    })
  })
  list(levels = bind(unlist(unlist(rows, FALSE), FALSE)))
}

# ---- Counters of the profiler ----------------------------------------------------------

# What Nsight Compute is asked for. Counters of a group are read together.
counter_groups <- list(
  loads = c("smsp__inst_executed_op_global_ld.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed.sum",
            "gpu__time_duration.sum"),
  branches = c("smsp__inst_executed_op_branch.sum",
               "smsp__sass_branch_targets_threads_divergent.sum",
               "smsp__thread_inst_executed_per_inst_executed.ratio")
)
counting_kernels <- "count_whole|count_segments|stitch_segments|bound_counts|run_published"

# The profiler replays each kernel of a search by another R process; one that is not there
# or refuses is said in the table, which then has no counters.
measure_counters <- function(works, engines = c("ptpe", "two-pass", "mtpe")) {
  ncu <- Sys.which("ncu")
  if (!nzchar(ncu)) {
    there <- Sys.glob(c("/usr/local/cuda*/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu"))
    ncu <- if (length(there)) there[[1L]] else ""
  }
  asked <- expand.grid(group = names(counter_groups), engine = engines,
                       stringsAsFactors = FALSE)
  list(counters = bind(lapply(seq_len(nrow(asked)), function(i) {
    if (nzchar(ncu)) {
      profile(ncu, asked$engine[[i]], asked$group[[i]])
    } else no_counters(asked$engine[[i]], asked$group[[i]], "Nsight Compute is not installed")
  })))
}

no_counters <- function(engine, group, why) {
  data.frame(engine = engine, group = group, kernel = NA, size = NA, metric = NA, value = NA,
             said = why)
}

profile <- function(ncu, engine, group) {
  log <- tempfile()
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  args <- c("--target-processes", "all", "--clock-control", "none", "--csv", "--print-units", "base", "--log-file", log,
            "--kernel-name", paste0("regex:", counting_kernels),
            "--metrics", paste(counter_groups[[group]], collapse = ","),
            file.path(R.home("bin"), "Rscript"), script, tempfile(), "profiled", engine)
  said <- suppressWarnings(system2("timeout", shQuote(c("40", ncu, args)), stdout = TRUE,
                                   stderr = TRUE))
  lines <- if (file.exists(log)) readLines(log) else character()
  table <- grep("^\"", lines, value = TRUE)
  if (length(table) < 2L) {
    why <- grep("^==(ERROR|WARNING)==", c(lines, said), value = TRUE)
    why <- if (length(why)) sub("^==[A-Z]+== ", "", why[[1L]]) else "it gave no counters"
    message("  ", engine, ", ", group, ": ", why)
    return(no_counters(engine, group, why))
  }
  read <- utils::read.csv(text = table, check.names = FALSE)
  kernel <- sub("^.*?([a-z_]+)<.*$", "\\1", read[["Kernel Name"]], perl = TRUE)
  size <- as.integer(sub("^.*<[^0-9]*(?:\\(int\\))?([0-9]+)>.*$", "\\1",
                         read[["Kernel Name"]], perl = TRUE))
  value <- as.numeric(gsub(",", "", read[["Metric Value"]]))
  message("  ", engine, ", ", group, ": ", length(unique(read$ID)), " kernels")
  data.frame(engine = engine, group = group, kernel = kernel, size = size,
             metric = read[["Metric Name"]], value = value, said = NA)
}

# What is profiled: the first sizes of a search, the second pass by PTPE as in the paper.
run_profiled <- function(engine, min_count = 150, max_size = 4) {
  x <- if (quick) sym26(duration = 10) else sym26()
  name <- synfire_sitrep(test_devices = FALSE)$devices$name[[1L]]
  asNamespace("synfire")$save_crossover(name, 0, 0)
  mine_episodes(x, min_count, three_delays, max_size = max_size, distinct_units = FALSE,
                engine = if (engine == "mtpe") list(engine, merge = "published") else engine,
                device = "gpu")
}

# ---- On any machine --------------------------------------------------------------------

# The most frequent episodes of three units in the culture, for the drawing of its circuit.
measure_culture <- function(works, min_count = 1000, n = 40) {
  found <- mine_episodes(works$tc89$x, min_count, works$tc89$delays, distinct_units = TRUE,
                         threads = 2, max_size = 3)
  found <- head(found[found$size == 3, ], n)
  text <- \(column) vapply(column, paste, "", collapse = " ")
  list(culture = data.frame(units = text(found$units), low = text(found$low),
                            high = text(found$high), count = found$count))
}

# How many candidates the first pass eliminates in the cultures of the papers, with the delays of
# the first row of theirs.
measure_preelim <- function(works, counts = c(1000, 500, 300)) {
  searches <- expand.grid(min_count = counts, work = names(for_cultures(works, counts)),
                          stringsAsFactors = FALSE)
  list(preelim = bind(Map(\(min_count, work) {
    found <- mine_episodes(works[[work]]$x, min_count, works[[work]]$delays,
                           distinct_units = FALSE, engine = "two-pass", threads = 2)
    levels <- attr(found, "levels")
    data.frame(work, min_count, levels[-1L, c("size", "candidates", "eliminated")])
  }, searches$min_count, searches$work)))
}

# ---- What it ran on --------------------------------------------------------------------

bind <- function(rows) {
  out <- do.call(rbind, rows)
  rownames(out) <- NULL
  out
}

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
  devices <- report$devices
  data.frame(gpu = if (nrow(devices)) devices$name[[1L]] else NA, gpus = nrow(devices),
             multiprocessors = if (nrow(devices)) devices$multiprocessors[[1L]] else NA,
             driver = asked[1L], cuda = report$cuda$runtime, cpu = cpu,
             cores = parallel::detectCores(), date = format(Sys.Date()),
             synfire = report$version)
}

write_tables <- function(tables, out, where = machine()) {
  for (name in names(tables)) {
    table <- tables[[name]]
    doubles <- vapply(table, is.double, TRUE)
    # Numbers of candidates stay whole.
    table[doubles] <- lapply(table[doubles], \(x) ifelse(x == round(x), x, signif(x, 5)))
    if (name != "machine") {
      ran_on <- if (is.na(where$gpu)) where$cpu else paste(where$gpus, "x", where$gpu)
      table <- cbind(table, machine = ran_on, where["date"], where["synfire"],
                     row.names = NULL)
    }
    utils::write.csv(table, file.path(out, paste0(name, ".csv")), row.names = FALSE)
  }
}

main <- function(out, parts) {
  if (identical(parts[1L], "profiled")) return(invisible(run_profiled(parts[[2L]])))
  known <- c("crossover", "levels", "gpus", "engines", "counters", "culture", "preelim")
  if (length(parts) == 0L) parts <- known
  stopifnot(!is.na(out), parts %in% known)
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  if (!all(parts %in% c("culture", "preelim"))) write_tables(list(machine = machine()), out)
  works <- works()
  recall_fit(out)
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

# The calibration of an earlier run of the part crossover.
recall_fit <- function(out) {
  file <- file.path(out, "crossover_fit.csv")
  if (!file.exists(file) || gpus_here() == 0L) return(invisible())
  fit <- utils::read.csv(file)
  if (anyNA(fit$estimate)) return(invisible())
  name <- synfire_sitrep(test_devices = FALSE)$devices$name[[1L]]
  asNamespace("synfire")$save_crossover(name, fit$estimate[[1L]], fit$estimate[[2L]])
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  main(arguments[1L], arguments[-1L])
}
