#!/usr/bin/env bash
# Installs what tests/browser/run.sh needs, and the clients of tests/interop that npm has, as far as
# they are missing. Fails where it cannot.
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
mapfile -t wanted < <(sed -n 's/^ *"\(.*\)": "\([0-9.]*\)",\{0,1\}$/\1@\2/p' tests/browser/package.json)
npm --prefix "$folder" install --no-package-lock --no-audit --no-fund --silent "${wanted[@]}"
cp tests/browser/package.json "$folder/"
