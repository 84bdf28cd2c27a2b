#!/bin/sh
# Runs the tests against the installed package; the last line holds the totals alone.
# Snapshots and plots are compared only where this is set.
NOT_CRAN=true
export NOT_CRAN
exec Rscript tools/test.R
