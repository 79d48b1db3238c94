#!/usr/bin/env bash
# Configures build/PRESET. A new build folder becomes a unity build (many sources compiled as one),
# which halves the time of a full build. To edit and rebuild single sources, run
# `cmake --preset PRESET` first: a folder that is configured already stays as it is.
#   config/configure.sh PRESET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?config/configure.sh needs a preset}
as_one=()
[ -e "build/$preset/CMakeCache.txt" ] || as_one=(-D CMAKE_UNITY_BUILD=ON)
cmake --preset "$preset" "${as_one[@]}"
