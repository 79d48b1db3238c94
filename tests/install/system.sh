# A Debian 12 of its own, booted by systemd in namespaces. To be sourced; sets $work, $root, $init.

fail() {
  echo "$*" >&2
  exit 1
}

# Runs a command; the script ends where one fails. Not behind `||`, which would switch that off.
current=start
step() {
  local began=$SECONDS
  current=$1
  shift
  echo "== $current"
  "$@"
  echo "   $((SECONDS - began)) s"
}

refute() { if "$@"; then fail "succeeded, but must not: $*"; fi; }

as_root() { ((EUID == 0)) || fail "run this as root"; }

# await COMMAND...: until it succeeds, 15 s at most.
await() {
  local tries
  for ((tries = 0; tries < 150; ++tries)); do
    "$@" && return
    sleep 0.1
  done
  return 1
}

init=''
show_log() { [ -z "$init" ] || inside journalctl -n 40 --no-pager; }
end_all() { :; }  # ends what is no job of this script
begin_work() {
  work=$(mktemp -d /var/tmp/hearsay-install.XXXXXX)
  trap end_work EXIT
  trap 'exit 1' INT TERM HUP
}
end_work() {
  local code=$?
  ((code == 0)) || echo "FAILED: $current" >&2
  ((code == 0)) || show_log >&2 || true
  end_all || true
  kill -KILL ${init:+"$init"} $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}

# is_made FOLDER KIND: whether a script has made this kind of base there, whole. Fails if the folder
# has anything else.
is_made() {
  [ ! -e "$1/.hearsay-base-$2" ] || return 0
  [ -z "$(ls -A "$1" 2>/dev/null)" ] || fail "$1 is no whole base for this script: remove it"
  return 1
}
mark_made() { touch "$1/.hearsay-base-$2"; }

# make_base FOLDER DEPENDS: a bare Debian 12 with systemd, and with what satisfies the list of
# dependencies, unless it is there already, whole.
make_base() {
  if is_made "$1" system; then return; fi
  debootstrap --variant=minbase \
    --include="adduser,ca-certificates,dbus,logrotate,procps,systemd,systemd-sysv" bookworm "$1"
  cp -L /etc/resolv.conf "$1/etc/resolv.conf"
  chroot "$1" apt-get update -q
  DEBIAN_FRONTEND=noninteractive chroot "$1" \
    apt-get satisfy -q -y --no-install-recommends "$2"
  mark_made "$1" system
}

# make_system BASE DEB: $root becomes a copy of the base, which has what the package depends on.
make_system() {
  local from=${1:-$work/base}
  root=$work/system
  step "a bare Debian 12" make_base "$from" "$(dpkg-deb -f "$2" Depends)" >"$work/base.log"
  cp -a "$from" "$root"
  rm "$root/.hearsay-base-system"
}

# In the namespaces: the mounts that systemd expects of a container, with control groups of its own.
mount_and_boot() {
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs tmpfs "$root/run"
  mount -t tmpfs tmpfs "$root/tmp"
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  else
    mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
    mkdir "$root/sys/fs/cgroup/systemd"
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
  fi
  ip link set lo up
  exec env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$root" /lib/systemd/systemd --system
}

boot() {
  export root
  export -f mount_and_boot
  unshare --mount --pid --uts --ipc --net --cgroup --fork --kill-child --propagation private \
    bash -c mount_and_boot >"$work/boot.log" 2>&1 &
  local shell=$!
  find_init() { init=$(pgrep -P "$shell" -x systemd); }
  step "boot" await find_init
  is_up() { inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
  await is_up || { cat "$work/boot.log" >&2; fail "systemd does not boot in namespaces here"; }
}

# A command of that system, and one of this system on its network.
inside() { nsenter -t "$init" -m -p -u -i -n -C chroot "$root" "$@"; }
beside() { nsenter -t "$init" -n "$@"; }
