# Where recordings are looked for, by tests, benchmarks and the scripts of vignettes: the
# folder that SYNFIRE_DATA names, else data-raw/ (what tools/get-data.R fetches), else
# ../shared/data. `source("tools/data.R")` in the folder of the package sets SYNFIRE_DATA to
# that; where none is there it stays empty.
if (!nzchar(Sys.getenv("SYNFIRE_DATA"))) {
  there <- Filter(dir.exists, c("data-raw", file.path("..", "shared", "data")))
  if (length(there) > 0L) Sys.setenv(SYNFIRE_DATA = normalizePath(there[[1L]]))
  rm(there)
}
