# Runs the tests against the installed package; the last line holds the totals alone.
# FILTER=pattern runs the files whose names match, WORKERS=4 so many files side by side.
files <- list.files("tests/testthat", "^test.*[.][rR]$")
files <- grep(Sys.getenv("FILTER"), files, value = TRUE)

# The totals of one file, on whatever process runs it.
test_one <- function(file) {
  name <- sub("^test-?(.*)[.][rR]$", "^\\1$", file)
  results <- as.data.frame(testthat::test_dir(
    "tests/testthat", filter = name, package = "synfire", load_package = "installed",
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

workers <- as.integer(Sys.getenv("WORKERS", "1"))
if (workers > 1L) {
  cluster <- parallel::makePSOCKcluster(workers, outfile = "")
  # Big files first, so that the last ones to end are small.
  files <- files[order(-file.size(file.path("tests/testthat", files)))]
  totals <- parallel::clusterApplyLB(cluster, files, test_one)
  parallel::stopCluster(cluster)
} else {
  totals <- lapply(files, test_one)
}
totals <- Reduce(`+`, totals, c(passed = 0, skipped = 0, failed = 0))
cat(sprintf("%d passed, %d failed, %d skipped\n", totals[["passed"]], totals[["failed"]],
            totals[["skipped"]]))
quit(status = if (totals[["failed"]] > 0 || totals[["passed"]] == 0) 1L else 0L)
