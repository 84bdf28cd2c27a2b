# Skips with the reason where no GPU runs the kernels.
skip_without_gpu <- function() {
  report <- synfire_sitrep(test_devices = FALSE)
  if (nrow(report$devices) == 0L) testthat::skip(paste("no GPU:", report$cuda$reason))
}
