#!/usr/bin/env bash
# Builds the image of config/Containerfile on a Debian 12 made by debootstrap, since no registry of
# images is needed for that, and runs it as an operator does: it becomes healthy, serves, is replaced
# with its cache kept, and ends when told.
#   tests/install/container.sh [--base FOLDER]
# --base: keep the bare Debian 12 there for the next run. Needs root. The first run compiles
# everything; podman keeps the compiler's results in /var/tmp/buildah-cache for the next one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/install/system.sh
as_root

# crun wants control groups of version 2 alone. Where this machine has others, too, the containers
# see those of version 2, without controllers.
if [ -z "${HEARSAY_OWN_MOUNTS-}" ]; then
  HEARSAY_OWN_MOUNTS=1 exec unshare --mount --propagation private tests/install/container.sh "$@"
fi
[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup

base=''
while (($# > 0)); do
  case $1 in
    --base) base=$(realpath -m "${2:?}"); shift 2 ;;
    *) sed -n '2,7s/^# //p' "$0"; exit 2 ;;
  esac
done

# Storage of its own, which goes with the work folder. Where no layers can be laid over each other,
# whole copies take their place.
choose_storage() {
  storage() {
    podman=(podman --storage-driver "$1" --root "$work/store" --runroot "$work/run" --tmpdir "$work/tmp")
    echo "   $1"
  }
  storage overlay
  "${podman[@]}" info >/dev/null 2>&1 || storage vfs
}
pod() { "${podman[@]}" "$@" 2> >(grep -v 'unable to get systemd connection' >&2); }

make_base_image() {
  if ! is_made "$base" container; then
    debootstrap --variant=minbase bookworm "$base" >"$work/base.log"
    mark_made "$base" container
  fi
  tar -C "$base" --exclude=./.hearsay-base-container -c . | pod import -q - localhost/bookworm
}

build_image() {
  pod build --isolation chroot --format docker --layers=false \
    --build-arg BASE=localhost/bookworm -f config/Containerfile -t hearsay . >"$work/build.log" 2>&1 ||
    { tail -30 "$work/build.log" >&2; return 1; }
}

# Two network namespaces and a wire between: this machine's, with the client and the origin, and the
# container's.
connect() {
  unshare --net sleep infinity & client=$!
  unshare --net sleep infinity & net=$!
  await own_network "$client"
  await own_network "$net"
  nsenter -t "$client" -n ip link add wire type veth peer name wire netns "$net"
  set_up "$client" 10.11.0.1/24
  set_up "$net" 10.11.0.2/24
  from_client python3 tests/install/origin.py 18080 10.11.0.1 &
  await from_client curl -sf -o /dev/null "$origin/ready"
}
own_network() { [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
set_up() {
  nsenter -t "$1" -n ip address add "$2" dev wire
  nsenter -t "$1" -n ip link set wire up
  nsenter -t "$1" -n ip link set lo up
}
from_client() { nsenter -t "$client" -n "$@"; }
readonly origin=http://10.11.0.1:18080
fetch() { from_client curl -sf -m 10 -o /dev/null -x 10.11.0.2:3128 "$@"; }
holds() { fetch -H 'Cache-Control: only-if-cached' "$origin/$1"; }

# The limits that podman would set may be above what it may grant here.
within_limits() {
  pod run --cgroups disabled --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 "$@"
}
run_image() {
  within_limits --name hearsay --network "ns:/proc/$net/ns/net" --log-driver k8s-file \
    -v hearsay:/var/cache/hearsay -d "$@" hearsay >/dev/null
}
show_log() { pod logs --tail 40 hearsay; }
end_all() { [ -z "${podman-}" ] || "${podman[@]}" rm -f -t 0 --all >/dev/null 2>&1; }
in_it() { pod exec hearsay "$@"; }
is_on_disk() { from_client curl -sf 10.11.0.2:3128/metrics | grep -q '^hearsay_disk_entries [1-9]'; }
is_healthy() { pod healthcheck run hearsay >/dev/null; }
end_it() {
  pod stop -t 20 hearsay >/dev/null
  [ "$(pod inspect -f '{{.State.ExitCode}}' hearsay)" = 0 ]
  pod logs hearsay 2>&1 | grep -q ' stopped$'
  pod rm hearsay >/dev/null
}

check_contents() {
  local size bare
  size=$(pod image inspect -f '{{.Size}}' hearsay)
  bare=$(pod image inspect -f '{{.Size}}' localhost/bookworm)
  echo "   $((size / 1000000)) MB, of which the bare Debian has $((bare / 1000000)) MB"
  ((size - bare < 60000000)) || fail "the image is too large"
  within_limits --rm --network none --entrypoint sh hearsay -c \
    'for tool in c++ cc cmake ninja ccache git; do ! command -v $tool || exit 1; done; ! test -e /src'
}

serve_it() {
  run_image
  await is_healthy
  [ "$(in_it id -un)" = hearsay ]
  fetch "$origin/a"
  in_it hearsay status
  await is_on_disk
  holds a
  pod logs hearsay 2>&1 | grep 'system calls limited'
}

# As an upgrade of the image does it.
replace_it() {
  end_it
  run_image
  await is_healthy
  holds a
  end_it
}

# All that an operator can take away.
confine_it() {
  run_image --read-only --tmpfs /run/hearsay --cap-drop all --security-opt no-new-privileges
  await is_healthy
  holds a
  fetch "$origin/b"
  end_it
}

# The health check says so if the proxy does not get on.
freeze_it() {
  run_image
  await is_healthy
  local pid
  pid=$(pod inspect -f '{{.State.Pid}}' hearsay)
  kill -STOP "$pid"
  local code=0
  timeout 15 "${podman[@]}" healthcheck run hearsay >/dev/null || code=$?
  ((code != 0 && code != 124)) || fail "the health check does not say that the proxy hangs: $code"
  kill -CONT "$pid"
  await is_healthy
  end_it
}

config/install.sh tests/install/packages.txt
begin_work
base=${base:-$work/base}
step "storage" choose_storage
step "a base image" make_base_image
step "the image" build_image
step "its contents" check_contents
step "two networks" connect
for what in serve_it replace_it confine_it freeze_it; do
  step "$what" "$what"
done
echo "all passed"
