#!/usr/bin/env bash
# Tests the dashboard and the error pages in Chromium. Exits with 77, ctest's code for a skipped test, where
# tests/browser/install.sh could not install what this needs.
#   tests/browser/run.sh [HEARSAY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=${1:-build/release/proxy/hearsay}
folder=build/browser
for command in chromium node; do
  if ! command -v "$command" >/dev/null || [ ! -d "$folder/node_modules/playwright-core" ]; then
    echo "the dashboard is not tested in a browser: tests/browser/install.sh could not install $command or playwright-core"
    exit 77
  fi
done
for pages in dashboard cards sign_in error_pages mirrors; do
  node "tests/browser/${pages}_test.mjs" "$program" "$(command -v chromium)" "$folder"
done
