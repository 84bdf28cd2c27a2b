#!/bin/sh
# usage: site.sh LIBRARY. Builds the site with the package in LIBRARY into site/, and checks it.
set -e
sh tools/copy.sh .build/site-source
rm -rf site
# Pictures of few colours are for the package, which must be small; pkgdown would lose them.
: > .build/site-source/vignettes/pictures/few-colours.R
R_LIBS="$1${R_LIBS:+:$R_LIBS}"
export R_LIBS
log=.build/site.log
if ! Rscript tools/site/build.R .build/site-source site > $log 2>&1; then
  tail -n 40 $log >&2
  exit 1
fi
Rscript tools/site/check.R .build/site-source site
