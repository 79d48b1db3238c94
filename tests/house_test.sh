#!/usr/bin/env bash
# Holds the sources to the rules of the house that no compiler checks: which folder may include
# which, where a library may be used, what g++ 12 compiles wrongly, how long a file may be.
#   tests/house_test.sh [ROOT]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

breaches=0
# breach RULE: each line of stdin breaks it.
breach() {
  local line
  while IFS= read -r line; do
    echo "$1: $line"
    breaches=$((breaches + 1))
  done
}

sources() {
  find "$@" \( -name '*.hpp' -o -name '*.cpp' \) | sort
}

# includes_only FOLDER ALLOWED...: of our own, the files right in FOLDER include just those folders.
includes_only() {
  local folder=$1 allowed
  shift
  allowed=$(printf '%s/[^/]*"|' "$@")
  breach "$folder/ may include only: $*" < <(
    grep -nE '^#include "' "$folder"/*.hpp "$folder"/*.cpp | grep -vE "\"(${allowed%|})" || true)
}

includes_only config config
includes_only digest digest
includes_only peers peers config digest

# The rooms of proxy/, from top to bottom: a file includes only files of its own room and of rooms
# that stand below it.
rooms=(
  server
  answer
  pages
  reply
  client
  filling
  blocks
  sources
  tiers
  worker
  fill
  observe
  request
  upstream
  wire
  command/cache
  command/digest
  command
  inspect
  cache
  cache/disk
  lists
  net
  http
)

# rests_on ROOM ALLOWED...: of proxy/, the room includes itself, these and version.hpp alone.
rests_on() {
  local room=$1 allowed
  shift
  allowed=$(printf 'proxy/%s/[^/]*"|' "$room" "$@")
  breach "proxy/$room/ may include of proxy/ only: $*" < <(
    grep -nE '^#include "proxy/' "proxy/$room"/*.[ch]pp | grep -vE "\"(${allowed}proxy/version\.hpp\")" || true)
}

for ((i = 0; i < ${#rooms[@]}; i++)); do
  room=${rooms[i]}
  above=$(printf 'proxy/%s/[^/]*"|' "${rooms[@]:0:i}")
  [ "$i" -eq 0 ] || breach "an arrow up: proxy/$room/ includes a room above it" < <(
    grep -nE "^#include \"(${above%|})" "proxy/$room"/*.[ch]pp || true)
done
breach 'a room that the list in tests/house_test.sh does not know' < <(
  find proxy -name '*.[ch]pp' -printf '%h\n' | sort -u | sed 's,^proxy/*,,' |
    grep -vxF "$(printf '%s\n' '' "${rooms[@]}")" | grep . || true)
breach 'proxy/ itself holds main.cpp and version.hpp' < <(
  find proxy -maxdepth 1 -name '*.[ch]pp' | grep -vE '/(main\.cpp|version\.hpp)$' || true)

rests_on http
rests_on net
rests_on cache/disk
rests_on cache cache/disk http
rests_on lists http
rests_on inspect cache cache/disk http
rests_on wire net http
rests_on upstream wire net lists http
rests_on command
rests_on command/digest command inspect http
rests_on command/cache command inspect cache cache/disk http

breach 'only proxy/main.cpp includes proxy/command/' < <(
  grep -rnE '^#include "proxy/command/' --include='*.[ch]pp' proxy | grep -vE '^proxy/(main\.cpp|command/)' || true)

# used_only_in HEADER PATTERN: a library that few files may name.
used_only_in() {
  breach "<$1> may be included only by $2" < <(
    grep -nE "^#include <$1" $(sources config digest peers proxy) | grep -vE "^$2:" || true)
}

used_only_in 'curl/' '(peers/(exchange|transfer)\.[ch]pp|proxy/command/(digest/fetch|cache/running_proxy)\.cpp)'
breach 'peers/transfer.hpp brings libcurl, so it is for peers/*.cpp alone' < <(
  grep -n '^#include "peers/transfer.hpp"' $(sources config digest peers proxy) |
    grep -vE '^peers/[a-z_]*\.cpp:' || true)
used_only_in 'nlohmann/' '(config/document|proxy/observe/access_log|proxy/pages/monitoring|proxy/inspect/report)\.cpp'
used_only_in 'CLI/' 'proxy/(main\.cpp|command/(subcommand\.hpp|(cache|digest)/arguments\.cpp))'

# g++ 12.2 puts the result of such an await over the resume pointer of the frame: name it first.
breach 'an awaited value has to be named before it is tested' < <(
  sources config digest peers proxy tests |
    xargs grep -lPz '(!|&&|\|\||\?)\s*co_await\b|\bwhile\s*\(\s*co_await\b' || true)

# And it destroys what a conditional makes among the arguments of such a call twice.
breach 'an argument of an awaited call that is chosen has to be named before' < <(
  sources config digest peers proxy tests |
    xargs grep -lPz '\bco_await\s[^;{}]*\?[^;{}]*:[^;{}]*;' || true)

breach 'a file has at most 400 lines' < <(
  sources config digest peers proxy tests | xargs wc -l |
    awk '$2 != "total" && $1 > 400 { print $2 ": " $1 }')

exit $((breaches > 0))
