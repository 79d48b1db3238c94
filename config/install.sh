#!/usr/bin/env bash
# install.sh LIST...: installs the Debian packages that the lists name and that are missing. Keeps
# every package from starting a service: Squid would take port 3128.
set -euo pipefail

as_root=()
if ((EUID != 0)); then as_root=(sudo); fi

missing=()
for list in "$@"; do
  while read -r package; do
    [[ -z $package || $package == '#'* ]] && continue
    status=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) || status=absent
    [[ $status == installed* ]] || missing+=("$package")
  done <"$list"
done
if ((${#missing[@]} == 0)); then exit 0; fi

echo "installing: ${missing[*]}"
if ((EUID != 0)) && ! command -v sudo >/dev/null; then
  echo "this needs root: run it as root, install sudo, or install these packages yourself" >&2
  exit 1
fi

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }
install_missing() { apt install --no-install-recommends "${missing[@]}"; }

# Debian runs this file before it starts a service; exit code 101 forbids the start.
policy=/usr/sbin/policy-rc.d
kept=$policy.before-hearsay
restore_policy() {
  "${as_root[@]}" rm -f "$policy"
  if [[ -e $kept ]]; then "${as_root[@]}" mv "$kept" "$policy"; fi
}
trap restore_policy EXIT
trap 'exit 1' INT TERM HUP
if [[ -e $policy ]]; then "${as_root[@]}" mv "$policy" "$kept"; fi
printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
"${as_root[@]}" chmod 755 "$policy"

# A new machine has no package lists. An old list may name versions that mirrors no longer have.
if ! apt --simulate install "${missing[@]}" >/dev/null 2>&1; then apt update; fi
install_missing || { apt update && install_missing; }
