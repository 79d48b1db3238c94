# A Debian 12 of its own, booted by systemd in namespaces. To be sourced; sets $work, $root, $init.

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

step() {
  local name=$1 began=$SECONDS
  shift
  echo "== $name"
  "$@" || fail "$name"
  echo "   $((SECONDS - began)) s"
}

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
begin_work() {
  work=$(mktemp -d /var/tmp/hearsay-install.XXXXXX)
  trap end_work EXIT
  trap 'exit 1' INT TERM HUP
}
end_work() {
  if [ -n "$init" ]; then
    [ ! -d "$work/system/run" ] || inside journalctl -n 40 --no-pager 2>/dev/null | tail -40 >"$work/journal" || true
    kill -KILL "$init" 2>/dev/null || true
    wait 2>/dev/null || true
  fi
  rm -rf "$work"
}

# make_base FOLDER: a bare Debian 12 with systemd, unless it is there already.
make_base() {
  [ -e "$1/etc/debian_version" ] && return
  debootstrap --variant=minbase --include=adduser,ca-certificates,dbus,logrotate,procps,systemd,systemd-sysv \
    bookworm "$1" >"$work/debootstrap.log" || { tail "$work/debootstrap.log" >&2; return 1; }
}

# make_system BASE DEB: $root becomes a copy of the base with what the package depends on.
make_system() {
  local from=${1:-$work/base}
  root=$work/system
  step "a bare Debian 12" make_base "$from"
  cp -a "$from" "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  step "what the package depends on" chroot "$root" sh -c "
    apt-get update -q && DEBIAN_FRONTEND=noninteractive \
      apt-get satisfy -q -y --no-install-recommends '$(dpkg-deb -f "$2" Depends)'" >/dev/null
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
