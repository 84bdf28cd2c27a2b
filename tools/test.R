# Runs the tests against the installed package; the last line holds the totals alone.
# FILTER=pattern runs the files whose names match, WORKERS=4 so many files side by side,
# each in a process of its own.
source("tools/data.R")
folder <- "tests/testthat"
# Files are spread over processes here, so that each has its own totals.
Sys.setenv(TESTTHAT_PARALLEL = "false")
files <- list.files(folder, "^test.*[.][rR]$")
files <- grep(Sys.getenv("FILTER"), files, value = TRUE)

# The totals of one file.
test_one <- function(file) {
  name <- sub("^test-?(.*)[.][rR]$", "^\\1$", file)
  results <- as.data.frame(testthat::test_dir(
    folder, filter = name, package = "synfire", load_package = "installed",
    reporter = testthat::SummaryReporter$new(show_praise = FALSE, max_reports = Inf),
    stop_on_failure = FALSE
  ))
  # A snapshot that is made now compares with nothing: look at it, then keep it.
  is_new <- \(result) startsWith(conditionMessage(result), "Adding new")
  new <- sum(vapply(unlist(results$result, recursive = FALSE), is_new, logical(1)))
  if (new > 0) cat(new, "new snapshots in", file, "\n")
  # A test that stops with an error holds that one failure besides its expectations. A
  # file that made nothing at all would pass for ever, so it fails.
  if (nrow(results) == 0) cat("no test ran in ", file, "\n", sep = "")
  c(passed = sum(results$passed), skipped = sum(results$skipped),
    failed = sum(results$failed) + sum(results$error) + (nrow(results) == 0) + new)
}

# ---- Side by side ----------------------------------------------------------------------

start_one <- function(file) {
  said <- tempfile("said-")
  totals <- tempfile("totals-")
  process <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("tools/test.R", file, totals), stdout = said,
    stderr = "2>&1", cleanup = TRUE
  )
  list(file = file, process = process, said = said, totals = totals)
}

# A process that ended without totals has failed, whatever its tests would have said.
finish_one <- function(one) {
  writeLines(readLines(one$said, warn = FALSE))
  if (file.exists(one$totals)) return(readRDS(one$totals))
  cat("the process that ran ", one$file, " ended with ", one$process$get_exit_status(), "\n",
      sep = "")
  c(passed = 0, skipped = 0, failed = 1)
}

test_side_by_side <- function(files, workers) {
  # Big files first, so that the last ones to end are small.
  waiting <- files[order(-file.size(file.path(folder, files)))]
  running <- totals <- list()
  while (length(waiting) > 0L || length(running) > 0L) {
    while (length(running) < workers && length(waiting) > 0L) {
      running <- c(running, list(start_one(waiting[[1L]])))
      waiting <- waiting[-1L]
    }
    Sys.sleep(0.05)
    ended <- !vapply(running, \(one) one$process$is_alive(), NA)
    totals <- c(totals, lapply(running[ended], finish_one))
    running <- running[!ended]
  }
  totals
}

# ---- What is asked for -----------------------------------------------------------------

asked <- commandArgs(TRUE)
if (length(asked) == 2L) {
  saveRDS(test_one(asked[[1L]]), asked[[2L]])
  quit(status = 0L)
}
workers <- as.integer(Sys.getenv("WORKERS", "1"))
totals <- if (workers > 1L) test_side_by_side(files, workers) else lapply(files, test_one)
totals <- Reduce(`+`, totals, c(passed = 0, skipped = 0, failed = 0))
cat(sprintf("%d passed, %d failed, %d skipped\n", totals[["passed"]], totals[["failed"]],
            totals[["skipped"]]))
quit(status = if (totals[["failed"]] > 0 || totals[["passed"]] == 0) 1L else 0L)
