# Skips, with the reason, a test that takes too long for every change.
skip_unless_nightly <- function() {
  testthat::skip_if_not(nzchar(Sys.getenv("SYNFIRE_NIGHTLY")), "runs with make nightly")
}
