#!/usr/bin/env bash
# Builds the image of config/Containerfile on a Debian 12 made by debootstrap, since no registry of
# images is needed for that, and runs it: it becomes healthy, serves, and ends when told.
#   tests/install/container.sh [--base FOLDER]
# --base: keep the bare Debian 12 there for the next run. Needs root. Builds everything: takes long.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/install/system.sh

base=''
while (($# > 0)); do
  case $1 in
    --base) base=$(realpath -m "${2:?}"); shift 2 ;;
    *) sed -n '2,5s/^# //p' "$0"; exit 2 ;;
  esac
done

# Storage of its own, which goes with the work folder.
with_storage() {
  local program=$1
  shift
  "$program" --storage-driver vfs --root "$work/store" --runroot "$work/run" "$@"
}

make_base_image() {
  if ! is_made "$base" container; then
    debootstrap --variant=minbase bookworm "$base"
    mark_made "$base" container
  fi
  local container
  container=$(with_storage buildah from scratch)
  cp -a "$base/." "$(with_storage buildah mount "$container")"
  with_storage buildah umount "$container" >/dev/null
  with_storage buildah commit -q --rm "$container" localhost/bookworm >/dev/null
}

build_image() {
  with_storage buildah build --isolation chroot --format docker \
    --build-arg BASE=localhost/bookworm -f config/Containerfile -t hearsay .
}

# In a network of its own, where nothing else has the port.
run_image() {
  with_storage podman run --name hearsay --network none --cgroups disabled -d hearsay
  is_healthy() { with_storage podman healthcheck run hearsay; }
  await is_healthy
  in_it() { with_storage podman exec hearsay "$@"; }
  [ "$(in_it id -un)" = hearsay ]
  in_it hearsay status
  with_storage podman stop -t 20 hearsay
  [ "$(with_storage podman inspect -f '{{.State.ExitCode}}' hearsay)" = 0 ]
}

as_root
config/install.sh tests/install/packages.txt
begin_work
base=${base:-$work/base}
step "a base image" make_base_image
step "the image" build_image
step "a container" run_image
echo "all passed"
