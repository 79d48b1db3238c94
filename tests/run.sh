#!/usr/bin/env bash
# Installs the packages that the tests need, builds everything, and runs the tests.
#   tests/run.sh [--preset release|dev|asan|tsan] [ARGUMENTS OF ctest, such as -R Scenario]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release
case ${1-} in
  --preset)
    preset=${2:?--preset needs a name}
    shift 2
    ;;
  --help | -h)
    sed -n '2,3s/^# //p' "$0"
    exit 0
    ;;
esac

config/install.sh config/packages.txt tests/packages.txt
tests/browser/install.sh || echo "the dashboard will not be tested in a browser"
config/configure.sh "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" --no-tests=error -j3 "$@"
