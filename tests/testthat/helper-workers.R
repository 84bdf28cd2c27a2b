# Evaluates `code` under a plan with two workers on this machine.
with_workers <- function(code) {
  skip_if_not_installed("future")
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  force(code)
}
