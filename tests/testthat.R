library(testthat)
library(synfire)

test_check("synfire")
