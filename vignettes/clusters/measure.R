# Measures what workers gain on one machine, for vignettes/clusters.Rmd.
#
#   Rscript vignettes/clusters/measure.R [out=FOLDER] [map=500] [patterns=36]
#                                        [workers=1,2,4,8,16,30] [budget=90]
#                                        [backend=multisession] [cuts=no]
#
# Needs Open MPI and the packages Rmpi and snow; without them the workers are processes of
# this machine, which talk through sockets, and the table says so. Each worker uses one
# thread, and one more process hands out. Takes 80 s on a server with 32 cores, and begins
# nothing once `budget` seconds are over. `map` is the number of series, of 1,600 steps;
# `patterns` the seconds of the recording; 0 leaves a work out. Both works run side by side where there are
# cores for all their processes.
#
# efficiency.csv: a row a run, `seconds` from the call to its result, `job_seconds` with all
# that starts and ends, `same` whether the result is bit by bit that of the plain call.
# chunks.csv: each chunk of the runs, seconds since the call.

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
settings <- list(out = folder, map = "500", patterns = "36", workers = "1,2,4,8,16,30",
                 budget = "90", cuts = "yes")
for (given in strsplit(commandArgs(TRUE), "=")) settings[[given[[1L]]]] <- given[[2L]]
dir.create(settings$out, showWarnings = FALSE, recursive = TRUE)
workers <- as.integer(strsplit(settings$workers, ",")[[1L]])
`%||%` <- \(a, b) if (is.null(a)) b else a
seconds <- \() proc.time()[["elapsed"]]
began <- seconds()
over <- \() seconds() - began > as.numeric(settings$budget)
rscript <- file.path(R.home("bin"), "Rscript")
job <- file.path(folder, "job.R")
sizes <- \(works) vapply(works, \(work) paste0(work, "=", settings[[work]]), "")

cpu <- \() {
  line <- grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L]
  paste0(sub("^[^:]*: ", "", line), ", ", parallel::detectCores(), " cores")
}
about <- data.frame(machine = cpu(), date = format(Sys.Date()),
                    synfire = format(utils::packageVersion("synfire")))

# ---- Runs ----------------------------------------------------------------------------

Sys.setenv(OMPI_ALLOW_RUN_AS_ROOT = 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1,
           OMP_NUM_THREADS = 1)

start <- function(backend, works, workers = 1, cut = "queue", slowed = 0) {
  result <- tempfile(paste0(c("run", works), collapse = "-"), fileext = ".rds")
  arguments <- c(job, backend, result, sizes(works), paste0("cut=", cut),
                 paste0("slowed=", slowed), paste0("workers=", workers))
  before <- seconds()
  status <- if (backend == "mpi") {
    system2("mpirun", c("--oversubscribe", "--bind-to none", "--mca pml ob1",
                        "--mca btl self,vader", "-n", workers + 1, rscript, arguments),
            timeout = as.numeric(settings$budget))
  } else {
    system2(rscript, arguments, timeout = as.numeric(settings$budget))
  }
  list(result = result, backend = backend, workers = workers, cut = cut, slowed = slowed,
       status = status, seconds = seconds() - before)
}

mpi_works <- function() {
  tried <- suppressWarnings(start("mpi", character(), 1))
  file.exists(tried$result)
}

rows <- list()
chunks <- list()
hashes <- list()

keep <- function(run) {
  if (!file.exists(run$result)) {
    message("failed: ", toString(run[-1L]))
    return(invisible())
  }
  there <- readRDS(run$result)$runs
  for (work in names(there)) {
    of <- there[[work]]
    if (run$backend == "none") hashes[[work]] <<- of$hash
    number <- length(rows) + 1L
    rows[[number]] <<- data.frame(
      run = number, work = work, size = settings[[work]], backend = run$backend,
      workers = run$workers, cut = if (run$backend == "none") "" else run$cut,
      slowed = run$slowed, seconds = round(of$seconds, 3),
      cpu = round(of$cpu, 3), job_seconds = round(run$seconds, 2), chunks = NROW(of$chunks),
      same = identical(of$hash, hashes[[work]]), about
    )
    if (!is.null(of$chunks)) {
      chunks[[length(chunks) + 1L]] <<- data.frame(
        run = number, of$chunks[c("phase", "size", "worker")],
        round(of$chunks[c("begin", "end", "cpu", "cpu_out")], 3)
      )
    }
  }
  write.csv(do.call(rbind, rows), file.path(settings$out, "efficiency.csv"),
            row.names = FALSE, quote = TRUE)
  if (length(chunks) > 0L) {
    write.csv(do.call(rbind, chunks), file.path(settings$out, "chunks.csv"),
              row.names = FALSE, quote = FALSE)
  }
  print(do.call(rbind, rows)[length(rows), 1:12], row.names = FALSE)
}

backend <- settings$backend %||% if (mpi_works()) "mpi" else "multisession"
cat("workers:", backend, "\n")

#' Runs side by side, as far as there is a core for each of their processes
beside <- function(runs) {
  processes <- sum(vapply(runs, \(run) run$workers %||% 1 + 1, 0))
  many <- processes > 0.7 * parallel::detectCores()
  did <- parallel::mclapply(runs, \(run) do.call(start, run), mc.preschedule = FALSE,
                            mc.cores = if (many) 1 else length(runs))
  for (run in did) keep(run)
}

works <- intersect(c("map", "patterns"), names(Filter(\(size) size != "0", settings)))
beside(c(lapply(works, \(work) list("none", work)),
         if (1 %in% workers) lapply(works, \(work) list(backend, work, workers = 1))))
# Workers by the dozen have too little to do with patterns that are found within seconds.
for (k in setdiff(workers, 1)) {
  asked <- if (k <= 8) works else "map"
  if (!over()) beside(lapply(asked, \(work) list(backend, work, workers = k)))
}

# Equal workers, and two of them whose core another program uses as well.
some <- min(8, max(workers))
for (slowed in if (settings$cuts == "no") NULL else if (backend == "mpi") c(2, 0) else 0) {
  for (cut in c("static", "queue", "quarters")) {
    if (!over()) keep(start(backend, "map", some, cut, min(slowed, some - 1)))
  }
}
cat("done after", round(seconds() - began), "s\n")
