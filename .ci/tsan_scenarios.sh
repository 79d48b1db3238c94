#!/usr/bin/env bash
# Runs the scenarios against the program under TSan. `.ci/run` runs only the tests of threads under
# TSan, because the scenarios take half an hour so.
#   .ci/tsan_scenarios.sh [ARGUMENTS OF ctest, such as -R Large]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A test does not see what a proxy writes when it ends, so each process writes its reports to a file.
reports=$PWD/build/tsan/reports
rm -rf "$reports"
mkdir -p "$reports"
export TSAN_OPTIONS="log_path=$reports/of suppressions=$PWD/.ci/tsan_suppressions.txt"
failed=0
tests/run.sh --program-of tsan -j2 "$@" || failed=1
for report in "$reports"/*; do
  [ -e "$report" ] || break
  cat "$report"
  failed=1
done
exit "$failed"
