# Runs the tests against the installed package, each file in a process of its own: a line a
# file, what failed in full, skipped tests by their reason, and the totals alone last.
# FILTER=pattern runs the files whose names match, WORKERS=4 as many files at a time (as a
# rule, one for each processor), TIMES=yes writes how long each took to tests/times.csv.
source("tools/data.R")
folder <- "tests/testthat"
# testthat itself starts no further processes.
Sys.setenv(TESTTHAT_PARALLEL = "false")

# ---- One file ----------------------------------------------------------------------------

# What a test expected in vain, or warned of, and where.
failure_text <- function(result, test, file) {
  kind <- c(expectation_error = "Error", expectation_warning = "Warning")[class(result)[[1L]]]
  if (is.na(kind)) kind <- "Failure"
  place <- c(file, if (!is.null(result$srcref)) result$srcref[[1L]])
  paste0("-- ", kind, " (", paste(place, collapse = ":"), "): ", test, " --\n",
         format(result), "\n")
}

# A snapshot that is made now compares with nothing: somebody must look at it, then keep it.
is_failure <- function(result) {
  inherits(result, c("expectation_failure", "expectation_error")) ||
    inherits(result, "expectation_warning") &&
      startsWith(conditionMessage(result), "Adding new")
}

test_one <- function(file) {
  began <- proc.time()[["elapsed"]]
  name <- sub("^test-?(.*)[.][rR]$", "^\\1$", file)
  tests <- testthat::test_dir(
    folder, filter = name, package = "synfire", load_package = "installed",
    reporter = "silent", stop_on_failure = FALSE
  )
  seconds <- proc.time()[["elapsed"]] - began
  results <- unlist(lapply(tests, `[[`, "results"), recursive = FALSE)
  is_a <- \(kind) vapply(results, inherits, NA, paste0("expectation_", kind))
  failed <- vapply(results, is_failure, NA)
  for (test in tests) for (result in test$results) {
    if (is_failure(result) || inherits(result, "expectation_warning")) {
      cat(failure_text(result, test$test, file), "\n", sep = "")
    }
  }
  # A file without any test would pass for ever.
  if (length(tests) == 0L) cat("no test ran in ", file, "\n", sep = "")
  list(
    passed = sum(is_a("success")), failed = sum(failed) + (length(tests) == 0L),
    skipped = sum(is_a("skip")), seconds = seconds,
    reasons = sub("^Reason: ", "", vapply(results[is_a("skip")], conditionMessage, ""))
  )
}

asked <- commandArgs(TRUE)
if (length(asked) == 2L) {
  saveRDS(test_one(asked[[1L]]), asked[[2L]])
  quit(status = 0L)
}

# ---- Files side by side ------------------------------------------------------------------

processors <- synfire:::threads_report()[["threads"]]
workers <- as.integer(Sys.getenv("WORKERS"))
if (is.na(workers)) workers <- processors
# Threads of all files together should not be many more than there are processors.
if (!nzchar(Sys.getenv("OMP_NUM_THREADS"))) {
  Sys.setenv(OMP_NUM_THREADS = max(2L, processors %/% workers))
}

start_one <- function(file) {
  said <- tempfile("said-")
  outcome <- tempfile("outcome-")
  process <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("tools/test.R", file, outcome), stdout = said,
    stderr = "2>&1", cleanup = TRUE
  )
  list(file = file, process = process, said = said, outcome = outcome)
}

# A process that ended without an outcome has failed, whatever its tests would have said.
finish_one <- function(one) {
  outcome <- if (file.exists(one$outcome)) readRDS(one$outcome) else {
    list(passed = 0L, failed = 1L, skipped = 0L, seconds = NA, reasons = character())
  }
  cat(sprintf("%-34s %6d passed %4d failed %4d skipped %7.1f s\n",
              sub("^test-?(.*)[.][rR]$", "\\1", one$file), outcome$passed, outcome$failed,
              outcome$skipped, outcome$seconds))
  writeLines(Filter(nzchar, readLines(one$said, warn = FALSE)))
  if (!file.exists(one$outcome)) {
    cat("the process that ran ", one$file, " ended with ", one$process$get_exit_status(),
        "\n", sep = "")
  }
  c(list(file = one$file), outcome)
}

run_all <- function(waiting) {
  running <- outcomes <- list()
  while (length(waiting) > 0L || length(running) > 0L) {
    while (length(running) < workers && length(waiting) > 0L) {
      running <- c(running, list(start_one(waiting[[1L]])))
      waiting <- waiting[-1L]
    }
    processx::poll(lapply(running, `[[`, "process"), 50L)
    ended <- !vapply(running, \(one) one$process$is_alive(), NA)
    outcomes <- c(outcomes, lapply(running[ended], finish_one))
    running <- running[!ended]
  }
  outcomes
}

files <- list.files(folder, "^test.*[.][rR]$")
files <- grep(Sys.getenv("FILTER"), files, value = TRUE)
# The longest first, so that the last ones to end are short; nobody has timed a new file.
times <- utils::read.csv("tests/times.csv")
seconds <- times$seconds[match(files, times$file)]
outcomes <- run_all(files[order(seconds, decreasing = TRUE, na.last = FALSE)])
column <- function(name, kind) vapply(outcomes, `[[`, kind, name)

if (Sys.getenv("TIMES") == "yes") {
  timed <- data.frame(file = column("file", ""), seconds = round(column("seconds", 0), 1))
  kept <- times[!times$file %in% timed$file & file.exists(file.path(folder, times$file)), ]
  timed <- rbind(kept, timed[!is.na(timed$seconds), ])
  utils::write.csv(timed[order(timed$file), ], "tests/times.csv", row.names = FALSE, quote = FALSE)
}
reasons <- sort(table(unlist(lapply(outcomes, `[[`, "reasons"))), decreasing = TRUE)
cat(sprintf("skipped %d times: %s\n", reasons, names(reasons)), sep = "")
totals <- vapply(c("passed", "failed", "skipped"), \(kind) sum(column(kind, 0)), 0)
cat(sprintf("%d passed, %d failed, %d skipped\n", totals[["passed"]], totals[["failed"]],
            totals[["skipped"]]))
quit(status = if (totals[["failed"]] > 0 || totals[["passed"]] == 0) 1L else 0L)
