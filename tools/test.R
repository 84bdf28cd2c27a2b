# Runs the tests against the installed package; the last line holds the totals alone.
library(testthat)
library(synfire)

results <- as.data.frame(test_dir(
  "tests/testthat", package = "synfire", load_package = "installed",
  reporter = SummaryReporter$new(show_praise = FALSE, max_reports = Inf),
  stop_on_failure = FALSE
))

# A test that stops with an error holds that one failure besides its expectations. A file
# that made nothing at all would pass for ever, so it fails.
files <- list.files("tests/testthat", "^test.*[.][rR]$")
silent <- setdiff(files, results$file)
for (file in silent) cat("no test ran in ", file, "\n", sep = "")
# A snapshot that is made now compares with nothing: look at it, then keep it.
is_new <- \(result) startsWith(conditionMessage(result), "Adding new")
new <- sum(vapply(unlist(results$result, recursive = FALSE), is_new, logical(1)))
if (new > 0) cat(new, "new snapshots\n")
failed <- sum(results$failed) + sum(results$error) + length(silent) + new
cat(sprintf(
  "%d passed, %d failed, %d skipped\n",
  sum(results$passed), failed, sum(results$skipped)
))
quit(status = if (failed > 0 || sum(results$passed) == 0) 1L else 0L)
