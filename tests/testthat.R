library(testthat)
library(synfire)

# Some files alone, where all have run with another build.
test_check("synfire", filter = if (nzchar(Sys.getenv("FILTER"))) Sys.getenv("FILTER"))
