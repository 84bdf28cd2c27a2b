#!/bin/sh
# Builds the core and its tests for the platforms that the package is for, as far as this
# machine has compilers for them, and runs the tests where it can run such programs: a line
# a platform. What is missing is skipped, with what to install. The last line holds the
# totals alone.
build=`pwd`/.build/portable
rm -rf "$build"
mkdir -p "$build"
passed=0
failed=0
skipped=0
strict='-std=c99 -O1 -Wall -Wextra -pedantic -Werror'

skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

# platform NAME RUNNER COMPILER FLAGS...: the tests of the core, built by the compiler and
# started by the runner: `run` for none, `no` where nothing can run them.
platform() {
  name=$1
  runner=$2
  shift 2
  if ! command -v "$1" > /dev/null 2>&1; then
    skip "$name: there is no $1"
    return
  fi
  folder=$build/work
  rm -rf "$folder"
  mkdir "$folder"
  if (cd src && find core ../tests/core -name '*.c' | xargs -P 2 -I FILE sh -c '
        folder=$1
        shift
        "$@" -I. -I../tests/core -c FILE -o "$folder/`echo FILE | tr -d . | tr / -`.o"
      ' sh "$folder" "$@" && "$@" "$folder"/*.o -lm -o "$folder/tests.exe") \
      > "$build/said" 2>&1; then
    case $runner in
      no) outcome="the tests build, and nothing here can run them" ;;
      run) outcome=`OMP_NUM_THREADS=2 "$folder/tests.exe" 2>> "$build/said" | tail -n 1` ;;
      *) outcome=`OMP_NUM_THREADS=2 $runner "$folder/tests.exe" 2>> "$build/said" |
           tail -n 1 | tr -d '\r'` ;;
    esac
  else
    outcome="the tests do not build"
  fi
  case $outcome in
    *" passed, 0 failed, "*|"the tests build"*)
      passed=$((passed + 1))
      echo "ok: $name: $outcome" ;;
    *)
      failed=$((failed + 1))
      echo "FAILED: $name: $outcome"
      tail -n 20 "$build/said" | sed 's/^/  /' ;;
  esac
}

# The first of the programs named that is there, else `no`.
first_of() {
  for program in "$@"; do
    if command -v "$program" > /dev/null 2>&1; then
      echo "$program"
      return
    fi
  done
  echo no
}

platform "gcc" run gcc $strict -fopenmp
platform "gcc without OpenMP" run gcc $strict -Wno-unknown-pragmas
# That clang makes no vector of a loop which asks for one is no fault of the loop.
platform "clang" run clang $strict -Wno-pass-failed -fopenmp
platform "clang without OpenMP" run clang $strict -Wno-pass-failed -Wno-unknown-pragmas
# What is there on Linux alone is left out, as on macOS and the BSDs.
platform "a Unix that is not Linux" run gcc $strict -fopenmp -U__linux__ -U__linux

# A static program needs no libraries of that machine.
platform "Linux on arm64" "`first_of qemu-aarch64-static qemu-aarch64`" \
  aarch64-linux-gnu-gcc $strict -fopenmp -static
# Windows' C library has its own words for formats, which gcc does not know by default.
wine=`first_of wine64 wine /usr/lib/wine/wine64`
WINEDEBUG=-all
WINEPREFIX=$build/wine
export WINEDEBUG WINEPREFIX
platform "Windows" "$wine" "`first_of x86_64-w64-mingw32-gcc-posix x86_64-w64-mingw32-gcc |
  sed 's/^no$/x86_64-w64-mingw32-gcc/'`" -std=gnu99 -O1 -Wall -Wextra -Werror \
  -fopenmp -static

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
