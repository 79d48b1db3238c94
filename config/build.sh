#!/usr/bin/env bash
# Installs what a build needs and is missing (Debian 12, apt), and builds in build/release what
# `cmake --install build/release` installs: the program and its manual page.
#   config/build.sh [--trained]
# --trained: builds in build/trained, twice. The first program records which of its code an everyday
# load runs, and the compiler reads that the second time. Takes twice as long.
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

build() { # FOLDER TARGETS...
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$(compilers)" --target "$@"
}

configure_trained() { # PROFILE
  cmake --preset release -B build/trained -D CMAKE_UNITY_BUILD=ON -D "HEARSAY_PROFILE=$1"
}

config/install.sh config/packages.txt
case ${1-} in
  '')
    config/configure.sh release
    build build/release hearsay package_files
    ;;
  --trained)
    config/install.sh config/package/packages.txt
    [ ! -d build/trained ] || find build/trained -name '*.gcda' -delete
    configure_trained record
    build build/trained hearsay
    config/package/train.py build/trained/proxy/hearsay
    configure_trained use
    build build/trained hearsay package_files
    ;;
  *)
    sed -n '2,6s/^# //p' "$0"
    exit 2
    ;;
esac
