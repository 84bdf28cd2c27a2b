#!/bin/sh
# usage: setup.sh [demo|site|coverage]. Installs R, a compiler and the R packages that building,
# testing and checking need, or one of these alone, where apt-get can; elsewhere says what to
# install.
# Does nothing, quickly, when all is there.

# Nothing works without these, ...
needed_r='rlang cli ggplot2 igraph'
needed_system='r-base-dev r-base-core'
# ... and without these some tests are skipped or some targets are not to be had.
wanted_r=
wanted_system=
case $1 in
demo) ;;
site)
  needed_r="$needed_r pkgdown knitr rmarkdown hdf5r htmltools yaml xml2 jsonlite Matrix tibble"
  needed_system="$needed_system pandoc libjs-lunr"
  wanted_system=chromium
  ;;
coverage) needed_r="$needed_r covr testthat knitr rmarkdown hdf5r htmltools withr jsonlite" ;;
*)
  needed_r="$needed_r testthat knitr rmarkdown hdf5r htmltools withr"
  wanted_r='vdiffr roxygen2 remotes future generics progressr Matrix Rmpi snow shiny plotly'
  # Rmpi loads libmpi.so, the name without a number that comes with the headers.
  wanted_system='pandoc qpdf devscripts tidy xz-utils openmpi-bin libopenmpi-dev'
  ;;
esac

r_package() { echo "r-cran-$1" | tr '[:upper:]' '[:lower:]'; }

in_dpkg() { dpkg -s "$1" 2>/dev/null | grep '^Status:.* installed$' > /dev/null; }

# Those of the R packages named that R itself does not find.
missing_in_r() {
  command -v Rscript > /dev/null 2>&1 || { echo "$*"; return; }
  Rscript --vanilla -e 'cat(setdiff(commandArgs(TRUE), rownames(installed.packages())))' \
    "$@" 2>/dev/null || echo "$*"
}

build_tools_missing() {
  for tool in R Rscript cc make; do
    command -v $tool > /dev/null 2>&1 || echo $tool
  done
}

needed=$needed_system
wanted=$wanted_system
for package in $needed_r; do needed="$needed `r_package $package`"; done
for package in $wanted_r; do wanted="$wanted `r_package $package`"; done

missing=
if command -v dpkg > /dev/null 2>&1; then
  for package in $needed $wanted; do
    in_dpkg $package || missing="$missing $package"
  done
  [ -n "$missing" ] || exit 0
fi

# R need not come from the distribution.
if [ -z "`build_tools_missing`" ] && [ -z "`missing_in_r $needed_r $wanted_r`" ]; then
  exit 0
fi

# What apt-get could not give the last time is not asked for again and again.
tried=.build/setup-tried${1:+-$1}
if [ -z "`build_tools_missing`" ] && [ -z "`missing_in_r $needed_r`" ] &&
   [ "`cat $tried 2>/dev/null`" = "$missing" ]; then
  exit 0
fi

if command -v apt-get > /dev/null 2>&1 && [ -n "$missing" ]; then
  root=
  [ "`id -u`" -eq 0 ] || root=sudo
  # A machine that has just started may be installing packages by itself.
  wait='-o DPkg::Lock::Timeout=600'
  if [ -z "$root" ] || command -v sudo > /dev/null 2>&1; then
    echo "setup: installing$missing"
    $root apt-get $wait update -q > /dev/null ||
      echo "setup: apt-get update failed; going on with the lists there are" >&2
    # One name that this release does not have would make apt-get refuse them all.
    known=
    for package in $missing; do
      if apt-cache show "$package" > /dev/null 2>&1; then
        known="$known $package"
      else
        echo "setup: this release has no package $package" >&2
      fi
    done
    [ -z "$known" ] ||
      $root env DEBIAN_FRONTEND=noninteractive TZ=Etc/UTC \
        apt-get $wait install -y -q --no-install-recommends $known > /dev/null ||
      echo "setup: apt-get could not install$known" >&2
  else
    echo "setup: run as root: apt-get install$missing" >&2
  fi
fi

tools=`build_tools_missing`
packages=`missing_in_r $needed_r`
if [ -n "$tools" ]; then
  echo "setup: please install R (4.1 or later), its development files and a C compiler;" \
    "missing:" $tools >&2
fi
if [ -n "$packages" ]; then
  echo "setup: please install these R packages: $packages" >&2
fi
[ -z "$tools$packages" ] || exit 1
mkdir -p .build
echo "$missing" > $tried
packages=`missing_in_r $wanted_r`
[ -z "$packages" ] ||
  echo "setup: going on without these R packages, some tests are skipped: $packages" >&2
exit 0
