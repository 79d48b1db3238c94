#!/usr/bin/env bash
# Installs the packages that the tests need, builds everything, and runs the tests.
#   tests/run.sh [--built] [--preset release|dev|asan|tsan] [ARGUMENTS OF ctest, such as -R Scenario]
#   tests/run.sh [--built] --program-of asan|tsan [ARGUMENTS OF ctest]
# The presets asan and tsan have no tests that run the program. With --program-of, those of the
# release build run the program of such a preset. --built: only runs tests, of what is built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

built=
if [ "${1-}" = --built ]; then
  built=yes
  shift
fi
preset=release
program_of=
at_once=4
case ${1-} in
  --preset)
    preset=${2:?--preset needs a name}
    shift 2
    ;;
  --program-of)
    program_of=${2:?--program-of needs the name of a preset}
    shift 2
    ;;
  --help | -h)
    sed -n '2,6s/^# //p' "$0"
    exit 0
    ;;
esac

# build PRESET [ARGUMENTS OF cmake --build]
build() {
  [ -z "$built" ] || return 0
  config/configure.sh "$1"
  cmake --build --preset "$@"
}

if [ -z "$built" ]; then
  config/install.sh config/packages.txt tests/packages.txt
  tests/browser/install.sh || echo "the dashboard will not be tested in a browser"
fi
if [ -n "$program_of" ]; then
  build "$program_of" --target hearsay
  export HEARSAY_PROGRAM=$PWD/build/$program_of/proxy/hearsay HEARSAY_SANITIZED=1
  set -- -L scenarios "$@"
  at_once=5  # they wait for longer than others before they fail
fi
build "$preset"
ctest --preset "$preset" --no-tests=error -j"$at_once" "$@"
