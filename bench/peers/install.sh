#!/bin/sh
# Installs the programs that synfire is compared with, each into a folder of its own below
# .build/peers, and nothing anywhere else.
#
#   sh bench/peers/install.sh             from PyPI (and rEDM from CRAN)
#   sh bench/peers/install.sh FOLDER      from the wheels in FOLDER, on a machine without a
#                                         network; what they need besides, such as NumPy,
#                                         must be there already
#
# PEERS=folder      another folder than .build/peers
# PYTHON=python3.12 another Python than python3
# TORCH=yes         installs PyTorch (some GB) for FastCCM where Python has none
#
# JAX-PCMCI runs on a GPU where its wheel alone is in FOLDER and Python has JAX for that GPU.
#
# One that cannot be installed is reported, and the others are. The versions are those that
# the tables in vignettes/performance were measured with. Elephant's companion viziphant is not
# among them: it draws, and there is nothing of it to time.
wheels=$1
PEERS=${PEERS:-.build/peers}
PYTHON=${PYTHON:-python3}

if ! $PYTHON -m pip --version > /dev/null 2>&1; then
  echo "peers: there is no pip for $PYTHON, so no peer of Python is installed" >&2
  exit 0
fi
mkdir -p "$PEERS"

# add FOLDER PACKAGE...: the packages, the peer first and then what it needs besides.
add() {
  folder=$PEERS/$1
  shift
  [ "`cat "$folder/installed" 2>/dev/null`" = "$*" ] && return
  rm -rf "$folder"
  if [ -n "$wheels" ]; then
    $PYTHON -m pip install -q --no-index --find-links "$wheels" --no-deps --no-compile \
      --target "$folder" "$@"
  else
    $PYTHON -m pip install -q --target "$folder" "$@"
  fi > "$PEERS/pip.log" 2>&1 && echo "$*" > "$folder/installed" && return
  rm -rf "$folder"
  echo "peers: could not install $1: `grep -m 1 ERROR "$PEERS/pip.log"`" >&2
}

# What is big travels only from PyPI: elsewhere Python must have it. Tigramite's test by
# nearest neighbours calls numpy.corrcoef() as NumPy 2.4 does not allow any more.
statsmodels=
learn=
joblib=
older_numpy=
[ -n "$wheels" ] || statsmodels=statsmodels learn=scikit-learn joblib=joblib older_numpy=numpy==2.3.5
add pyfim pyfim==6.28
add elephant elephant==1.2.1 neo==0.14.6 quantities==0.16.4 $statsmodels $learn
add pyEDM pyEDM==2.5.7
# The last version of pyEDM that is cppEDM; it imports pkg_resources of an older setuptools.
add cppEDM pyEDM==1.15.4.0 setuptools==80.9.0
add kedm kedm==0.10.1
add jaxpcmci jax-pcmci==1.4.0
add tigramite tigramite==5.2.10.1 numba==0.68.1 llvmlite==0.50.0 six==1.17.0 \
  $joblib $older_numpy
if command -v nvidia-smi > /dev/null 2>&1; then
  add kedm-cuda kedm-cuda13x==0.10.1
fi
if $PYTHON -c 'import torch' > /dev/null 2>&1; then
  add fastccm fastccm==0.4.2
elif [ "$TORCH" = yes ]; then
  add fastccm fastccm==0.4.2 torch
else
  echo "peers: FastCCM needs PyTorch, which $PYTHON does not have (TORCH=yes installs it)" >&2
fi

if [ -z "$wheels" ] && [ ! -d "$PEERS/R/rEDM" ]; then
  mkdir -p "$PEERS/R"
  Rscript -e 'install.packages("rEDM", commandArgs(TRUE), quiet = TRUE)' "$PEERS/R" \
    > "$PEERS/R.log" 2>&1
  [ -d "$PEERS/R/rEDM" ] ||
    echo "peers: could not install rEDM from where R finds packages, options(\"repos\")" >&2
fi
exit 0
