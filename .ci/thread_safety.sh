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
# Each header is checked as a source of its own, because its inline functions lock, too.
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang++-19 -x c++ -std=c++20 -I. -fsyntax-only \
  -Wno-everything -Wthread-safety -Werror=thread-safety \
  -DBOOST_ASIO_SEPARATE_COMPILATION -DBOOST_BEAST_SEPARATE_COMPILATION -DBOOST_ASIO_NO_DEPRECATED \
  '-DHEARSAY_VERSION=""'
