#!/usr/bin/env bash
# Installs what a build needs and is missing (Debian 12, apt), and builds in build/release what
# `cmake --install build/release` installs: the program and its manual page.
#   config/build.sh [--trained]
# --trained: builds in build/trained, twice. The first program records which of its code an everyday
# load runs, and the compiler reads that the second time. Takes twice as long, and needs python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One compiler per core, but only as many as memory allows: each takes up to 1.5 GB.
compilers() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  ((memory > 0)) || memory=1
  echo $((cores < memory ? cores : memory))
}

config/install.sh config/packages.txt
build() { # FOLDER TARGETS...
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$(compilers)" --target "$@"
}

if [ "${1-}" = --trained ]; then
  configure() { cmake --preset release -B build/trained -D CMAKE_UNITY_BUILD=ON -D "HEARSAY_PROFILE=$1"; }
  [ ! -d build/trained ] || find build/trained -name '*.gcda' -delete
  configure record
  build build/trained hearsay
  config/package/train.py build/trained/proxy/hearsay
  configure use
  build build/trained hearsay package_files
else
  config/configure.sh release
  build build/release hearsay package_files
fi
