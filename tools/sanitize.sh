#!/bin/sh
# Runs the tests of the core and of the package with the checkers that compilers have:
# for addresses and undefined behaviour, and, for the loops that threads share, for races.
# FILTER=name runs only test files of the package that match, FILTER=core none of them.
# The last line holds the totals alone.
build=.build/sanitize
reports=`pwd`/$build/reports
rm -rf "$reports"
mkdir -p $build "$reports"
passed=0
failed=0
skipped=0

# counted NAME COMMAND: a command that prints totals last. What it prints is shown where
# something failed.
counted() {
  name=$1
  shift
  echo "== $name"
  "$@" > $build/output 2>&1
  status=$?
  totals=`grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' $build/output | tail -n 1`
  if [ -z "$totals" ]; then
    totals="0 passed, 1 failed, 0 skipped"
  fi
  set -- `echo "$totals" | tr -d ,`
  [ "$status" -eq 0 ] || [ "$3" -gt 0 ] || set -- "$1" passed 1 failed "$5"
  passed=$((passed + $1))
  failed=$((failed + $3))
  skipped=$((skipped + $5))
  if [ "$3" -gt 0 ]; then tail -n 200 $build/output; fi
}

skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

# core_tests COMPILER FLAGS...: builds and runs tests/core.
core_tests() {
  compiler=$1
  shift
  program=$build/core-$compiler
  (cd src && find core ../tests/core -name '*.c' | xargs -P 2 -I FILE sh -c '
     "$@" -std=c99 -O1 -g -fopenmp -I. -I../tests/core -c FILE \
       -o "../'$program'-`echo FILE | tr / -`.o"' sh "$compiler" "$@") || return 1
  "$compiler" "$@" -fopenmp $program-*.o -lm -o $program || return 1
  rm -f $program-*.o
  ./$program
}

# The stack that detect_stack_use_after_return makes is not aligned as AVX-512 needs it
# (GCC bug 110027).
# A report is what counts: no program may go on as if there were none.
# Some tests ask for more memory than there is: they must be refused it, as by any malloc().
ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=0:allocator_may_return_null=1"
ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$reports/address"
UBSAN_OPTIONS="print_stacktrace=1:log_path=$reports/undefined"
TSAN_OPTIONS="ignore_noninstrumented_modules=1:log_path=$reports/thread"
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

counted "the core: addresses, leaks and undefined behaviour" \
  core_tests gcc -fsanitize=address,undefined -fno-omit-frame-pointer

if [ -n "$SYNFIRE_NIGHTLY" ]; then
  counted "the core: races between threads" core_tests gcc -fsanitize=thread
else
  skip "make nightly searches for races"
fi

# R itself never frees all it has, so leaks are not looked for here.
package_tests() {
  flags='-fsanitize=address,undefined -fno-omit-frame-pointer'
  echo "CC = gcc $flags" > $build/Makevars
  R_MAKEVARS_USER=`pwd`/$build/Makevars \
    sh tools/install.sh $build/library --no-test-load \
      --configure-args=--with-cuda=no || return 1
  # Memory that was freed is kept for a while, to see who uses it; little of it, as tests
  # measure what a process holds.
  ASAN_OPTIONS="${ASAN_OPTIONS}:detect_leaks=0:quarantine_size_mb=4" \
  LD_PRELOAD="`gcc -print-file-name=libasan.so` `gcc -print-file-name=libubsan.so`" \
  R_LIBS="`pwd`/$build/library${R_LIBS:+:$R_LIBS}" FILTER=$FILTER sh tools/test.sh
}
if [ "$FILTER" != core ]; then
  counted "the package: addresses and undefined behaviour" package_tests
fi

# A file that says no more than that memory was refused is no report.
for report in "$reports"/*; do
  [ -f "$report" ] && ! grep -v 'WARNING: AddressSanitizer failed to allocate' "$report" \
    > /dev/null && rm "$report"
done
if [ -n "`ls "$reports"`" ]; then
  failed=$((failed + `ls "$reports" | wc -l`))
  head -n 60 "$reports"/*
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
