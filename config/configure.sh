#!/usr/bin/env bash
# Configures build/PRESET to be built whole: a new folder with many sources compiled as one, which
# takes half the time. Who works in it wants them apart: cmake --preset PRESET, before this, makes
# it so, and this leaves it so.
#   config/configure.sh PRESET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?config/configure.sh needs a preset}
as_one=()
[ -e "build/$preset/CMakeCache.txt" ] || as_one=(-D CMAKE_UNITY_BUILD=ON)
cmake --preset "$preset" "${as_one[@]}"
