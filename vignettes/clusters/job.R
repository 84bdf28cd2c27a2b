# One run of a work of this page; measure.R starts it.
#
#   Rscript job.R threads 4 map result.rds series=2000 steps=8000
#   Rscript job.R workers 4 patterns result.rds duration=60
#   mpirun -n 5 Rscript job.R mpi 4 known result.rds series=2000 steps=8000 libraries=250
#
# `threads` is the plain call, in memory, with so many threads; otherwise so many processes of
# one thread each work on a file or a folder. The result holds times, chunks and a fingerprint.

arguments <- commandArgs(TRUE)
how <- arguments[[1L]]
k <- as.integer(arguments[[2L]])
work <- arguments[[3L]]
given <- strsplit(arguments[-(1:4)], "=")
settings <- lapply(setNames(given, vapply(given, `[[`, "", 1L)), \(pair) as.numeric(pair[[2L]]))

if (how == "mpi") {
  library(Rmpi)
  if (mpi.comm.rank(0) > 0) {
    sink(nullfile())
    snow::workLoop(snow::makeMPImaster())
    mpi.quit()
  }
}

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
source(file.path(folder, "works.R"))
options(cli.progress_show_after = Inf)

#' Time a call, with the processor time of this process
timed <- function(path, threads) {
  x <- works[[work]]$make(settings)
  time <- system.time(result <- works[[work]]$call(x, settings, threads, path))
  list(seconds = time[["elapsed"]], cpu = sum(time[1:2]), hash = fingerprint(work, result))
}

with_workers <- function() {
  snow <- asNamespace(if (how == "mpi") "snow" else "parallel")
  cl <- if (how == "mpi") snow$makeMPIcluster() else parallelly::makeClusterPSOCK(k)
  future::plan(future::cluster, workers = cl)
  # Workers load packages once, before the clock runs.
  for (package in c("synfire", "hdf5r")) invisible(snow$clusterCall(cl, loadNamespace, package))
  log <- tempfile("chunks")
  note_chunks(log)
  path <- tempfile("job")
  on.exit(unlink(paste0(path, c("", ".shards")), recursive = TRUE))
  run <- timed(path, 1)
  run$chunks <- read_notes(log)
  run$cpu <- run$cpu + sum(run$chunks$cpu)
  snow$stopCluster(cl)
  run
}

tryCatch(
  saveRDS(if (how == "threads") timed(NULL, k) else with_workers(), arguments[[4L]]),
  error = function(e) {
    message("Error: ", conditionMessage(e))
    quit(status = 1, runLast = FALSE)
  }
)
if (how == "mpi") mpi.quit()
