#!/usr/bin/env bash
# Runs the scenarios against the program under TSan. `.ci/run` runs only the tests of threads under
# TSan, because the scenarios take half an hour so.
#   .ci/tsan_scenarios.sh [ARGUMENTS OF ctest, such as -R Large]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

config/install.sh config/packages.txt tests/packages.txt
config/configure.sh tsan
cmake --build --preset tsan-scenarios
ctest --preset tsan --no-tests=error -L scenarios -j2 "$@"
