#!/bin/sh
# Builds the package with old CUDA toolkits, kernels and all, as configure would have it. The
# toolkits of Debian's releases are fetched (about 1 GB each) and kept, without installing
# them; their nvcc needs g++-11. Other toolkits: TOOLKITS="/opt/cuda-11.5 /opt/cuda-12.0",
# with NVCCFLAGS for what they need, such as '-ccbin g++-10' for 11.5.
# The last line holds the totals alone.
kept=`pwd`/.build/cuda
mkdir -p "$kept"
passed=0
failed=0
skipped=0

# Where this machine has its packages from, if it runs Debian.
mirror=`apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2> /dev/null |
  grep -v security | sed 1q`

# fetch RELEASE FOLDER: puts the toolkit of a release of Debian together in a folder.
fetch() {
  from=$kept/debian-$1
  mkdir -p "$from/lists/partial" "$from/archives/partial" "$from/root"
  keys=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb [signed-by=$keys] $mirror $1 main contrib non-free" \
    > "$from/sources.list"
  : > "$from/status"
  apt="apt-get -q -o Dir::Etc::SourceList=$from/sources.list -o Dir::Etc::SourceParts=/dev/null"
  apt="$apt -o Dir::State::Lists=$from/lists -o Dir::State::status=$from/status"
  apt="$apt -o Dir::Cache=$from -o APT::Sandbox::User=root"
  packages='nvidia-cuda-toolkit nvidia-cuda-dev libcub-dev libthrust-dev libcu++-dev'
  (cd "$from" && $apt update && $apt download $packages) > "$from/log" 2>&1 || return 1
  for package in "$from"/*.deb; do
    dpkg --fsys-tarfile "$package" | tar -xf - -C "$from/root" --wildcards \
      './usr/include' './usr/bin' './usr/lib/nvidia-cuda-toolkit' '*/libcudart_static.a' \
      2>> "$from/log"
    rm -f "$package"
  done
  usr=$from/root/usr
  mkdir -p "$2/bin" "$2/lib" "$2/include"
  cp -R "$usr/lib/nvidia-cuda-toolkit/bin/." "$2/bin" || return 1
  for program in cudafe++ fatbinary ptxas nvlink bin2c; do
    cp "$usr/bin/$program" "$2/bin" || return 1
  done
  cp -R "$usr/lib/nvidia-cuda-toolkit/libdevice" "$2" &&
    cp -R "$usr/include/." "$2/include" &&
    cp "$usr/lib/x86_64-linux-gnu/libcudart_static.a" "$2/lib" || return 1
  # Debian's own profile names folders of the system.
  cat > "$2/bin/nvcc.profile" <<'EOF'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib"
EOF
  rm -rf "$from"
}

# build NAME FOLDER: with the toolkit in a folder, for the oldest GPUs that it knows.
build() {
  oldest=`"$2/bin/nvcc" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n |
    awk '$1 >= 70' | sed 1q`
  rm -rf "$kept/library"
  if NVCC=$2/bin/nvcc SYNFIRE_CUDA_ARCH=${SYNFIRE_CUDA_ARCH:-sm_$oldest} sh tools/install.sh \
      "$kept/library" --configure-args=--with-cuda=yes > "$kept/said" 2>&1; then
    passed=$((passed + 1))
    echo "ok: the package builds with $1"
  else
    failed=$((failed + 1))
    echo "FAILED: the package does not build with $1"
    grep -iE 'configure:|error' "$kept/said" | head -n 20 | sed 's/^/  /'
  fi
}

skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

if [ -n "$TOOLKITS" ]; then
  for toolkit in $TOOLKITS; do build "$toolkit" "$toolkit"; done
elif [ -z "$mirror" ] || [ "`uname -m`" != x86_64 ]; then
  skip "toolkits are fetched on Debian of x86_64 alone; TOOLKITS names others"
elif ! command -v g++-11 > /dev/null; then
  skip "there is no g++-11 for nvcc of Debian's CUDA"
else
  for release in bookworm trixie; do
    toolkit=$kept/$release
    if [ -x "$toolkit/bin/nvcc" ] || fetch $release "$toolkit"; then
      version=`"$toolkit/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'`
      NVCCFLAGS="-ccbin g++-11" build "CUDA $version" "$toolkit"
    else
      rm -rf "$toolkit"
      skip "the CUDA toolkit of Debian $release could not be fetched"
    fi
  done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
