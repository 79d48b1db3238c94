#!/usr/bin/env bash
# Installs what a build needs and is missing (Debian 12, apt), and builds in build/release what
# `cmake --install build/release` installs: the program and its manual page.
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
config/configure.sh release
cmake --build --preset release --parallel "$(compilers)" --target hearsay package_files
