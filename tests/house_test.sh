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
includes_only proxy/http proxy/http
includes_only proxy/net proxy/net
includes_only proxy/cache proxy/cache proxy/cache/disk proxy/http digest
includes_only proxy/cache/disk proxy/cache/disk digest
includes_only proxy/lists proxy/lists proxy/http digest config
includes_only proxy/upstream proxy/upstream proxy/net proxy/lists config
includes_only proxy/blocks proxy/blocks proxy/fill proxy proxy/cache proxy/http peers digest
includes_only proxy/fill proxy/fill proxy/blocks proxy proxy/cache proxy/http peers digest config
includes_only proxy/inspect proxy/inspect proxy/cache proxy/cache/disk proxy/http digest
includes_only proxy/command proxy/command proxy proxy/inspect proxy/cache proxy/cache/disk proxy/http peers digest \
  config
includes_only proxy proxy proxy/inspect proxy/command proxy/fill proxy/blocks proxy/cache proxy/lists proxy/http proxy/net \
  proxy/upstream \
  peers digest config

breach 'proxy/command/ takes only proxy/version.hpp of the server' < <(
  grep -nE '^#include "proxy/[^/]*"' proxy/command/*.[ch]pp | grep -v '"proxy/version.hpp"' || true)

# used_only_in HEADER PATTERN: a library that few files may name.
used_only_in() {
  breach "<$1> may be included only by $2" < <(
    grep -nE "^#include <$1" $(sources config digest peers proxy) | grep -vE "^$2:" || true)
}

used_only_in 'curl/' '(peers/(exchange|transfer)\.[ch]pp|proxy/command/(fetch|running)\.cpp)'
breach 'peers/transfer.hpp brings libcurl, so it is for peers/*.cpp alone' < <(
  grep -n '^#include "peers/transfer.hpp"' $(sources config digest peers proxy) |
    grep -vE '^peers/[a-z_]*\.cpp:' || true)
used_only_in 'nlohmann/' '(config/document|proxy/access_log|proxy/monitoring|proxy/inspect/report)\.cpp'
used_only_in 'CLI/' 'proxy/(main\.cpp|command/(subcommand\.hpp|(cache_)?arguments\.cpp))'

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
