# The methods of bench/truth.R. Each runs in a process of its own, which reads a recording as
# a table and writes a table of what it found, so that all are stopped alike when their time
# is over.
#
# A method is a list of
#   title     as the tables show it
#   bins      lengths of bins in seconds, one process each; NULL for one without bins
#   command   function(bin, recording, result, truth) that gives the command and its arguments
#
# The table has `assembly` (number), `unit` (number from 1), `lag` (seconds), `p` and, if the method says
# them, `times`: the moments that lags are counted from, in seconds, with blanks between them.

python <- Sys.getenv("PYTHON", "python3")
peers_folder <- Sys.getenv("PEERS", ".build/peers")

r_method <- function(name) {
  function(bin, recording, result, duration) {
    c(file.path(R.home("bin"), "Rscript"), file.path(here, "truth", "worker.R"), name, bin,
      recording, result, duration)
  }
}

python_method <- function(name) {
  function(bin, recording, result, duration) {
    c(python, file.path(here, "truth", paste0(name, ".py")), bin, recording, result, duration)
  }
}

methods <- list(
  ours = list(title = "find_assemblies()", bins = NULL, command = r_method("ours")),
  # With bins of 50 ms and above most units fire in most bins: such patterns are too many.
  spade = list(title = "spade()", bins = c(0.003, 0.005, 0.010, 0.020),
               command = r_method("spade")),
  # The tutorial of the method's authors has 15 ms to 1.5 s.
  cad = list(title = "Elephant's CAD",
             bins = c(0.003, 0.005, 0.010, 0.020, 0.030, 0.050, 0.100, 0.200, 0.400, 1),
             command = python_method("cad")),
  ica = list(title = "PCA and ICA", bins = c(0.005, 0.010, 0.025, 0.050, 0.100),
             command = python_method("ica"))
)

#' What is missing for a method, or NULL
missing_for <- function(name) {
  if (name == "ours" && !"find_assemblies" %in% getNamespaceExports("synfire")) {
    return("this package has no find_assemblies()")
  }
  needed <- c(cad = "elephant.cell_assembly_detection", ica = "sklearn.decomposition")
  if (name %in% names(needed)) {
    said <- suppressWarnings(system2(
      python, c("-c", shQuote(paste("import", needed[[name]]))),
      env = paste0("PYTHONPATH=", elephant_path()), stdout = TRUE, stderr = TRUE
    ))
    if (!is.null(attr(said, "status"))) {
      return(paste(needed[[name]], "is missing:", utils::tail(said, 1L)))
    }
  }
  NULL
}

elephant_path <- function() {
  paste(c(normalizePath(file.path(peers_folder, "elephant"), mustWork = FALSE),
          Sys.getenv("PYTHONPATH")), collapse = ":")
}

#' What a method finds in a recording, at each of its bins
#'
#' @param kept Folder: what is found there already is not done again.
#' @return Data frame, a row a bin: `bin` (NA for one without), `seconds` and `cpu`, `result`
#'   ("done", "stopped" or "failed") and the list column `found`.
run_method <- function(name, recording, x, limit, kept) {
  bins <- methods[[name]]$bins
  runs <- lapply(if (is.null(bins)) NA else bins, \(bin) {
    file <- sub("[.]csv$", sprintf("-%s-%s", name, format(bin)), recording)
    done <- paste0(file.path(kept, basename(file)), ".rds")
    if (file.exists(done)) return(readRDS(done))
    run <- run_process(methods[[name]]$command(bin, recording, paste0(file, ".csv"),
                                               attr(x, "end")), limit)
    found <- if (run$result == "done") {
      as_found(utils::read.csv(paste0(file, ".csv")), levels(x$unit))
    } else {
      no_assemblies()
    }
    run <- list(bin = bin, seconds = run$seconds, cpu = run$cpu, result = run$result,
                found = found)
    saveRDS(run, done)
    run
  })
  table <- data.frame(bin = vapply(runs, \(r) as.numeric(r$bin), numeric(1)),
                      seconds = vapply(runs, `[[`, numeric(1), "seconds"),
                      cpu = vapply(runs, `[[`, numeric(1), "cpu"),
                      result = vapply(runs, `[[`, character(1), "result"))
  table$found <- lapply(runs, `[[`, "found")
  table
}

# A process is stopped by its CPU time, so that a busy machine stops no more than an idle one.
run_process <- function(command, limit) {
  began <- proc.time()
  threads <- paste0(c("OMP", "OPENBLAS", "MKL"), "_NUM_THREADS=1")
  log <- tempfile("log-")
  line <- paste(c(sprintf("ulimit -t %.0f; exec", ceiling(limit)), shQuote(command)), collapse = " ")
  status <- suppressWarnings(system2(
    "sh", c("-c", shQuote(line)), stdout = log, stderr = log,
    env = c(threads, paste0("PYTHONPATH=", elephant_path()))
  ))
  took <- proc.time() - began
  cpu <- took[["user.child"]] + took[["sys.child"]]
  result <- if (status == 0L) "done" else if (cpu >= 0.95 * limit) "stopped" else "failed"
  if (result == "failed") {
    cat("  failed:", paste(utils::tail(readLines(log, warn = FALSE), 2L), collapse = " "), "\n")
  }
  list(seconds = took[["elapsed"]], cpu = cpu, result = result)
}

no_assemblies <- function() {
  found <- data.frame(p = numeric())
  found$units <- found$lags <- found$times <- list()
  found
}

#' A table of found assemblies as score.R has them
as_found <- function(table, levels) {
  if (nrow(table) == 0L) return(no_assemblies())
  by <- split(table, table$assembly)
  found <- data.frame(p = vapply(by, \(one) one$p[[1L]], numeric(1)))
  found$units <- lapply(by, \(one) levels[one$unit])
  found$lags <- lapply(by, `[[`, "lag")
  found$times <- lapply(by, \(one) {
    if (is.null(one$times)) NA_real_ else
      as.numeric(strsplit(as.character(one$times[[1L]]), " ", fixed = TRUE)[[1L]])
  })
  found
}

#' What several bins found together: of the same units only the surest
#'
#' p values of several bins are corrected for how many there are (Bonferroni).
pool_bins <- function(runs) {
  done <- runs$result == "done"
  found <- do.call(rbind, c(list(no_assemblies()), runs$found[done]))
  if (nrow(found) == 0L) return(found)
  found$p <- pmin(1, found$p * max(1L, sum(done)))
  found <- found[order(found$p), ]
  names <- vapply(found$units, \(u) paste(sort(u), collapse = " "), character(1))
  found[!duplicated(names), ]
}
