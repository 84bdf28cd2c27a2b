#!/bin/sh
# Runs every GPU kernel on small data: under the checkers of CUDA, for memory, races between the
# threads of a block, barriers, and reads of memory that nothing was written to; and once
# without a checker, to see which kernels each case launches.
#   TOOLS="memcheck racecheck"   some of them; TOOLS= only lists the launches
#   CASES="episodes map-rows"    some cases of tools/sanitize-gpu.R
#   JOBS=8                       processes at a time; otherwise as many as there are processors
#   LIMIT=600                    seconds that a process may take; then it has failed
#   LIBRARY, OBJECTS             where the package and the objects that it was linked from are
# Fails where a checker finds anything, a case fails, a kernel has no case, or a case does not
# launch a kernel that it is for. What was found is left in .build/sanitize-gpu.
LIBRARY=${LIBRARY:-.build/library}
OBJECTS=${OBJECTS:-.build/source/src}
JOBS=${JOBS:-`nproc 2> /dev/null || getconf _NPROCESSORS_ONLN || echo 2`}
# The cases are dealt to so many processes for each checker.
PARTS=4
LIMIT=${LIMIT:-600}
reports=`pwd`/.build/sanitize-gpu
checker=`command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null`
export LIBRARY PARTS LIMIT CASES reports checker
rm -rf "$reports"
mkdir -p "$reports"
Rscript tools/sanitize-gpu.R --kernels || echo kernels >> "$reports/failed"

# A copy of the package, linked once more from its objects, with tools/launches.c between the
# kernels and the CUDA runtime.
link_traced() {
  mkdir -p "$reports/library"
  cp -R "$LIBRARY/synfire" "$reports/library"
  linked=$reports/library/synfire/libs/synfire.so
  rm "$linked"
  runtime=`sed -n 's/^PKG_LIBS.* -L\([^ ]*\) -lcudart_static.*/\1/p' "$OBJECTS/Makevars"`
  wrap=
  for name in __cudaRegisterFunction __cudaGetKernel __cudaLaunchKernel cudaLaunchKernel \
              cudaLaunchKernelExC cudaLaunchCooperativeKernel; do
    wrap="$wrap -Wl,--wrap=$name"
  done
  `R CMD config CC` -O2 -fPIC -I"$runtime/../include" -I"$runtime/../../../include" \
    -c tools/launches.c -o "$reports/launches.o" || return 1
  echo "SHLIB_LIBADD = $reports/launches.o $wrap -lcudart_static -lrt -lpthread -ldl" \
    > "$reports/Makevars"
  (cd "$OBJECTS" && R_MAKEVARS_USER="$reports/Makevars" \
    R CMD SHLIB -o "$linked" init.c)
}

# The cases under a checker, which is named before the part of the cases: `launches` stands for
# none, with the copy of the package. What fails is named in the file `failed`.
run_part='
  out=$reports/$0.$1
  if [ $0 = launches ]; then
    LAUNCHES=$reports/launches
    R_LIBS=$reports/library:$R_LIBS
    export LAUNCHES R_LIBS
    under=
  else
    under="$checker --tool $0 --target-processes all --error-exitcode 86 --log-file $out.log"
  fi
  timeout -k 5 $LIMIT $under Rscript tools/sanitize-gpu.R $1/$PARTS $CASES > $out.cases 2>&1 ||
    echo $0.$1 >> "$reports/failed"'

tools=${TOOLS-racecheck initcheck memcheck synccheck}
if [ -n "$tools" ] && [ -z "$checker" ]; then
  echo "compute-sanitizer, which comes with CUDA, is not here"
  exit 1
fi
if ! link_traced > "$reports/link.log" 2>&1; then
  cat "$reports/link.log"
  exit 1
fi
for tool in $tools launches; do
  for part in `seq $PARTS`; do echo $tool $part; done
done | xargs -P "$JOBS" -n 2 sh -c "$run_part"
Rscript tools/sanitize-gpu.R --launched "$reports/launches" $CASES ||
  echo launches >> "$reports/failed"
for tool in $tools; do
  for part in `seq $PARTS`; do
    echo "$tool $part: `grep SUMMARY "$reports/$tool.$part.log"`"
  done
done
[ -f "$reports/failed" ] || exit 0
for part in `cat "$reports/failed"`; do
  [ -f "$reports/$part.cases" ] || continue
  echo "== $part"
  grep failed "$reports/$part.cases"
  tail -n 3 "$reports/$part.cases"
  [ ! -f "$reports/$part.log" ] || head -n 60 "$reports/$part.log"
done
exit 1
