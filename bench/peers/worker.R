# Processes of Python that run peers beside this one, which talks to them through a socket
# (theirs.py says how). bench/peers/run.R and bench/causes.R use them.
#
# PEERS and PYTHON are those of install.sh. `theirs_py` is where theirs.py is; who sources
# this sets it first.

peers_folder <- Sys.getenv("PEERS", ".build/peers")

#' A port of this machine that nobody has, and what listens there
free_port <- function() {
  first <- Sys.getpid() * 37L
  for (k in 0:99) {
    number <- 20000L + (first + 211L * k) %% 40000L
    server <- tryCatch(serverSocket(number), error = \(e) NULL)
    if (!is.null(server)) return(list(number = number, server = server))
  }
  stop("no port of this machine is free")
}

#' A process that runs a peer: a list of `said`, what it answered first ("ready VERSION" or
#' "missing WHY"), and its connection
start_worker <- function(peer, device, threads) {
  folder <- if (peer == "kedm" && device == "gpu") "kedm-cuda" else sub("-double", "", peer)
  folder <- file.path(peers_folder, folder)
  if (!dir.exists(folder)) return(list(said = c("missing", "not installed")))
  port <- free_port()
  server <- port$server
  on.exit(close(server))
  path <- paste(c(normalizePath(folder), Sys.getenv("PYTHONPATH")), collapse = ":")
  log <- tempfile(fileext = ".log")
  variables <- c(paste0("PYTHONPATH=", shQuote(path)),
                 paste0(c("OMP", "OPENBLAS", "MKL"), "_NUM_THREADS=", threads))
  command <- c(variables, Sys.getenv("PYTHON", "python3"),
               shQuote(theirs_py), port$number, peer, device)
  line <- sprintf("%s > %s 2>&1 & echo $!", paste(command, collapse = " "), shQuote(log))
  pid <- system2("sh", c("-c", shQuote(line)), stdout = TRUE)
  link <- tryCatch(socketAccept(server, open = "r+", blocking = TRUE, timeout = 120),
                   error = \(e) NULL)
  if (is.null(link)) return(list(said = c("missing", "its process did not start")))
  worker <- list(link = link, pid = as.integer(pid))
  worker$said <- hear(worker, 120)
  worker
}

#' The fields of the line that a worker says within `seconds`; NULL where it does not
hear <- function(worker, seconds) {
  if (!socketSelect(list(worker$link), timeout = seconds)) return(NULL)
  line <- readLines(worker$link, 1L)
  if (length(line) == 0L) return(c("failed", "its process ended"))
  strsplit(line, "\t", fixed = TRUE)[[1L]]
}

stop_worker <- function(worker) {
  if (is.null(worker$link)) return(invisible())
  try(close(worker$link), silent = TRUE)
  tools::pskill(worker$pid, tools::SIGKILL)
}

#' One way round of a peer: a list of `wall` and `cpu`, or of `said` where there is none
ask_worker <- function(worker, work, folder, asked) {
  given <- vapply(work$given, \(value) paste(format(value, trim = TRUE, scientific = FALSE),
                                             collapse = ","), "")
  writeLines(paste(c(work$request, folder, asked$runs, asked$seconds, asked$limit,
                     paste0(names(given), "=", given)), collapse = "\t"), worker$link)
  said <- hear(worker, asked$limit)
  if (is.null(said)) return(list(said = sprintf("stopped after %g s", asked$limit)))
  if (said[[1L]] != "done") return(list(said = paste("failed:", said[[2L]])))
  times <- lapply(strsplit(said[2:3], ",", fixed = TRUE), as.numeric)
  list(wall = times[[1L]], cpu = times[[2L]])
}

# Workers that are kept for the next question; the script that asks stops them at its end.
workers <- new.env()

#' Ask a peer once, of a worker that is kept for the next time
#'
#' @param data Numbers that it gets.
#' @param device,threads What it may use.
#' @return A list of `result` (the numbers that it gave), `wall` and `cpu`; or of `said`, why there
#'   is nothing.
ask_once <- function(peer, request, data, given, limit, device = "cpu", threads = 1) {
  if (is.null(workers[[peer]])) workers[[peer]] <- start_worker(peer, device, threads)
  worker <- workers[[peer]]
  if (worker$said[[1L]] != "ready") return(list(said = paste("missing:", worker$said[[2L]])))
  folder <- tempfile("work-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  writeBin(as.double(data), file.path(folder, "data"))
  took <- ask_worker(worker, list(request = request, given = given), folder,
                     list(runs = 1, seconds = 1, limit = limit))
  if (!is.null(took$said)) {
    stop_worker(worker)
    workers[[peer]] <- NULL
    return(took)
  }
  file <- file.path(folder, "result")
  c(list(result = readBin(file, "double", file.size(file) / 8)), took)
}
