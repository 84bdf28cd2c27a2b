#!/bin/sh
# R CMD check --as-cran of a fresh source package. Succeeds when there is no error, no
# warning and no note other than those explained below. Built without CUDA, as CRAN does,
# unless SYNFIRE_CUDA_ARCH says otherwise.
set -e
SYNFIRE_CUDA_ARCH=${SYNFIRE_CUDA_ARCH:-none}
export SYNFIRE_CUDA_ARCH
folder=.build/check
sh tools/copy.sh .build/check-source
rm -rf $folder
mkdir -p $folder
cd $folder

# What these switch off needs a network, or is about other people's packages.
_R_CHECK_SYSTEM_CLOCK_=0
_R_CHECK_FORCE_SUGGESTS_=false
_R_CHECK_CRAN_INCOMING_REMOTE_=false
_R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=true
export _R_CHECK_SYSTEM_CLOCK_ _R_CHECK_FORCE_SUGGESTS_ _R_CHECK_CRAN_INCOMING_REMOTE_
export _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_
# An example takes less than 5 s on a machine of its own; this one may have other work.
_R_CHECK_EXAMPLE_TIMING_THRESHOLD_=20
export _R_CHECK_EXAMPLE_TIMING_THRESHOLD_
MAKEFLAGS=-j2
export MAKEFLAGS

# The vignettes are made here, and need not be made once more.
R CMD build ../check-source
R CMD check --as-cran --no-manual --no-vignettes synfire_*.tar.gz || true

log=synfire.Rcheck/00check.log
status=`sed -n 's/^Status: //p' $log`

# The check itself shows the last lines of what failed alone, seldom the name of a test.
show_failures() {
  if [ -f synfire.Rcheck/tests/testthat.Rout.fail ]; then
    echo "== the tests that failed in R CMD check"
    # From the first failure on; tests that R did not survive have no such heading.
    sed -n '/^[^ ]* Failed tests /,$p' synfire.Rcheck/tests/testthat.Rout.fail > failures
    [ -s failures ] || tail -n 40 synfire.Rcheck/tests/testthat.Rout.fail > failures
    head -n 200 failures
  elif [ ! -f synfire.Rcheck/synfire/libs/synfire.so ]; then
    echo "== the end of the installation in R CMD check"
    tail -n 40 synfire.Rcheck/00install.out
  fi
}

case $status in
  OK) exit 0 ;;
  '') show_failures >&2; echo "make check: the check did not finish" >&2; exit 1 ;;
  *ERROR*|*WARNING*) show_failures >&2; echo "make check: $status" >&2; exit 1 ;;
esac

library_is_small() {
  cp synfire.Rcheck/synfire/libs/synfire.so stripped.so
  strip --strip-unneeded stripped.so
  [ "`wc -c < stripped.so`" -lt 1200000 ]
}

# The headings of notes that are right as they are, each with its reason.
explained() {
  case $1 in
    # Debian's R compiles with -g, and what a debugger reads is most of the library; without
    # that, it must stay below 1.2 MB. The guides have pictures.
    '* checking installed package size'*)
      grep -e ' -g ' synfire.Rcheck/00install.out && library_is_small ;;
    # What is enhanced need not be there; what is suggested has to be.
    '* checking package dependencies'*)
      grep '^Packages* which this enhances but not available' $log &&
        ! grep '^Packages* suggested but not available' $log ;;
    *) return 1 ;;
  esac > /dev/null
}

# A note that has no heading of its own line would escape the loop below.
grep '^\* .*NOTE$' $log > notes || true
if [ "`grep -c . notes`" -ne "${status%% *}" ]; then
  echo "make check: $status" >&2
  exit 1
fi
unexplained=0
while read -r heading; do
  explained "$heading" && continue
  echo "make check: $heading" >&2
  unexplained=1
done < notes
exit $unexplained
