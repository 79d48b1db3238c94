#!/usr/bin/env bash
# Compares Hearsay with nginx, Varnish, Squid and bare epoll loops, and prints a table:
#   tests/bench/compare/run.sh HEARSAY [OPTIONS]
#     --rounds N         measurements of each figure (5)
#     --seconds S        how long each takes (5)
#     --rows LIST        patterns of rows, separated by commas ('hit-*,relay'); see --list
#     --rivals LIST      of loop,nginx,varnish,squid (all); one that is not installed has an empty column
#     --markdown         prints the table as Markdown
#     --results FILE     keeps the measurements there; table.py FILE prints the table again
#     --list             prints the rows
# Each program has one thread or worker on core 0. wrk, with 64 keep-alive connections, is on core 1 with
# the origin (nginx). A round measures each program once in each row of a group, so that a change of the
# machine's speed concerns all alike. Each figure is the median of its rounds, each ratio the median of the
# rounds' ratios. The CPU time is user and system time of all processes of a program. A ratio of throughput
# counts only where the core of the load was under 90 % busy, and is left out otherwise. The run fails if a
# response is an error, if a hit would need the origin, or if a miss does not reach it.
# Needs wrk, nginx, curl, python3 and two cores (else exit status 77); the loops need a C++ compiler.
# Environment: SERVER_CORE, LOAD_CORE, PORTS_FROM (the first port to try), STORED_BEFORE (entries in each
# cache before misses are stored), DISK_MEBIBYTES (of bodies for hits from disk), RELAY_MEBIBYTES,
# NGINX_OPEN_FILES (that nginx may keep open: three quarters of its descriptors, of which it has 65,536 or
# as many as `ulimit -Hn` allows; 0: none, as it is installed),
# PAUSE_MILLISECONDS (between requests of a connection in threads-*), TMPDIR (some 20 GB of disk).
# All programs listen on loopback and end with the script.
set -euo pipefail

readonly compare=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
readonly stored_before=${STORED_BEFORE:-100000} disk_mebibytes=${DISK_MEBIBYTES:-400}
readonly relay_mebibytes=${RELAY_MEBIBYTES:-1024} pause_milliseconds=${PAUSE_MILLISECONDS:-5}
rounds=5 seconds=5 chosen_rows='*' rivals=loop,nginx,varnish,squid kept='' table=() hearsay=''

while (($#)); do
  case $1 in
    --rounds) rounds=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --rows) chosen_rows=$2; shift ;;
    --rivals) rivals=$2; shift ;;
    --results) kept=$2; shift ;;
    --markdown) table=(--markdown) ;;
    --list) exec python3 "$compare/table.py" --list ;;
    -*) echo "unknown option $1" >&2; exit 2 ;;
    *) hearsay=$(realpath "$1") ;;
  esac
  shift
done
[ -x "$hearsay" ] || { echo "usage: run.sh HEARSAY [OPTIONS]; the head of this file lists them" >&2; exit 2; }
for tool in wrk nginx curl python3 taskset setpriv pgrep; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
(($(getconf _NPROCESSORS_ONLN) > 1)) || { echo "skipped: one core"; exit 77; }

wanted() { # ROW...: prints those that --rows chooses
  local row pattern patterns
  IFS=, read -ra patterns <<<"$chosen_rows"
  for row in "$@"; do
    for pattern in "${patterns[@]}"; do
      [[ $row != $pattern ]] || { echo "$row" && break; }
    done
  done
}

has() { # PROGRAM: whether it is installed and chosen
  local name=${1%-sendfile}
  [ "$name" = hearsay ] && return
  [[ ,$rivals, == *,$name,* ]] || return 1
  case $name in
    loop) [ -x "$dir/epoll_loop" ] && [ -x "$dir/relay_loop" ] ;;
    varnish) command -v varnishd >/dev/null ;;
    *) command -v "$name" >/dev/null ;;
  esac
}

present() { # PROGRAM...: prints those that are installed and chosen
  local program
  for program in "$@"; do ! has "$program" || echo "$program"; done
}

announce() { echo "$(date +%T) $1" >&2; }

about() { # prints what the figures depend on
  {
    echo "date: $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "machine: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | sed -n 1p), $(getconf _NPROCESSORS_ONLN) cores, Linux $(uname -r)"
    echo "measured: $rounds rounds of $seconds s, 64 connections"
    echo "Hearsay: $("$hearsay" --version | sed -n 1p)"
    ! has nginx || nginx -v 2>&1
    ! has varnish || varnishd -V 2>&1 | sed -n 1p
    ! has squid || squid -v | sed -n 1p
    ! has loop || "${CXX:-c++}" --version | sed -n '1s/^/epoll loop: /p'
    { wrk -v 2>&1 || true; } | sed -n "1s/ Copyright.*//p"
  } | sed 's/^/about\t/'
}

source "$compare/processes.sh"
readonly results=$dir/results
source "$compare/measure.sh"
source "$compare/servers.sh"
source "$compare/rows_of_hits.sh"
source "$compare/rows_of_misses.sh"
source "$compare/rows_of_hearsay.sh"

taskset -cp "$load_core" $$ >/dev/null
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"  # for 10,000 connections
# If nginx keeps as many files open as it has descriptors, it accepts no connection any more.
readonly nginx_open_files=${NGINX_OPEN_FILES:-$(($(ulimit -n) * 3 / 4))}
mkdir "$dir/www"
head -c 1024 /dev/urandom >"$dir/www/1k"
head -c 10240 /dev/urandom >"$dir/www/10k"
head -c 102400 /dev/urandom >"$dir/www/100k"
head -c 1024000 /dev/urandom >"$dir/www/1000k"
for loop in epoll_loop relay_loop; do
  "${CXX:-c++}" -std=c++20 -O2 -o "$dir/$loop" "$compare/$loop.cpp" 2>"$dir/compiler" || true
done
about >"$results"

hits
misses
stores
disk_hits
peers
relays
threads

[ -z "$kept" ] || cp "$results" "$kept"
python3 "$compare/table.py" "${table[@]}" "$results"
