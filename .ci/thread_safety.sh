#!/usr/bin/env bash
# Lets clang check the annotations of config/threads: that no code uses a guarded member without its
# lock. Checks only the syntax, of all files that name a lock or a guarded member.
#   .ci/thread_safety.sh [FILE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -eq 0 ]; then
  mapfile -t files < <(grep -rlE --include='*.[ch]pp' \
    'threads::(Mutex|SharedMutex|ReadLock|WriteLock)|(GUARDED_BY|REQUIRES|EXCLUDES)\(' config digest peers proxy |
    grep -v '^config/threads/' | sort)
  set -- "${files[@]}"
fi
check=(clang++-19 -std=c++20 -I. -Wno-everything -Wthread-safety -Werror=thread-safety
  -DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_BEAST_SEPARATE_COMPILATION -DBOOST_ASIO_NO_DEPRECATED
  '-DHEARSAY_VERSION=""')

# The headers are checked all at once, because their inline functions lock, too. Each source then
# finds them precompiled, and is checked in a third of the time.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
headers=()
sources=()
for file in "$@"; do
  case $file in
    *.hpp) headers+=("$file") ;;
    *) sources+=("$file") ;;
  esac
done
{ ((${#headers[@]} == 0)) || printf '#include "%s"\n' "${headers[@]}"; } >"$folder/headers.hpp"
"${check[@]}" -fpch-instantiate-templates -x c++-header "$folder/headers.hpp" -o "$folder/headers.pch"
((${#sources[@]} == 0)) || printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" \
  "${check[@]}" -fsyntax-only -include-pch "$folder/headers.pch"
