#!/usr/bin/env bash
# Breaks what a site of five proxies stands on, one thing after the other, and looks at what is said
# of it. Exits with 77, ctest's code for a skipped test, where this machine cannot do that.
#   tests/faults/run.sh [HEARSAY WRONG_CLOCK]
# WRONG_CLOCK: the library of tests/support/wrong_clock.cpp.
# All processes are in a PID namespace of their own, so they end with this one however it ends; the
# network and the mounts end with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() {
  echo "the faults are not tested: $1"
  exit 77
}

program=$(realpath "${1:-build/release/proxy/hearsay}")
wrong_clock=$(realpath "${2:-build/release/tests/support/libwrong_clock.so}")
for command in chromium node prometheus ip nsenter prlimit; do
  command -v "$command" >/dev/null || skip "there is no $command"
done
[ -d build/browser/node_modules/playwright-core ] || skip "there is no playwright-core"
own_namespaces=(unshare --net --mount --pid --fork --kill-child --mount-proc)
"${own_namespaces[@]}" true 2>/dev/null || skip "namespaces are not permitted"

# A control group of the test's own, of version 1 or 2.
memory=/sys/fs/cgroup/memory
[ -d "$memory" ] || memory=/sys/fs/cgroup
group=$memory/hearsay-faults-$$
mkdir "$group" 2>/dev/null || skip "control groups are not permitted"
if [ ! -e "$group/memory.limit_in_bytes" ] && [ ! -e "$group/memory.max" ]; then
  rmdir "$group"
  skip "control groups do not limit memory here"
fi

home=$PWD/build/faults
mkdir -p "$home"
# The group cannot end by itself. Who removes it waits until no process of this test has descriptor
# 9 open, and is nobody's child, so that it outlives whoever kills this process and its children.
rm -f "$home/alive"
mkfifo "$home/alive"
(setsid bash -c 'cat "$1" >/dev/null; for i in {1..50}; do rmdir "$2" && break; sleep 0.1; done' \
  - "$home/alive" "$group" >/dev/null 2>&1 &)
exec 9>"$home/alive"

export home group program wrong_clock
exec "${own_namespaces[@]}" bash -ec '
  mount --make-rprivate /
  mount -t tmpfs none "$home"
  mkdir -p /run/netns
  mount -t tmpfs none /run/netns
  TMPDIR=$home node tests/faults/faults_test.mjs'
