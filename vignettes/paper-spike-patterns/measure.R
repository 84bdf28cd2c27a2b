# The measurements shown in vignette("paper-spike-patterns").
#
#   script=vignettes/paper-spike-patterns/measure.R
#   SYNFIRE_DATA=folder Rscript $script OUT [PART ...] [key=value ...]
#
# from the root of the sources. `folder` holds spade/movement_PGHF_raster.txt.gz, lines of
# `unit bin` in bins of 5 ms: 150 units of motor cortex. Each part writes one table, CSV,
# to the folder OUT as soon as it has a row more:
#
#   threads      each program on 1, 2, 4, ... threads, one after the other
#   jobs         the eight jobs with each program on one thread, `at_once` side by side
#   surrogates   p values of the recording on one GPU, on two, ...
#   surrogates_cpu   and on all threads
#   volumes      how much data there is at each stage before the search
#   stages       how long each stage of spade() takes
#   growth       300 and 450 units, and 1,004 s, on all threads
#
#   seconds=150    after which a program is stopped
#   at_once=8      programs side by side in the part `jobs`
#   python=python3 a Python that has the compiled program of the package elephant, itself
#                  (`fim` on PYTHONPATH) or with all that elephant needs
#   cores=32       up to how many threads and workers, else all
#   memory=8e9     bytes that a search may hold
#   small=1        the first 3 s of the recording, to see whether everything runs
#
# Each search runs in a process of its own, so that its peak of memory is its own too.
# Four programs are compared: the published one (published.py), FP-growth as printed with
# the filters after it (bench/published/fpgrowth.c, compiled here), and both engines of
# mine_patterns(). What is not there is left out of the table, with a message. On a
# machine with 32 cores and two GPUs all of it takes some eight minutes.

library(synfire)
source("tools/data.R")
source("tools/machine.R")
options(cli.progress_show_after = Inf)

here <- "vignettes/paper-spike-patterns"
bin_size <- 0.005
window <- 20
bins <- 4464  # of the recording

# ---- Recordings ----------------------------------------------------------------------

read_raster <- function() {
  file <- file.path(Sys.getenv("SYNFIRE_DATA"), "spade", "movement_PGHF_raster.txt.gz")
  if (!file.exists(file)) stop("SYNFIRE_DATA names no folder with spade/", basename(file))
  stats::setNames(utils::read.table(file), c("unit", "bin"))
}

# Unit and bin of each spike, and the number of units and bins. More units: copies of the
# recording as further units, each shifted in a circle. Long: copies of it joined in time;
# in copy k unit u is shifted by 37 k u bins in a circle, so that rates stay and patterns,
# apart from those of the first copy, do not come back.
recordings <- list(
  "150" = \(r) list(raster = r, units = 150, bins = bins),
  "300" = \(r) list(raster = stack_units(r, 2), units = 300, bins = bins),
  "450" = \(r) list(raster = stack_units(r, 3), units = 450, bins = bins),
  long = \(r) list(raster = join_in_time(r, 45), units = 150, bins = 45 * bins),
  small = \(r) list(raster = r[r$bin < 600, ], units = 150, bins = 600)
)

stack_units <- function(r, copies) {
  do.call(rbind, lapply(seq_len(copies) - 1, \(copy) {
    data.frame(unit = r$unit + 150 * copy, bin = (r$bin + copy * bins %/% copies) %% bins)
  }))
}

join_in_time <- function(r, copies) {
  do.call(rbind, lapply(seq_len(copies) - 1, \(copy) {
    data.frame(unit = r$unit, bin = (r$bin + 37 * copy * r$unit) %% bins + copy * bins)
  }))
}

get_recording <- \(name) recordings[[name]](read_raster())

as_trains <- function(of) {
  spike_trains((of$raster$bin * 5 + 2) / 1000,
               factor(of$raster$unit, seq_len(of$units) - 1), start = 0,
               end = of$bins * bin_size, resolution = 1e-3)
}

# The items of the window of each bin that holds a spike: unit * window + lag
windows_of <- function(of) {
  by_bin <- split(of$raster$unit, factor(of$raster$bin, seq_len(of$bins) - 1))
  by_bin <- lapply(by_bin, unique)
  lapply(which(lengths(by_bin) > 0), \(first) {
    lags <- seq(0, min(window, of$bins - first + 1) - 1)
    units <- by_bin[first + lags]
    unlist(units, use.names = FALSE) * window + rep(lags, lengths(units))
  })
}

# ---- What the machine tells of itself ------------------------------------------------

# Joules that the processor has used since some time in the past (RAPL), or NA
joules <- function() {
  told <- Sys.glob("/sys/class/powercap/intel-rapl:[0-9]*/energy_uj")
  told <- told[!grepl("rapl:[0-9]+:", told) & file.access(told, 4) == 0]
  if (length(told) == 0) return(NA_real_)
  sum(as.numeric(vapply(told, readLines, "", n = 1))) / 1e6
}

stamp <- function(table) {
  cbind(table, machine = cpu_name(), cores = parallel::detectCores(),
        date = format(Sys.Date()), synfire = format(utils::packageVersion("synfire")))
}

# ---- One search in this process ------------------------------------------------------

measured <- c("status", "nodes", "frequent", "kept", "patterns", "wall", "cpu", "mb",
              "joules")

timed <- function(run) {
  gc(FALSE)
  energy <- joules()
  took <- system.time(out <- run())
  list(out = out, wall = took[["elapsed"]],
       cpu = took[["user.self"]] + took[["sys.self"]], joules = joules() - energy)
}

say <- function(status, nodes, frequent, kept, patterns, of, before) {
  cat("measured", status, format(c(nodes, frequent, kept, patterns), scientific = FALSE,
                                 trim = TRUE), of$wall, of$cpu,
      memory("VmHWM") - before, of$joules, "\n")
}

run_ours <- function(job) {
  before <- memory("VmRSS")
  x <- as_trains(get_recording(job$recording))
  invisible(mine_patterns(x, bin_size, window, 9, 1000, threads = 1))  # loads late parts
  of <- timed(\() tryCatch(
    mine_patterns(x, bin_size, window, job$min_spikes, job$min_count,
                  engine = job$program, threads = job$threads, device = job$device,
                  max_memory = job$memory),
    synfire_error_budget = \(e) NULL
  ))
  if (is.null(of$out)) return(say("memory", NA, NA, NA, NA, of, before))
  say("done", NA, NA, NA, length(of$out), of, before)
}

# As printed, up to the bytes and processor seconds that it may take
grow_as_printed <- function(library, windows, items, min_count, min_size, min_units,
                            memory, seconds, room = 0) {
  dyn.load(library)
  .C("fpgrowth", as.integer(cumsum(c(0, lengths(windows)))), as.integer(unlist(windows)),
     length(windows), as.integer(items),
     as.integer(c(min_count, min_size, window, min_units)), c(memory, seconds),
     out = double(6), as.integer(room), sets = integer(room), counts = integer(room))
}

run_as_printed <- function(job) {
  before <- memory("VmRSS")
  of <- get_recording(job$recording)
  windows <- windows_of(of)
  run <- timed(\() grow_as_printed(job$library, windows, of$units * window, job$min_count,
                                   job$min_spikes, job$min_spikes, 30e9, job$seconds)$out)
  out <- replace(run$out, run$out < 0, NA)
  say(c("done", "memory", "time")[out[[1]] + 1], out[[2]], out[[4]], out[[5]], out[[6]],
      run, before)
}

# ---- A search in a process of its own ------------------------------------------------

# A row of what was measured; NA beyond the seconds, or where the program is not there
measure <- function(program, recording, min_count, min_spikes, threads = 1, device = "cpu") {
  job <- list(program = program, recording = recording, min_count = min_count,
              min_spikes = min_spikes, threads = threads, device = device, seconds = keys$seconds,
              memory = keys$memory, library = keys$library)
  if (program == "published") {
    command <- keys$python
    arguments <- c(file.path(here, "published.py"), windows_file(recording), min_count,
                   min_spikes, window)
  } else {
    file <- tempfile("job", fileext = ".rds")
    saveRDS(job, file)
    command <- file.path(R.home("bin"), "Rscript")
    arguments <- c(file.path(here, "measure.R"), "search", file)
  }
  # Beyond the seconds of the search there is time to start and to read.
  out <- suppressWarnings(system2(
    "timeout", c(keys$seconds + 8, "env", paste0("OMP_NUM_THREADS=", threads), command,
                 arguments), stdout = TRUE, stderr = TRUE
  ))
  line <- grep("^measured ", out, value = TRUE)
  values <- as.list(rep(NA, length(measured)))
  if (length(line)) {
    told <- strsplit(trimws(line), " ")[[1]][-1]
    values[seq_along(told)] <- as.list(told)
  } else {
    values[[1]] <- if (isTRUE(attr(out, "status") == 124)) "time" else "failed"
    if (values[[1]] == "failed") message(paste(utils::tail(out, 3), collapse = "\n"))
  }
  row <- data.frame(program, device, recording, min_count, min_spikes, threads,
                    limit = keys$seconds, stats::setNames(values, measured))
  numbers <- measured[-1]
  row[numbers] <- lapply(row[numbers], \(x) if (x %in% "NA") NA_real_ else as.numeric(x))
  message(sprintf("  %s, %s, %s, %g, %g, %g threads: %s, %.0f patterns, %.3g s, CPU %.3g s",
                  program, device, recording, min_count, min_spikes, threads, row$status,
                  row$patterns, row$wall, row$cpu))
  row
}

# The windows of a recording as a file, written once
windows_file <- function(recording) {
  file <- file.path(tempdir(), paste0("windows-", recording, ".txt"))
  if (!file.exists(file)) {
    windows <- windows_of(get_recording(recording))
    writeLines(vapply(windows, paste, "", collapse = " "), file)
  }
  file
}

compile <- function() {
  folder <- tempfile("fpgrowth")
  dir.create(folder)
  file.copy("bench/published/fpgrowth.c", folder)
  log <- suppressWarnings(system2(file.path(R.home("bin"), "R"),
                                  c("CMD", "SHLIB", file.path(folder, "fpgrowth.c")),
                                  stdout = TRUE, stderr = TRUE))
  library <- file.path(folder, paste0("fpgrowth", .Platform$dynlib.ext))
  if (!file.exists(library)) stop("fpgrowth.c: ", paste(log, collapse = "\n"))
  library
}

write_table <- function(rows, name) {
  table <- if (is.data.frame(rows)) rows else do.call(rbind, rows)
  doubles <- vapply(table, is.double, NA)
  table[doubles] <- lapply(table[doubles], signif, 10)
  file <- file.path(keys$out, paste0(name, ".csv"))
  utils::write.csv(stamp(table), file, row.names = FALSE)
}

doubling <- \(most) unique(c(2^seq(0, floor(log2(most))), most))

eight_jobs <- data.frame(min_count = c(88, 25, 12, 10, 10, 10, 10, 10), min_spikes = 2:9)

# ---- Parts ---------------------------------------------------------------------------

parts <- list()

parts$threads <- function() {
  all <- doubling(keys$cores)
  # The published program on one thread is measured by the part `jobs`.
  plan <- rbind(data.frame(program = "closure", threads = all),
                data.frame(program = "published", threads = max(all)),
                data.frame(program = "fpgrowth", threads = rev(all)))
  rows <- list()
  for (k in seq_len(nrow(plan))) {
    rows[[k]] <- with(plan[k, ], measure(program, keys$main, 12, 4, threads))
    write_table(rows, "threads")
  }
}

parts$jobs <- function() {
  keys$library <<- compile()
  check_as_printed(keys$library)
  windows_file(keys$main)  # before there are several at once
  # Long ones first; the last four jobs as printed would grow the same sets once more.
  published <- eight_jobs[c(4, 3, 5:8, 2, 1), ]
  plan <- rbind(cbind(program = "as printed", eight_jobs[c(4, 3, 2, 1), ]),
                cbind(program = "published", published),
                cbind(program = "fpgrowth", published),
                cbind(program = "closure", published))
  rows <- parallel::mclapply(seq_len(nrow(plan)), \(k) {
    row <- measure(plan$program[k], keys$main, plan$min_count[k], plan$min_spikes[k])
    saveRDS(row, file.path(keys$out, sprintf("jobs-row%02d.rds", k)))
    row
  }, mc.cores = keys$at_once, mc.preschedule = FALSE)
  good <- vapply(rows, is.data.frame, NA)
  write_table(cbind(do.call(rbind, rows[good]), at_once = keys$at_once), "jobs")
  unlink(Sys.glob(file.path(keys$out, "jobs-row*.rds")))
}

# Nothing is timed that is not right: random windows against frequent_itemsets(), which
# knows no lags, with the filters in R.
check_as_printed <- function(library) {
  for (seed in 1:20) {
    set.seed(seed)
    windows <- replicate(30, sort(sample(6 * window, 12)) - 1, simplify = FALSE)
    windows <- lapply(windows, \(w) unique(w - w %% window + (w %% window) %% 4))
    ours <- frequent_itemsets(windows, min_count = 3, min_size = 2, target = "closed")
    sets <- lapply(as.data.frame(ours)$items, \(items) sort(as.integer(items)))
    fits <- vapply(sets, \(set) {
      any(set %% window == 0) && length(unique(set %/% window)) >= 2
    }, NA)
    got <- grow_as_printed(library, windows, 6 * window, 3, 2, 2, 1e9, 60, 1e6)
    stopifnot(got$out[[1]] == 0, got$out[[6]] == sum(fits))
    at <- 1
    theirs <- lapply(seq_len(sum(fits)), \(k) {
      set <- got$sets[at + seq_len(got$sets[[at]])]
      at <<- at + got$sets[[at]] + 1
      c(got$counts[[k]], set)
    })
    key <- \(sets) sort(vapply(sets, paste, "", collapse = " "))
    stopifnot(identical(key(theirs), key(Map(c, ours$count[fits], sets[fits]))))
  }
}

parts$surrogates <- function() {
  devices <- synfire_sitrep()$devices
  x <- as_trains(get_recording(keys$main))
  many <- if (keys$small) c(20, 40) else c(1000, 4000)
  maxima <- \(...) attr(surrogates_of(x, 20, ...), "maxima")
  expected <- maxima(threads = keys$cores)
  rows <- list()
  for (gpus in seq_len(NROW(devices))) {
    used <- seq_len(gpus)
    stopifnot(identical(maxima(device = "gpu", gpus = used), expected))
    for (n in many) {
      times <- if (n == many[[1]]) 3 else 1
      power <- watch_power(used)
      wall <- replicate(times, system.time(
        surrogates_of(x, n, device = "gpu", gpus = used))[["elapsed"]])
      rows[[length(rows) + 1]] <- data.frame(
        device = devices$name[[1]], gpus, threads = NA, surrogates = n, times,
        wall = stats::median(wall), joules = power() / times
      )
      message(sprintf("  %d GPUs, %d surrogates: %.3g s", gpus, n, stats::median(wall)))
      write_table(rows, "surrogates")
    }
  }
  if (NROW(devices) == 0) message("surrogates: no GPU")
}

parts$surrogates_cpu <- function() {
  x <- as_trains(get_recording(keys$main))
  n <- if (keys$small) 20 else 10 * keys$cores
  used <- joules()
  wall <- system.time(surrogates_of(x, n, threads = keys$cores))[["elapsed"]]
  write_table(data.frame(device = "cpu", gpus = 0, threads = keys$cores, surrogates = n,
                         times = 1, wall, joules = joules() - used), "surrogates_cpu")
}

surrogates_of <- function(x, n, ...) {
  set.seed(1)
  pvalue_spectrum(x, bin_size, window, min_spikes = 3, min_count = 10, n_surrogates = n,
                  surrogate = "dither", ...)
}

# A function that stops watching, and gives the joules that these GPUs have used since:
# the mean of the power that nvidia-smi tells ten times a second, times the seconds; NA
# where it tells none
watch_power <- function(gpus) {
  if (Sys.which("nvidia-smi") == "" || Sys.which("stdbuf") == "") return(\() NA_real_)
  file <- tempfile("power")
  process <- system(paste(
    "stdbuf -oL nvidia-smi --query-gpu=power.draw --format=csv,noheader,nounits",
    "-lms 100 -i", paste(gpus - 1, collapse = ","), ">", file, "& echo $!"
  ), intern = TRUE)
  started <- proc.time()[["elapsed"]]
  function() {
    took <- proc.time()[["elapsed"]] - started
    tools::pskill(as.integer(process))
    watts <- suppressWarnings(as.numeric(readLines(file, warn = FALSE)))
    if (!any(is.finite(watts))) return(NA_real_)
    mean(watts, na.rm = TRUE) * length(gpus) * took
  }
}

parts$volumes <- function() {
  rows <- lapply(setdiff(names(recordings), "small"), \(name) {
    of <- get_recording(name)
    held <- table(of$raster$bin)
    # A bin is in the windows that open up to `window - 1` bins before it.
    opens <- logical(of$bins)
    opens[as.integer(names(held)) + 1] <- TRUE
    before <- c(0, cumsum(opens))
    bin <- as.integer(names(held)) + 1
    windows <- before[bin + 1] - before[pmax(bin - window, 0) + 1]
    data.frame(recording = name, seconds = of$bins * bin_size, units = of$units,
               bins = of$bins, spikes = nrow(of$raster), windows = sum(opens),
               items = sum(held * windows))
  })
  write_table(rows, "volumes")
}

parts$stages <- function() {
  x <- as_trains(get_recording(keys$main))
  threads <- keys$cores
  set.seed(1)
  # With p values k / n, a hundred surrogates are enough for something to be significant, so
  # that the stages after the tests have work to do.
  found <- spade(x, bin_size, window, min_spikes = 5, min_count = 10,
                 n_surrogates = if (keys$small) 20 else 100, surrogate = "dither",
                 p_estimator = "k/n",
                 threads = threads, max_memory = keys$memory)
  write_table(data.frame(stage = names(found$elapsed), seconds = unlist(found$elapsed),
                         surrogates = found$parameters$n_surrogates, mined = length(found$mined),
                         significant = found$significant, threads = threads),
              "stages")
}

# The jobs that the authors published for these sizes, in github.com/fporrmann/FPG. Their
# long recording is another one, so that its counts are not comparable.
grown_jobs <- list(
  "300" = data.frame(min_count = c(71, 21, 11, 10, 10, 10, 10, 10), min_spikes = 2:9),
  "450" = data.frame(min_count = c(71, 22, 10, 10, 10, 10, 10, 10), min_spikes = 2:9),
  long = data.frame(min_count = c(1638, 199, 42, 16, rep(10, 5)), min_spikes = 2:10)
)

# On a GPU where there is one, and on all threads what that says they can do in time: a GPU
# searches some 30 times as fast as 16 cores.
parts$growth <- function() {
  plan <- do.call(rbind, lapply(names(grown_jobs), \(name) cbind(recording = name,
                                                                 grown_jobs[[name]])))
  plan <- plan[order(plan$min_spikes %in% c(4, 5)), ]  # the largest results last
  if (keys$small) plan$recording <- "small"
  on_gpu <- NROW(synfire_sitrep(test_devices = FALSE)$devices) > 0
  rows <- list()
  for (k in seq_len(nrow(plan))) {
    grow <- \(device) with(plan[k, ], measure("closure", recording, min_count, min_spikes,
                                              keys$cores, device))
    here <- if (on_gpu) grow("gpu")
    if (is.null(here) || isTRUE(here$wall < keys$seconds / 30)) here <- rbind(here, grow("cpu"))
    rows[[k]] <- here
    write_table(rows, "growth")
  }
}

# ---- What was asked for --------------------------------------------------------------

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1], "search")) {
  job <- readRDS(arguments[[2]])
  if (job$program == "as printed") run_as_printed(job) else run_ours(job)
  quit(save = "no")
}
keys <- list(seconds = 150, at_once = 8, python = "python3",
             cores = parallel::detectCores(), memory = 8e9, small = 0)
named <- grepl("=", arguments)
for (given in strsplit(arguments[named], "=")) {
  if (!given[[1]] %in% names(keys)) stop("no key ", given[[1]])
  keys[[given[[1]]]] <- if (given[[1]] == "python") given[[2]] else as.numeric(given[[2]])
}
arguments <- arguments[!named]
if (!length(arguments) || !dir.exists(arguments[1])) stop("name a folder for the tables")
keys$out <- arguments[[1]]
keys$main <- if (keys$small) "small" else "150"
keys$library <- NA
wanted <- if (length(arguments) > 1L) arguments[-1] else names(parts)
unknown <- setdiff(wanted, names(parts))
if (length(unknown)) stop("no part ", unknown[[1]], " among ", toString(names(parts)))
for (part in wanted) {
  message(part)
  parts[[part]]()
}
