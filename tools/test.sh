#!/bin/sh
# Runs the tests against the installed package; the last line holds the totals alone.
# Snapshots and plots are compared only where the first is set. The second makes waiting
# threads sleep: those of OpenMP otherwise keep the processor, which took up to three
# quarters of the time of test files side by side.
NOT_CRAN=true
OMP_WAIT_POLICY=passive
export NOT_CRAN OMP_WAIT_POLICY
exec Rscript tools/test.R
