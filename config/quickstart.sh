#!/usr/bin/env bash
# Builds Hearsay and runs it, alone or as several neighbours on this machine.
set -euo pipefail

readonly first_port=3128 origin_port=8123 proxy=build/release/proxy/hearsay
example=http://example.com/

usage() {
  cat <<END
usage: config/quickstart.sh [--neighbours N] [--demo]

Installs what is missing (Debian 12, apt), builds a release and runs the proxy on
127.0.0.1:$first_port with config/hearsay.json. Ctrl-C stops it.

  --neighbours N   run N proxies (2 to 16) on ports $first_port and up, each a neighbour of the others
  --demo           three neighbours with an origin of their own: shows a miss, a hit, a neighbour's
                   hit and a stale response without the Internet, then keeps asking for the dashboard
  --help           this text
END
}

fail() {
  echo "quickstart: $*" >&2
  exit 1
}

run_one() {
  cat <<END

Open http://127.0.0.1:$first_port/ in a browser, and try, in another terminal (any http:// URL will do):
  curl -x http://127.0.0.1:$first_port -sD - -o /dev/null $example
  $proxy status --url http://127.0.0.1:$first_port

END
  exec "$proxy" serve --config config/hearsay.json
}

port_of() { echo $((first_port + $1)); }
name_of() { printf '%b' "\\x$(printf %x $((97 + $1)))"; }  # 0: a, 1: b, ...

# settings_of I N: the settings of proxy I of N, with all the others as its peers.
settings_of() {
  local i=$1 n=$2 other peers=()
  for ((other = 0; other < n; ++other)); do
    ((other == i)) && continue
    peers+=("    { \"name\": \"$(name_of $other)\", \"url\": \"http://127.0.0.1:$(port_of $other)\" }")
  done
  local IFS=$'\n'
  cat <<END
{
  "name": "$(name_of "$i")",
  "listen": ["127.0.0.1:$(port_of "$i")"],
  "cache": { "memory": "64MiB" },$more
  "peers": [
$(sed '$!s/$/,/' <<<"${peers[*]}")
  ]
}
END
}

pids=()
stop_all() {
  trap '' INT TERM HUP  # a second Ctrl-C must not leave proxies behind
  if ((${#pids[@]} == 0)); then return; fi
  echo "stopping"
  kill -TERM "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  echo "all stopped; logs and settings stay in $folder"
}

# Names each proxy that has ended, and shows the end of its log.
report_death() {
  local i
  for i in "${!pids[@]}"; do
    kill -0 "${pids[i]}" 2>/dev/null && continue
    ((i < neighbours)) || fail "the origin has ended; stopping the proxies"
    echo "proxy $(name_of "$i") on port $(port_of "$i") has ended; its last lines:" >&2
    tail -n 5 "$folder/$(name_of "$i").log" >&2
  done
  fail "stopping the others"
}

all_run() {
  local pid
  for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

wait_until_up() {
  local i
  for i in "${!pids[@]}"; do
    until answers "$(port_of "$i")"; do
      all_run || report_death
      sleep 0.1
    done
  done
  all_run || report_death
}

show_how() {
  local last
  last=$(port_of $((${#pids[@]} - 1)))
  cat <<END

${#pids[@]} neighbours listen on 127.0.0.1, ports $first_port to $last. Settings and logs are in
  $folder

Open http://127.0.0.1:$last/ in a browser: the dashboard of the last one. Try, in another terminal,
first through one proxy, a moment later through another (any http:// URL that may be stored will do):
  curl -x http://127.0.0.1:$first_port -sD - -o /dev/null $example
  curl -x http://127.0.0.1:$last -sD - -o /dev/null $example
  $proxy peers --url http://127.0.0.1:$last
The Cache-Status of the second response names the neighbour that supplied it, and so does the
dashboard, under the latest requests. Ctrl-C stops all.
END
}

# show WHAT PORT PATH: asks a proxy, and prints what became of the request.
show() {
  local status
  status=$(curl -s -x "http://127.0.0.1:$2" -D - -o /dev/null "http://127.0.0.1:$origin_port$3" |
    sed -n 's/^Cache-Status: //Ip' | tr -d '\r' | tail -n 1)
  printf '%-36s %s\n' "$1" "$status"
}

run_demo() {
  python3 config/demo/origin.py "$origin_port" &
  pids+=($!)
  until answers "$origin_port"; do
    kill -0 $! 2>/dev/null || fail "no origin on port $origin_port: is the port in use?"
    sleep 0.1
  done
}

# A digest tells neighbours of a new response within a second and a half.
show_demo() {
  local first=$first_port second=$((first_port + 1)) i=0
  show 'a miss, at the first proxy:' "$first" /file/1
  show 'a hit, at the first proxy:' "$first" /file/1
  show 'a short life, at the first proxy:' "$first" /news
  sleep 2
  show 'a neighbour'"'"'s, at the second proxy:' "$second" /file/1
  sleep 3
  show 'stale, and confirmed:' "$first" /news
  echo "More requests follow, so that the dashboard has something to show."
  while all_run; do
    for path in "/file/$((RANDOM % 50))" "/slow/$((i++))" /news; do
      show '' $((first_port + RANDOM % neighbours)) "$path" >/dev/null
    done
    sleep 0.2
  done
  report_death
}

run_neighbours() {
  local n=$1 i name
  folder=$(mktemp -d "${TMPDIR:-/tmp}/hearsay.XXXXXX")
  trap stop_all EXIT
  trap 'exit 0' INT TERM HUP
  for ((i = 0; i < n; ++i)); do
    name=$(name_of "$i")
    settings_of "$i" "$n" >"$folder/$name.json"
    "$proxy" serve --config "$folder/$name.json" >"$folder/$name.log" 2>&1 &
    pids+=($!)
  done
  wait_until_up
  show_how
  if $demo; then
    run_demo
    show_demo
  fi
  wait -n "${pids[@]}" || true
  report_death
}

neighbours= demo=false more=
while (($# > 0)); do
  case $1 in
    --neighbours) neighbours=${2:-none}; shift ;;
    --neighbours=*) neighbours=${1#*=}; neighbours=${neighbours:-none} ;;
    --demo) demo=true ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift || true
done
if [[ ! ${neighbours:-3} =~ ^([2-9]|1[0-6])$ ]]; then
  echo "quickstart: --neighbours takes a number from 2 to 16" >&2
  exit 2
fi
if $demo; then
  neighbours=${neighbours:-3}
  # Requests of the demo lead to this machine, which the settings forbid otherwise.
  example=http://127.0.0.1:$origin_port/file/0
  more=$'\n  "access": { "deny_to": ["link-local"] },'
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if $demo; then printf '%s\n' curl python3 | config/install.sh /dev/stdin; fi
[ -e "$proxy" ] || echo "building everything: about five minutes on two cores"
config/build.sh
if [[ -z $neighbours ]]; then run_one; else run_neighbours "$neighbours"; fi
