# Evaluates `code` under a plan with workers on this machine.
with_workers <- function(code, workers = 2) {
  skip_if_not_installed("future")
  old <- future::plan(future::multisession, workers = workers)
  on.exit(future::plan(old))
  force(code)
}

# Runs an example script of the package on MPI ranks; gives its exit status.
run_mpi <- function(script, ranks, arguments) {
  skip_on_cran()
  skip_if_not_installed("snow")
  skip_if_not_installed("future")
  version <- suppressWarnings(tryCatch(
    system2("mpirun", "--version", stdout = TRUE, stderr = TRUE), error = \(e) ""
  ))
  if (!any(grepl("Open MPI", version))) skip("needs Open MPI")
  rscript <- file.path(R.home("bin"), "Rscript")
  # Loading it starts MPI, which does not belong into this process.
  if (system2(rscript, c("-e", "'library(Rmpi)'"), stdout = FALSE, stderr = FALSE) != 0L) {
    skip("needs the package Rmpi")
  }
  script <- system.file("cluster", script, package = "synfire", mustWork = TRUE)
  system2(
    "mpirun", c("--oversubscribe", "-n", ranks, rscript, shQuote(c(script, arguments))),
    stdout = FALSE, stderr = FALSE, timeout = 120,
    env = c("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "R_TESTS=",
            paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)))
  )
}

# Puts another function in the place of one of the package, until the caller ends.
local_function <- function(name, by, .env = parent.frame()) {
  put <- \(value) utils::assignInNamespace(name, value, "synfire")
  old <- get(name, asNamespace("synfire"))
  withr::defer(put(old), envir = .env)
  put(by)
}
