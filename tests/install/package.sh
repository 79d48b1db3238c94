#!/usr/bin/env bash
# Installs the Debian package on a Debian 12 of its own that systemd boots in namespaces, and tries
# what an operator does: start, reload, upgrade under load, rotate the log, remove, purge. Before
# that, `cmake --install` without a package, where the program was built here.
#   tests/install/package.sh [--deb FILE] [--base FOLDER]
# --deb: a package that is built already. --base: keep the bare Debian 12 there for the next run.
# Needs root. Takes a minute or two beside the build and the making of the base.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/install/system.sh

deb='' base=''
while (($# > 0)); do
  case $1 in
    --deb) deb=$(realpath "${2:?}"); shift 2 ;;
    --base) base=$(realpath -m "${2:?}"); shift 2 ;;
    *) sed -n '2,8s/^# //p' "$0"; exit 2 ;;
  esac
done

readonly unit=hearsay.service settings=/etc/hearsay/hearsay.json
readonly proxy=127.0.0.1:3128 origin=http://127.0.0.1:18080

state_of() { inside systemctl show -p "$1" --value "$unit"; }
is_active() { [ "$(state_of ActiveState)" = active ]; }
main_process() { state_of MainPID; }
fetch() { beside curl -sf -m 10 -o /dev/null -x "$proxy" "$@"; }
holds() { fetch -H 'Cache-Control: only-if-cached' "$origin/$1"; }

# write_settings [CACHE LOGS]: folders
write_settings() {
  # Origins of this test are on this machine.
  cat >"$root$settings" <<END
{
  "listen": ["$proxy"],
  "access": { "deny_to": [] },
  "cache": { "disk": { "path": "${1:-/var/cache/hearsay}", "size": "64MiB" } },
  "log": { "access": "${2:-/var/log/hearsay}/access.log" }
}
END
}

check_package() {
  lintian --fail-on error "$deb"
  dpkg-deb -f "$deb" Depends | grep -q libc6
}

# `cmake --install` names each file that it installs.
install_without_package() {
  DESTDIR=$root cmake --install build/release --prefix /usr/local >"$work/installed"
  inside systemd-sysusers
  inside systemctl daemon-reload
  inside systemctl start "$unit"
  [ "$(state_of User)" = hearsay ]
  inside hearsay status --config /usr/local/etc/hearsay/hearsay.json
  inside test -r /usr/local/share/man/man1/hearsay.1.gz
  grep -q 'Permission is hereby granted' "$root/usr/local/share/doc/hearsay/copyright"
  inside systemctl stop "$unit"
  sed -n 's/^-- Installing: //p' "$work/installed" | xargs -d '\n' rm -d 2>/dev/null || true
  rm -rf "$root"/usr/local/{etc/hearsay,share/doc/hearsay} "$root"/var/{cache,log}/hearsay
  inside userdel hearsay
  inside systemctl daemon-reload
}

install_it() {
  cp "$deb" "$root/root/hearsay.deb"
  inside dpkg -i /root/hearsay.deb
  await is_active
  inside systemctl is-enabled -q "$unit"
  [ "$(state_of User)" = hearsay ]
  gzip -dc "$root/usr/share/man/man1/hearsay.1.gz" | grep -q SIGUSR2
  gzip -dc "$root/usr/share/man/man5/hearsay.json.5.gz" | grep -q 'cache\.memory'
  bash -n "$root/usr/share/bash-completion/completions/hearsay"
  grep -q '^#compdef hearsay' "$root/usr/share/zsh/vendor-completions/_hearsay"
  grep -q 'complete -c hearsay' "$root/usr/share/fish/vendor_completions.d/hearsay.fish"
  await inside sh -c "journalctl -u $unit | grep 'no core dumps, no new privileges, system calls limited'"
}

check_units() {
  inside systemd-analyze --man=no verify /lib/systemd/system/hearsay.service /lib/systemd/system/hearsay.socket
  inside systemd-analyze security --offline=true --threshold=18 "$unit" | tail -1
}

reload_it() {
  write_settings
  inside systemctl reload "$unit"
  fetch "$origin/a"
  sleep 1.5  # a stored response is on disk within a second
  holds a
  echo '{ "no": 1 }' >"$root$settings"
  refute inside systemctl reload "$unit"
  is_active
  holds a
  write_settings
}

# Each request has a connection of its own. Its failure ends the loop.
load() {
  local count=0
  while [ ! -e "$work/enough" ]; do
    fetch "$origin/a" || { echo "request $count failed" >"$work/failed"; return; }
    count=$((count + 1))
  done
  echo "$count requests"
}

upgrade_it() {
  local before loading
  before=$(main_process)
  load & loading=$!
  inside dpkg -i /root/hearsay.deb
  await_change() { [ "$(main_process)" != "$before" ]; }
  await await_change
  touch "$work/enough"
  wait "$loading"
  [ ! -e "$work/failed" ] || fail "$(cat "$work/failed")"
  is_active
  [ "$(state_of NRestarts)" = 0 ]
  holds a
}

restart_it() {
  inside systemctl restart "$unit"
  await is_active
  holds a
}

rotate_the_log() {
  inside logrotate -f /etc/logrotate.d/hearsay
  fetch "$origin/rotated"
  await grep -q rotated "$root/var/log/hearsay/access.log"
  refute grep -q rotated "$root/var/log/hearsay/access.log.1"
}

# systemd keeps other folders read-only for the service, until a drop-in allows them. Meanwhile the
# service serves without them.
write_elsewhere() {
  local folder=/srv/hearsay said
  write_settings "$folder/cache" "$folder/log"
  said=$(inside hearsay check 2>&1)
  grep -q "cache.disk.path.*ReadWritePaths=-$folder/cache" <<<"$said"
  grep -q "log.access.*ReadWritePaths=-$folder/log" <<<"$said"
  inside systemctl restart "$unit"
  fetch "$origin/unwritten"
  said=$(inside journalctl -u "$unit" -p err --no-pager)
  grep -q "ReadWritePaths=-$folder/log" <<<"$said"
  grep -q "ReadWritePaths=-$folder/cache" <<<"$said"
  grep -q "requests are not logged until then" <<<"$said"
  is_active
  inside hearsay status | grep -q "ReadWritePaths=-$folder/log"
  inside install -d -o hearsay -g hearsay "$folder/cache" "$folder/log"
  inside sh -c "mkdir -p /etc/systemd/system/$unit.d
    printf '[Service]\nReadWritePaths=-%s\n' $folder/cache >/etc/systemd/system/$unit.d/paths.conf
    printf 'ReadWritePaths=-%s\n' $folder/log >>/etc/systemd/system/$unit.d/paths.conf"
  inside systemctl daemon-reload
  said=$(inside hearsay check 2>&1)
  refute grep -q ReadWritePaths <<<"$said"
  inside systemctl restart "$unit"
  fetch "$origin/elsewhere"
  await grep -q elsewhere "$root$folder/log/access.log"
  inside rm -r "/etc/systemd/system/$unit.d" "$folder"
  write_settings
  inside systemctl daemon-reload
  inside systemctl restart "$unit"
}

# Settings made from those of a Squid, whose own folders the service may not write, start as they are.
import_from_squid() {
  cat >"$root/root/squid.conf" <<END
http_port $proxy
cache_dir ufs /var/spool/squid 100 16 256
access_log daemon:/var/log/squid/access.log squid
acl localnet src 10.0.0.0/8
http_access allow localnet
http_access allow localhost
http_access deny all
END
  inside sh -c "hearsay import-squid /root/squid.conf >$settings"
  inside hearsay check
  inside systemctl restart "$unit"
  is_active
  fetch "$origin/imported" || true  # it denies origins on this machine
  await grep -q imported "$root/var/log/hearsay/access.log"
  inside sh -c 'ls /var/cache/hearsay/*' >/dev/null
  inside hearsay status
  rm "$root/root/squid.conf"
  write_settings
  inside systemctl restart "$unit"
}

# A process that does not get on is killed, and another one is started.
watch_it() {
  inside sh -c "mkdir -p /run/systemd/system/$unit.d
    printf '[Service]\nWatchdogSec=2s\n' >/run/systemd/system/$unit.d/fast.conf"
  inside systemctl daemon-reload
  inside systemctl restart "$unit"
  await is_active
  sleep 5
  [ "$(state_of NRestarts)" = 0 ] || fail "restarted although it is alive"
  inside systemctl kill --kill-who=main --signal=SIGSTOP "$unit"
  await_restart() { [ "$(state_of NRestarts)" = 1 ] && is_active; }
  await await_restart
  holds a
}

start_by_socket() {
  inside systemctl stop "$unit"
  inside systemctl enable -q --now hearsay.socket
  refute is_active
  holds a
  is_active
}

remove_it() {
  inside dpkg -r hearsay
  refute inside pgrep -u hearsay
  [ -e "$root$settings" ]
  [ -d "$root/var/cache/hearsay" ]
  refute [ -e "$root/usr/bin/hearsay" ]
  inside dpkg -P hearsay
  rm "$root/root/hearsay.deb"
  local left
  left=$(find "$root" -xdev -name '*hearsay*')
  [ -z "$left" ] || fail "left after the purge: $left"
}

as_root
config/install.sh tests/install/packages.txt
begin_work
built=''
if [ -z "$deb" ]; then
  deb=$(config/package/build.sh "$work" | tail -1)
  built=1
fi
step "lintian" check_package
make_system "$base" "$deb"
boot
beside python3 tests/install/origin.py 18080 &
if [ -n "$built" ]; then step install_without_package install_without_package; fi
for what in install_it check_units reload_it upgrade_it restart_it rotate_the_log write_elsewhere \
  import_from_squid watch_it start_by_socket remove_it; do
  step "$what" "$what"
done
echo "all passed"
