# Measures what workers gain on one machine, for vignettes/performance.Rmd.
#
#   Rscript vignettes/clusters/measure.R [out=FOLDER] [works=known,map,patterns]
#     [workers=1,2,4,8,16] [how=threads,workers] [series=2000] [steps=8000] [each=125]
#     [duration=90] [repeats=3] [beside=no] [add=no]
#
# Each work is done by one process of so many threads, and by so many workers of one thread,
# in turn. `map` is a whole map of `series` x `steps`; `known` maps `each` libraries a worker,
# with given dimensions, and so takes the same time for any number of workers; `patterns` is a
# search in `duration` seconds of a recording. Also how=mpi, with Open MPI and the packages
# Rmpi and snow. `beside=yes` has runs side by side, each on cores of its own (taskset), in
# groups that fill the machine. `add=yes` adds to the tables that are there.
#
# On 16 cores, `known` takes 5 min, `map` with workers=8,16 6 min, and `patterns` with
# workers=4,8,16 5 min.
#
# scaling.csv: a row a run, `same` whether the result is bit by bit that of the first run of
# the work. chunks.csv: each chunk of the runs with workers; `wait` is the time since the
# worker's last one.

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
settings <- list(out = folder, works = "known,map,patterns", workers = "1,2,4,8,16",
                 how = "threads,workers", series = "2000", steps = "8000", each = "125",
                 duration = "90", repeats = "3", beside = "no", add = "no")
for (given in strsplit(commandArgs(TRUE), "=")) settings[[given[[1L]]]] <- given[[2L]]
several <- \(setting) strsplit(setting, ",")[[1L]]
dir.create(settings$out, showWarnings = FALSE, recursive = TRUE)
cores <- parallel::detectCores()

machine <- \() {
  line <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L]
  paste0(sub("^[^:]*: ", "", line), ", ", cores, " cores")
}
about <- data.frame(machine = machine(), date = format(Sys.Date()),
                    synfire = format(utils::packageVersion("synfire")))

# ---- Runs ----------------------------------------------------------------------------

Sys.setenv(OMPI_ALLOW_RUN_AS_ROOT = 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1)

#' What a work is about, as arguments of job.R
sizes <- function(work, workers) {
  if (work == "patterns") return(paste0("duration=", settings$duration))
  size <- paste0(c("series=", "steps="), settings[c("series", "steps")])
  if (work == "map") return(size)
  c(size, paste0("libraries=", min(as.numeric(settings$series),
                                   workers * as.numeric(settings$each))))
}

start <- function(run) {
  result <- tempfile(fileext = ".rds")
  rscript <- file.path(R.home("bin"), "Rscript")
  job <- c(file.path(folder, "job.R"), run$how, run$workers, run$work, result,
           sizes(run$work, run$workers))
  # One rank more makes the queue.
  mpi <- c("--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl",
           "self,vader", "-n", run$workers + 1, rscript)
  command <- if (run$how == "mpi") c("mpirun", mpi, job) else c(rscript, job)
  if (!is.null(run$cores)) command <- c("taskset", "-c", toString(run$cores), command)
  system2(command[[1L]], gsub(" ", "", command[-1L]))
  c(run, result = result)
}

tables <- list(scaling = NULL, chunks = NULL)
if (settings$add == "yes") {
  tables <- lapply(setNames(nm = names(tables)),
                   \(name) read.csv(file.path(settings$out, paste0(name, ".csv"))))
}
hashes <- list()

keep <- function(run) {
  if (!file.exists(run$result)) {
    message("failed: ", toString(run))
    return(invisible())
  }
  of <- readRDS(run$result)
  size <- toString(sizes(run$work, run$workers))
  key <- paste(run$work, size)
  if (is.null(hashes[[key]])) hashes[[key]] <<- of$hash
  number <- max(0, tables$scaling$run) + 1
  row <- data.frame(run = number, work = run$work, size, how = run$how, workers = run$workers,
                    seconds = round(of$seconds, 3), cpu = round(of$cpu, 2),
                    chunks = sum(of$chunks$what != "open"), same = identical(of$hash, hashes[[key]]), about)
  tables$scaling <<- rbind(tables$scaling, row)
  if (!is.null(of$chunks)) tables$chunks <<- rbind(tables$chunks, cbind(run = number, of$chunks))
  for (name in names(tables)) {
    write.csv(tables[[name]], file.path(settings$out, paste0(name, ".csv")), row.names = FALSE)
  }
  print(row[1:9], row.names = FALSE)
}

#' Give runs cores of their own, as many as they have workers, and do them side by side
do_beside <- function(runs) {
  last <- cumsum(vapply(runs, `[[`, 0, "workers"))
  for (k in seq_along(runs)) runs[[k]]$cores <- (last[[k]] - runs[[k]]$workers):(last[[k]] - 1)
  parallel::mclapply(runs, start, mc.cores = length(runs), mc.preschedule = FALSE)
}

#' The runs in groups, in turn, of no more workers than there are cores
fit_cores <- function(runs) {
  groups <- list()
  left <- 0
  for (run in runs) {
    if (run$workers > left) {
      groups <- c(groups, list(list()))
      left <- cores
    }
    last <- length(groups)
    groups[[last]] <- c(groups[[last]], list(run))
    left <- left - run$workers
  }
  groups
}

runs <- expand.grid(how = several(settings$how), workers = as.numeric(several(settings$workers)),
                    work = several(settings$works), stringsAsFactors = FALSE)
runs <- lapply(seq_len(nrow(runs)), \(k) as.list(runs[k, ]))
for (time in seq_len(as.integer(settings$repeats))) {
  if (settings$beside == "yes") {
    for (group in fit_cores(runs)) for (run in do_beside(group)) keep(run)
  } else {
    for (run in runs) keep(start(run))
  }
}
