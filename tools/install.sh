#!/bin/sh
# usage: install.sh LIBRARY [arguments of R CMD INSTALL]. Installs the package into
# LIBRARY, unless what is there was installed from these very sources in the same way.
set -e
library=$1
shift
mkdir -p "$library"
stamp=$library/.stamp
state=`{
  find DESCRIPTION NAMESPACE LICENSE configure cleanup R data inst man src -type f \
    ! -name '*.o' ! -name '*.so' ! -path src/Makevars -exec cksum {} + | sort -k 3
  R --version | sed 1q
  echo "$* $NVCC $CUDA_HOME $CUDA_PATH $NVCCFLAGS $SYNFIRE_CUDA_ARCH"
  command -v nvcc || echo no nvcc
} | cksum`
if [ -f "$stamp" ] && [ "`cat "$stamp"`" = "$state" ] && [ -d "$library/synfire" ]; then
  exit 0
fi
echo "installing synfire into $library"
sh tools/copy.sh .build/source
log=$library/install.log
rm -f "$log.failed"
# As many files at a time as this process may use processors, unless -j says otherwise:
# make itself, where this is its recipe, leaves other flags here.
case " $MAKEFLAGS" in
  *' -j'*) ;;
  *) MAKEFLAGS=-j`nproc 2> /dev/null || getconf _NPROCESSORS_ONLN || echo 2` ;;
esac
export MAKEFLAGS
# The log holds all of it. The reader sees what was found and, as kernels take long, which
# of them is at work.
{
  R CMD INSTALL --library="$library" "$@" .build/source 2>&1 || : > "$log.failed"
} | tee "$log" | while IFS= read -r line; do
  case $line in
    configure:*|compiling\ *) echo "$line" ;;
  esac
done
if [ -f "$log.failed" ]; then
  cat "$log" >&2
  exit 1
fi
echo "$state" > "$stamp"
