# One run of a work of this page on workers; measure.R starts it.
#
#   mpirun -n 5 Rscript job.R mpi result.rds map=400 cut=queue slowed=1
#   Rscript job.R multisession result.rds patterns=20 workers=4
#   Rscript job.R none result.rds map=400
#
# `map` is the number of series, `patterns` the seconds of the recording. `cut` is how the
# map is cut: `queue`, as the package does it, `static`, a chunk a worker, or `quarters`,
# four equal chunks a worker. So many workers as `slowed` says share their core with
# another program (MPI only). `none` is the plain call, without files. The result holds
# times, chunks and fingerprints; each process uses one thread.

arguments <- commandArgs(TRUE)
backend <- arguments[[1L]]
settings <- strsplit(arguments[-(1:2)], "=")
settings <- setNames(lapply(settings, `[[`, 2L), vapply(settings, `[[`, "", 1L))
`%||%` <- \(a, b) if (is.null(a)) b else a
setting <- \(name, default) as.numeric(settings[[name]] %||% default)

# ---- Ranks that work -----------------------------------------------------------------

#' Have another program on the core of this process, for two minutes at most
share_core <- function(core) {
  parallel::mcaffinity(core)
  busy <- "taskset -c %d timeout 120 sh -c 'while :; do :; done' > /dev/null 2>&1 & echo $!"
  system(sprintf(busy, core - 1L), intern = TRUE)
}

#' Work until rank 0 stops the cluster
be_worker <- function(rank) {
  sink(nullfile())
  other <- if (rank <= setting("slowed", 0)) share_core(rank + 1L)
  snow::workLoop(snow::makeMPImaster())
  if (!is.null(other)) tools::pskill(as.integer(other))
  mpi.quit()
}

if (backend == "mpi") {
  library(Rmpi)
  if (mpi.comm.rank(0) > 0) be_worker(mpi.comm.rank(0))
}

# ---- The process that hands out ------------------------------------------------------

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
source(file.path(folder, "works.R"))
options(cli.progress_show_after = Inf)
# Cuts to compare with.
equal <- function(each) {
  \(n, workers, ...) rev(diff(floor(seq(0, n, length.out = each * workers + 1))))
}
cut <- settings$cut %||% "queue"
if (cut != "queue") put("chunk_sizes", equal(c(static = 1, quarters = 4)[[cut]]))

make <- \(work) works[[work]]$make(as.numeric(settings[[work]]))

run_plain <- function(work) {
  x <- make(work)
  begin <- now()
  cpu <- system.time(result <- works[[work]]$whole(x, threads = 1))
  list(seconds = now() - begin, cpu = sum(cpu[1:2]), hash = fingerprint(work, result))
}

run <- function(work) {
  x <- make(work)
  where <- tempfile("job")
  on.exit(unlink(paste0(where, c("", ".shards")), recursive = TRUE))
  note_chunks()
  begin <- now()
  result <- works[[work]]$call(x, where, threads = 1)
  seconds <- now() - begin
  chunks <- noted_chunks(begin, read_worker_notes(log))
  list(seconds = seconds, cpu = sum(chunks$cpu), chunks = chunks,
       hash = fingerprint(work, result))
}

make_cluster <- function() {
  if (backend == "mpi") {
    snow::makeMPIcluster()
  } else {
    parallelly::makeClusterPSOCK(setting("workers", 2))
  }
}

asked <- intersect(names(works), names(settings))
asked <- setNames(asked, asked)

if (backend == "none") {
  saveRDS(list(runs = lapply(asked, run_plain)), arguments[[2L]])
  quit()
}

tryCatch(
  {
    cl <- make_cluster()
    future::plan(future::cluster, workers = cl)
    # Workers load the package once, before the clock runs.
    from <- asNamespace(if (backend == "mpi") "snow" else "parallel")
    invisible(from$clusterCall(cl, loadNamespace, "synfire"))
    log <- tempfile("cpu")
    invisible(from$clusterCall(cl, note_on_worker, log))
    runs <- lapply(asked, run)
    saveRDS(list(runs = runs), arguments[[2L]])
    from$stopCluster(cl)
  },
  error = function(e) {
    message("Error: ", conditionMessage(e))
    quit(status = 1, runLast = FALSE)
  }
)
if (backend == "mpi") mpi.quit()
