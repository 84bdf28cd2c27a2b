# This package and its peers: the same work on the same data in one run, once each way round.
#
#   sh bench/peers/install.sh                       first (see there)
#   Rscript bench/peers/run.R [cpu] [gpu] [key=value ...]
#
#   cpu, gpu         what is measured; both where nothing is said and a GPU is there
#   peers=kedm,pyEDM only these: pyfim, elephant, pyEDM, cppEDM, rEDM, kedm, fastccm,
#                    fastccm-double, and "Algorithm 1", which is ours
#   works=smap       only works whose titles match this
#   runs=5           so many runs each way round, or as many as begin within
#   seconds=10       so many seconds
#   limit=60         a peer that takes longer than this for one way round is stopped
#   threads=1        of both sides on the CPU, and of what a peer does on the CPU for its GPU
#   out=vignettes/performance   folder for peers-cpu.csv and peers-GPU.csv
#
# Peers of Python run in a process beside this one, which talks to them through a socket
# (theirs.py); rEDM runs in this process. Each side has its data in memory before the clock
# starts. What takes less than 2 s runs once before it is timed. Seconds in the table are
# medians of both ways round. A peer that is not installed is reported as missing, and one
# that gives another result as "differs": that is no comparison.
#
# tools/get-data.R fetches the recording of motor cortex; without it the works on that are left
# out. PEERS and PYTHON are those of install.sh.

library(synfire)
options(cli.progress_show_after = Inf)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "..", "..", "tools", "data.R"))
source(file.path(here, "works.R"))
source(file.path(here, "table.R"))
theirs_py <- file.path(here, "theirs.py")
source(file.path(here, "worker.R"))

# ---- What was asked for ----------------------------------------------------------------

read_arguments <- function(arguments) {
  asked <- list(runs = "5", seconds = "10", limit = "60", threads = "1",
                out = "vignettes/performance", works = "", peers = "")
  with_value <- grepl("=", arguments, fixed = TRUE)
  for (argument in arguments[with_value]) {
    name <- sub("=.*", "", argument)
    if (!name %in% names(asked)) stop("no such argument: ", name)
    asked[[name]] <- sub("^[^=]*=", "", argument)
  }
  unknown <- setdiff(arguments[!with_value], c("cpu", "gpu"))
  if (length(unknown)) stop("no such argument: ", unknown[[1L]])
  for (name in c("runs", "seconds", "limit", "threads")) {
    asked[[name]] <- as.numeric(asked[[name]])
  }
  asked$peers <- strsplit(asked$peers, ",", fixed = TRUE)[[1L]]
  asked$devices <- arguments[!with_value]
  if (length(asked$devices) == 0L) asked$devices <- c(if (on_gpu()) "gpu", "cpu")
  if ("gpu" %in% asked$devices && !on_gpu()) stop("no GPU to measure: see synfire_sitrep()")
  asked
}

on_gpu <- function() isTRUE(NROW(synfire_sitrep(test_devices = FALSE)$devices) > 0)

# ---- Peers of R ------------------------------------------------------------------------

#' What rEDM is called with: a function without arguments that gives numbers
call_redm <- function(work) {
  loadNamespace("rEDM", file.path(peers_folder, "R"))
  edm <- \(name, ...) {
    call <- getExportedValue("rEDM", name)
    wanted <- list(dataFrame = work$frame, columns = "x", ..., showPlot = FALSE)
    do.call(call, wanted[names(wanted) %in% names(formals(call))])
  }
  rows <- paste(1, nrow(work$frame))
  given <- work$given
  switch(
    work$request,
    embed_dimension = \() edm("EmbedDimension", target = "x", lib = rows, pred = rows,
                              maxE = given$E_max, numThreads = 1)$rho,
    simplex = \() rho_of(edm("Simplex", target = "x", lib = rows, pred = rows, E = given$E)),
    smap = \() rho_of(edm("SMap", target = "x", lib = rows, pred = rows, E = given$E,
                          theta = given$theta)),
    ccm = \() edm("CCM", target = "y", E = given$E, sample = given$samples, seed = 1,
                  libSizes = paste(given$lib_sizes, collapse = " "))[["x:y"]]
  )
}

# ---- Timing ----------------------------------------------------------------------------

once <- function(call) {
  gc(FALSE)
  # The clock of system.time() goes in milliseconds.
  began <- Sys.time()
  used <- system.time(result <- call(), gcFirst = FALSE)
  list(result = result, wall = as.numeric(difftime(Sys.time(), began, units = "secs")),
       cpu = sum(used[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE))
}

#' The last result and the times of our side, by the rules of theirs.py
time_here <- function(call, asked) {
  last <- once(call)
  times <- if (last$wall < 2) list() else list(last[c("wall", "cpu")])
  while (length(times) < asked$runs && sum(vapply(times, `[[`, 0, "wall")) < asked$seconds) {
    last <- once(call)
    times <- c(times, list(last[c("wall", "cpu")]))
  }
  list(result = last$result, wall = vapply(times, `[[`, 0, "wall"),
       cpu = vapply(times, `[[`, 0, "cpu"))
}

#' Both sides, ours first and then the peer first, and whether the results are the same.
#' `theirs` gives a measurement, and `read_theirs` the result of the last one.
both_ways <- function(work, device, asked, theirs, read_theirs) {
  threads <- if (device == "cpu") asked$threads
  ours <- \() time_here(\() work$ours(threads, device), asked)
  first <- list(ours = ours())
  first$theirs <- theirs()
  if (!is.null(first$theirs$said)) {
    return(list(ours = list(first = first$ours), result = first$theirs$said))
  }
  found <- work$same(first$ours$result, read_theirs(first$theirs))
  first$ours$result <- NULL
  second <- list(theirs = theirs())
  if (!is.null(second$theirs$said)) return(list(result = second$theirs$said))
  second$ours <- ours()
  list(ours = list(first = first$ours, second = second$ours),
       theirs = list(first = first$theirs, second = second$theirs), result = found$text)
}

# ---- One work and one peer -------------------------------------------------------------

worker_of <- function(peer, device, asked) {
  key <- paste(peer, device)
  if (is.null(workers[[key]])) workers[[key]] <- start_worker(peer, device, asked$threads)
  workers[[key]]
}

measure_python <- function(work, peer, device, asked) {
  worker <- worker_of(peer, device, asked)
  if (worker$said[[1L]] != "ready") {
    return(list(result = paste0("missing: ", worker$said[[2L]])))
  }
  folder <- tempfile("work-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  writeBin(as.double(work$data), file.path(folder, "data"))
  read <- \(measured) {
    file <- file.path(folder, "result")
    readBin(file, "double", file.size(file) / 8)
  }
  found <- both_ways(work, device, asked, \() ask_worker(worker, work, folder, asked), read)
  if (startsWith(found$result, "stopped") || grepl("process ended", found$result)) {
    stop_worker(worker)
    workers[[paste(peer, device)]] <- NULL
  }
  c(found, version = worker$said[[2L]])
}

#' A peer that this process can call itself
measure_here <- function(work, peer, device, asked) {
  if (peer == "rEDM") {
    if (!dir.exists(file.path(peers_folder, "R", "rEDM"))) {
      return(list(result = "missing: not installed"))
    }
    call <- call_redm(work)
    version <- as.character(utils::packageVersion("rEDM", file.path(peers_folder, "R")))
  } else {
    call <- work$theirs
    version <- "as written in this package"
  }
  found <- tryCatch(both_ways(work, device, asked, \() time_here(call, asked), \(one) one$result),
                    error = \(e) list(result = paste("failed:", conditionMessage(e))))
  c(found, version = version)
}

measure <- function(work, peer, device, asked) {
  here_called <- peer %in% c("rEDM", "Algorithm 1")
  found <- (if (here_called) measure_here else measure_python)(work, peer, device, asked)
  on <- if (device == "gpu") "GPU" else
    sprintf("%g thread%s", asked$threads, if (asked$threads == 1) "" else "s")
  peer_row(work$title, peer, device, found$result, found$version %||% NA, found$ours,
           found$theirs, on)
}

`%||%` <- function(a, b) if (is.null(a)) b else a

# ---- Here it begins --------------------------------------------------------------------

run_all <- function(asked) {
  rows <- list()
  for (device in asked$devices) {
    for (make in all_works()) {
      work <- make()
      if (is.null(work) || !device %in% work$devices || !grepl(asked$works, work$title)) next
      peers <- if (length(asked$peers)) intersect(asked$peers, work$peers) else work$peers
      for (peer in peers) {
        row <- measure(work, peer, device, asked)
        message(sprintf("%s, %s, %s: %s s, ours %s s: %s", work$title, peer, device,
                        short(row$peer_wall), short(row$ours_wall), row$result))
        rows <- c(rows, list(row))
        write_table(do.call(rbind, rows), device, asked$out)
      }
    }
  }
  do.call(rbind, rows)
}

asked <- read_arguments(commandArgs(TRUE))
if (!nzchar(Sys.getenv("SYNFIRE_DATA"))) {
  message("no recording of motor cortex: Rscript tools/get-data.R fetches it")
}
rows <- run_all(asked)
for (worker in as.list(workers)) stop_worker(worker)
cat("\n")
print_table(rows)
if (all(grepl("^missing", rows$result))) {
  cat("\nno peer is installed: sh bench/peers/install.sh installs those it can reach\n")
}
