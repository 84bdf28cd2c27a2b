#!/bin/sh
# Runs every GPU kernel under the checkers of CUDA: for memory, races between the threads of
# a block, reads of memory that nothing was written to, and barriers.
#   TOOLS="memcheck racecheck"   some of them
#   CASES="episodes map-rows"    some cases of tools/sanitize-gpu.R
# Fails where a checker finds anything, a case fails or a kernel has no case.
reports=.build/sanitize-gpu
mkdir -p $reports
Rscript tools/sanitize-gpu.R --kernels || exit 1
checker=`command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null`
if [ -z "$checker" ]; then
  echo "compute-sanitizer, which comes with CUDA, is not here"
  exit 1
fi
status=0
for tool in ${TOOLS:-memcheck synccheck initcheck racecheck}; do
  echo "== $tool"
  if ! "$checker" --tool $tool --target-processes all --error-exitcode 86 \
      --log-file $reports/$tool.log Rscript tools/sanitize-gpu.R $CASES \
      > $reports/$tool.cases 2>&1; then
    status=1
    tail -n 3 $reports/$tool.cases
    head -n 60 $reports/$tool.log
  fi
  grep 'SUMMARY' $reports/$tool.log
done
exit $status
