#!/bin/sh
# NAMESPACE and man/ from the roxygen comments, by way of an installed copy: loading the
# sources in place would leave objects in src/.
set -e
library=`pwd`/.build/docs-library
sh tools/copy.sh .build/docs-source
mkdir -p "$library"
# The NAMESPACE there is may export what no longer exists.
echo 'useDynLib(synfire, .registration = TRUE)' > .build/docs-source/NAMESPACE
if ! R CMD INSTALL --no-docs --configure-args=--with-cuda=no \
    --library="$library" .build/docs-source > .build/docs.log 2>&1; then
  cat .build/docs.log >&2
  exit 1
fi
R_LIBS="$library${R_LIBS:+:$R_LIBS}" Rscript -e \
  'roxygen2::roxygenise(load_code = roxygen2::load_installed)'
