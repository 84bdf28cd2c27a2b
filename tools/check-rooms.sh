#!/bin/sh
# The rules of the house: what each folder of src/ may see and do. The last line holds
# the totals alone.
cd src || exit 1
CC=${CC:-gcc}
strict='-std=c99 -Wall -Wextra -pedantic -Werror -I.'
objects=`mktemp -d` || exit 1
trap 'rm -rf "$objects"' EXIT
passed=0
failed=0
skipped=0
core_sources=`find core -name '*.c' | sort`
core_headers=`find core -name '*.h' | sort`
core="$core_sources $core_headers"
gpu_headers=`find gpu -name '*.h' | sort`
gpu=`find gpu -type f -name '*.[ch]*' | sort`

# rule TEXT: the rule holds when the file `$objects/found` is empty.
rule() {
  if [ -s "$objects/found" ]; then
    failed=$((failed + 1))
    echo "FAILED: $1"
    sed 's/^/  /' "$objects/found"
  else
    passed=$((passed + 1))
    echo "ok: $1"
  fi
}
found="$objects/found"

# each FILES COMMAND...: the command for every file, which comes last, two at a time. What
# they say, and nothing else, is printed.
each() {
  files=$1
  shift
  printf '%s\n' $files | xargs -P 2 -I FILE "$@" FILE 2>&1
}

# objects_of FILES COMMAND...: the same, to an object each.
objects_of() {
  files=$1
  shift
  each "$files" sh -c '
    objects=$1 command=$2
    $command -c "$3" -o "$objects/`echo "$3" | tr / -`.o"' sh "$objects" "$*"
}

# Without PIE, tables of constants stay in read-only sections, where the rule on state
# expects them.
objects_of "$core_sources" $CC $strict -O2 -fopenmp -fno-pie > "$found"
rule "core compiles as strict C99, without R on the include path"

each "$core_sources" $CC $strict -fsyntax-only -Wno-unknown-pragmas > "$found"
rule "core compiles without OpenMP"

each "$core_sources" $CC $strict -fsyntax-only -fopenmp -U__linux__ -U__linux > "$found"
rule "core compiles on a Unix that is not Linux"

each "$core_headers $gpu_headers" $CC $strict -fsyntax-only -x c > "$found"
rule "headers of core and gpu stand alone"

each "$gpu_headers" ${CXX:-g++} -Wall -Wextra -pedantic -Werror -I. -fsyntax-only -x c++ \
  > "$found"
rule "headers of gpu are C++ as well"

objects_of gpu/none.c $CC $strict -Wno-unused-parameter -O2 -fno-pie > "$found"
rule "the stand-in for CUDA compiles as strict C99"

r_include=`R CMD config --cppflags | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' '`
cli_include=`Rscript --vanilla -e 'cat(system.file("include", package = "cli"))'`
# R's own table of routines holds functions of every shape as one type.
each "init.c `ls glue/*.c`" $CC $strict $r_include -isystem "$cli_include" \
  -Wno-cast-function-type -fopenmp -fsyntax-only > "$found"
rule "glue compiles as strict C99"

r_header='^ *# *include *["<](R\.h|R_ext/|Rinternals|Rdefines|Rmath|Rconfig|Rversion|Rcpp|cpp11|cli/)'
grep -nE "$r_header" $core $gpu > "$found"
rule "neither core nor gpu names an R header"

grep -nE '^ *# *include *"' $core | grep -v '"core/' > "$found"
rule "core includes nothing but core"

grep -nE '^ *# *include *"' $gpu | grep -vE '"(gpu/|core/[a-z_/]*\.h")' > "$found"
rule "gpu includes nothing but gpu and the types of core"

grep -nE '^ *# *include *<(cuda|cub/|thrust/|cooperative|nv)' $core glue/* init.c > "$found"
rule "CUDA is seen in gpu alone"

grep -nE '^ *# *include *"' glue/* init.c | grep -vE '"((core|gpu|glue)/[a-z_/]*|entries)\.h"' > "$found"
rule "includes are written from src/"

grep -nE 'ifn?def.*(CUDA|GPU)' $core glue/* init.c gpu/none.c | grep -v '_H$' > "$found"
rule "the device is chosen by linking, not by the preprocessor"

nm -A "$objects"/core-*.o | sed "s|^$objects/||" | awk '$2 ~ /^[DBC]$/ || $3 ~ /^[bdDBC]$/' |
  # Whether this process was forked, and its threads: only the process can remember that.
  grep -vE 'core-base-(parallel\.c\.o:.* (in_forked_child|registered|cgroup_quota)|workers\.c\.o:.* (pool|here))(\.[0-9]+)?$' > "$found"
rule "core keeps no state"

nm -A -u "$objects"/core-*.o | sed "s|^$objects/||" |
  grep -E ' (v?f?printf|puts|putchar|fputs|fwrite|perror|exit|abort|s?rand|random|setjmp|longjmp|signal|sigaction|omp_set_.*|std(out|err))$' \
  > "$found"
rule "core neither prints, exits, draws nor touches signals and thread counts"

nm -A -g --defined-only "$objects"/core-*.o | sed "s|^$objects/||" |
  awk '$3 !~ /^syn_/ || $3 ~ /^syn_gpu_/' > "$found"
nm -A -g --defined-only "$objects"/gpu-*.o | sed "s|^$objects/||" |
  awk '$3 !~ /^syn_gpu_/' >> "$found"
rule "names begin with syn_ in core and with syn_gpu_ in gpu"

nm -g --defined-only "$objects"/gpu-*.o | awk 'NF == 3 { print $3 }' | sort > "$objects/none"
cat $gpu_headers | grep -oE '(syn_gpu_[a-z0-9_]+\(|SYN_GPU_(FUNCTION|MAKER)\(syn_gpu_[a-z0-9_]+)' |
  sed 's/SYN_GPU_[A-Z]*(//; s/($//' | sort -u > "$objects/declared"
diff "$objects/declared" "$objects/none" > "$found"
rule "the stand-in defines exactly what the headers of gpu declare"

# Each folder sees itself, those before it, and no other.
may_see() {
  for file in `find $1 -type f | sort`; do
    grep -nE '^ *# *include *"core/' $file /dev/null | grep -vE "\"($2)/[a-z_0-9]*\.[ch]\""
  done
}
{
  may_see core/base core/base
  may_see core/spikes 'core/(base|spikes)'
  may_see core/correlation 'core/(base|spikes|correlation)'
  may_see core/synapses 'core/(base|spikes|correlation|synapses)'
  may_see core/surrogates 'core/(base|spikes|surrogates)'
  may_see core/assemblies 'core/(base|spikes|correlation|surrogates|assemblies)'
  may_see core/episodes 'core/(base|spikes|surrogates|episodes|episodes/null)'
  may_see core/patterns/closure 'core/(base|spikes|patterns|patterns/closure)'
  may_see core/patterns/fpgrowth 'core/(base|spikes|patterns|patterns/fpgrowth)'
  may_see core/patterns/spectrum 'core/(base|spikes|surrogates|patterns|patterns/spectrum)'
  may_see core/patterns/found 'core/(base|spikes|patterns|patterns/found)'
  may_see core/patterns 'core/(base|spikes|surrogates|patterns|patterns/[a-z]*)'
  may_see core/edm/model 'core/(base|edm/model)'
  may_see core/edm/neighbours 'core/(base|edm/model|edm/neighbours)'
  may_see core/edm/simplex 'core/(base|edm/model|edm/neighbours|edm/simplex)'
  may_see core/edm/smap 'core/(base|edm/model|edm/neighbours|edm/smap)'
  may_see core/edm/ccm 'core/(base|edm/model|edm/neighbours|edm/ccm)'
  may_see core/edm/forecast 'core/(base|edm/model|edm/smap|edm/forecast)'
  may_see core/causal 'core/(base|causal)'
  may_see core/networks 'core/(base|networks)'
  may_see core/kinds 'core/(base|assemblies|surrogates|episodes|patterns/(closure|spectrum)|edm/[a-z]*|causal)'
} > "$found"
rule "no folder of core includes one above it or beside it"

grep -nE '^.{91,}' init.c glue/*.[ch] $core $gpu > "$found"
rule "lines are at most 90 columns wide"

# A sentence in quotes and a row of a table in the help may be longer.
grep -nE '^.{101,}' ../R/*.R | grep -vE "R:[0-9]+:#' [|]|\"[^\"]{60,}" > "$found"
rule "lines of R are at most 100 columns wide"

# The file read last would win without a word.
grep -hoE '^[^ #(]+ <- ' ../R/*.R | sort | uniq -d > "$found"
rule "each name of R is defined once"

cd ..
Rscript --vanilla tools/lines.R --rooms > "$found" 2>&1
rule "rooms of R use only lower ones, and no files of R need each other in a circle"

Rscript --vanilla tools/check-papers.R 2> "$found" > "$objects/said" ||
  echo "see Rscript tools/check-papers.R" >> "$found"
rule "each figure and table of the papers has a place in our pages, or a reason"

# A whole library with the compiler's strictest words, for the oldest GPUs. STRICT_LIBRARY
# names one that was built with such words already, and is not built again.
if [ -z "$STRICT_LIBRARY" ]; then
  STRICT_LIBRARY=.build/library-strict
  NVCCFLAGS='-Werror all-warnings -Xcompiler -Wall,-Wextra'
  SYNFIRE_CUDA_ARCH=sm_75
  export NVCCFLAGS SYNFIRE_CUDA_ARCH
fi
if command -v nvcc > /dev/null 2>&1 || [ -x /usr/local/cuda/bin/nvcc ]; then
  {
    sh tools/install.sh $STRICT_LIBRARY > "$objects/said" 2>&1 || cat "$objects/said"
    (cd src && find gpu -name '*.cu') | while read -r kernel; do
      grep -e "-Werror all-warnings .*-Wall,-Wextra .*-c $kernel " $STRICT_LIBRARY/install.log \
        > /dev/null || echo "$kernel was not compiled so that a warning is an error"
    done
  } > "$found"
  rule "every kernel compiles without a warning"
  nm $STRICT_LIBRARY/synfire/libs/synfire.so | awk 'NF == 3 && $3 ~ /^syn_gpu_[a-z0-9_]*$/ { print $3 }' |
    sort > "$objects/kernels"
  diff "$objects/declared" "$objects/kernels" > "$found"
  rule "the kernels define exactly what the headers of gpu declare"
else
  skipped=$((skipped + 2))
  echo "skipped: no nvcc here, so no kernel is compiled (2 rules)"
fi

for library in .build/library .build/check/synfire.Rcheck; do
  if [ -f $library/synfire/libs/synfire.so ]; then
    nm -D --defined-only $library/synfire/libs/synfire.so | grep -v ' R_init_synfire$' > "$found"
    rule "the package in $library exports R_init_synfire alone"
  else
    skipped=$((skipped + 1))
    echo "skipped: $library is not there"
  fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
