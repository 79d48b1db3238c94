#!/usr/bin/env bash
# Builds a release and its Debian package.
#   config/package/build.sh FOLDER      the package is put there
set -euo pipefail
folder=$(realpath -m "${1:?config/package/build.sh needs a folder}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

config/install.sh config/package/packages.txt
config/build.sh
mkdir -p "$folder"
cpack --config build/release/CPackConfig.cmake -G DEB -B build/release/package
mv build/release/package/hearsay_*.deb "$folder"
echo "$folder"/hearsay_*.deb
