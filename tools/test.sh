#!/bin/sh
# Runs the tests against the installed package; the last line holds the totals alone.
# Snapshots and plots are compared only where the first is set. By the second, threads that
# have to wait sleep: by default OpenMP's keep the processor, which with test files side by
# side was up to three quarters of the time.
NOT_CRAN=true
OMP_WAIT_POLICY=passive
export NOT_CRAN OMP_WAIT_POLICY
exec Rscript tools/test.R
