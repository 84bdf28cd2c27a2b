# Path of a file of the shared data sets, which are no part of the package; skips the
# test where they are not there.
shared_data <- function(name) {
  folder <- Sys.getenv("SYNFIRE_DATA")
  if (!nzchar(folder)) testthat::skip("SYNFIRE_DATA does not name the shared data")
  path <- file.path(folder, name)
  if (!file.exists(path)) testthat::skip(paste(name, "is not among the shared data"))
  path
}
