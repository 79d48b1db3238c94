#!/usr/bin/env bash
# Builds a release, trained by an everyday load, and its Debian package.
#   config/package/build.sh FOLDER      the package is put there
set -euo pipefail
folder=$(realpath -m "${1:?config/package/build.sh needs a folder}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

config/build.sh --trained
mkdir -p "$folder"
cpack --config build/trained/CPackConfig.cmake -G DEB -B build/trained/package
mv build/trained/package/hearsay_*.deb "$folder"
echo "$folder"/hearsay_*.deb
