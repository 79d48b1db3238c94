#!/usr/bin/env bash
# Installs what tests/browser/run.sh needs, as far as it is missing. Fails where it cannot.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

packages=()
command -v chromium >/dev/null || packages+=(chromium fonts-dejavu-core)
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
config/install.sh <(printf '%s\n' "${packages[@]}")

folder=build/browser
mkdir -p "$folder"
if cmp -s tests/browser/package.json "$folder/package.json"; then exit 0; fi
npm --prefix "$folder" install --no-package-lock --no-audit --no-fund --silent \
  "playwright-core@$(sed -n 's/.*"playwright-core": "\([^"]*\)".*/\1/p' tests/browser/package.json)"
cp tests/browser/package.json "$folder/"
