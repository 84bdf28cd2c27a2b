#!/bin/sh
# Calls whose memory cannot be had: malloc() fails at the 1st, 2nd, 3rd ... request, and
# then at all after it; and the whole process may have little memory. R must not crash, and a
# call gives the right answer or says "Not enough memory".
#
#   sh tools/fuzz/faults.sh [most requests that fail, 40] [calls ...]
#
# Needs the installed package (make install), a C compiler and Linux.
set -e
here=$(cd "$(dirname "$0")" && pwd)
most=${1:-40}
[ $# -gt 0 ] && shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
"${CC:-cc}" -O1 -shared -fPIC -o "$scratch/failing.so" "$here/failing_malloc.c" -ldl
export OMP_NUM_THREADS=2 FAULT_SIZE="${FAULT_SIZE:-1024}"
exec Rscript "$here/faults.R" "$scratch" "$most" "$@"
