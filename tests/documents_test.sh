#!/usr/bin/env bash
# Checks the pages of the documentation: each relative link leads to a file and, with #, to a heading
# of it; a link leads to each page; `hearsay check` accepts each example of settings; each setting and
# command that a page names exists; README.md stays short, and its measurements are in tests/README.md.
#   tests/documents_test.sh [ROOT [HEARSAY]]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
hearsay=${2:-build/release/proxy/hearsay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

breaches=0
breach() {
  echo "$*"
  breaches=$((breaches + 1))
}

mapfile -t pages < <(find . -name '*.md' -not -path './build/*' -not -path '*/node_modules/*' -printf '%P\n' | sort)

# prose PAGE: the page without its blocks of code.
prose() { awk '/^```/ { code = !code; next } !code' "$1"; }
# code LANGUAGE PAGE: its blocks in the language, each followed by a line with a form feed.
code() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } on && /^```/ { on = 0; print "\f"; next } on' "$2"; }
# anchors PAGE: what follows # in links to its headings, as GitHub makes it.
anchors() { prose "$1" | sed -n 's/^##* //p' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }
links() { prose "$1" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' || true; }

# examples PAGE: its examples of settings, each followed by a line with a form feed. A cell of a table
# that is one piece of code and begins with the name of a setting is one, too.
examples() {
  code json "$1"
  { prose "$1" | grep -oE '\| `"[a-z_]+": [^`]+` \|' || true; } | sed 's/^| `//; s/` |$/\n\f/'
}

declare -A linked=([README.md]=1)
check_links() {
  local page=$1 link file
  while IFS= read -r link; do
    file=${link%%#*}
    file=${file:+$(dirname "$page")/$file}
    file=${file:-$page}
    [ "$file" = "$page" ] || linked[$(realpath -m --relative-to=. "$file")]=1
    if [ ! -e "$file" ]; then
      breach "$page: there is no $link"
    elif [[ $link == *#* ]] && ! anchors "$file" | grep -qxF -- "${link#*#}"; then
      breach "$page: no heading for $link"
    fi
  done < <(links "$page")
}

# The files that examples name are in a folder of the test, and no example binds a port.
mkdir -p "$work"/etc/hearsay/pages "$work"/var/{cache,log}/hearsay
touch "$work"/etc/hearsay/{block,allow}.txt
echo "<p>{{reason}}</p>" >"$work/etc/hearsay/pages/blocked.html"
echo '{}' >"$work/etc/hearsay/site.json"
echo 'somebody:$2y$05$abcdefghijklmnopqrstuuMUGfNPzGJmSUJzDYuRHbCTcUmOnWvGm' >"$work/etc/hearsay/htpasswd"
echo '{ "include": ["example.json"], "listen": ["127.0.0.1:0"], "control": "none" }' >"$work/settings.json"

check_examples() {
  local page=$1 example
  while IFS= read -r -d $'\f' example; do
    [[ $example =~ ^[[:space:]]*\{ ]] || example="{ $example }"
    sed -E "s,\"/(etc|var)/,\"$work/\1/,g" <<<"$example" >"$work/example.json"
    "$hearsay" check "$work/settings.json" >"$work/said" 2>&1 ||
      breach "$page: hearsay check refuses $example: $(cat "$work/said")"
    checked=$((checked + 1))
  done < <(examples "$page")
}

check_names() {
  local page=$1 name
  while IFS= read -r name; do
    "$hearsay" help settings "$name" >"$work/said" 2>&1 || breach "$page: $(cat "$work/said")"
  done < <(prose "$page" | grep -oE '`(cache|digest|access|log|timeouts|limits)\.[a-z_]+`' | tr -d '`' | sort -u)
  while IFS= read -r name; do
    "$hearsay" help "$name" >"$work/said" 2>&1 || breach "$page: $(cat "$work/said")"
  done < <(code sh "$page" | sed -nE 's/^(sudo )?hearsay ([a-z-]+).*/\2/p' | grep -vx help | sort -u)
}

checked=0
for page in "${pages[@]}"; do
  check_links "$page"
  check_examples "$page"
  check_names "$page"
done
for page in "${pages[@]}"; do
  [ -n "${linked[$page]-}" ] || breach "$page: no other page links to it"
done
[ "$checked" -ge 20 ] || breach "only $checked examples of settings were found"
[ "$(wc -l <README.md)" -le 180 ] || breach 'README.md has more than 180 lines'
# What README.md says of measurements, it repeats from the tables of tests/README.md.
while IFS= read -r number; do
  grep -qE "(^|[^0-9.,])${number//./\\.}(\.0)?([^0-9.,]|[.,]?$|[.,][^0-9])" tests/README.md ||
    breach "README.md: tests/README.md has no $number"
done < <(awk '/^## / { on = /does for you|Speed/ } on' README.md | grep -oE '[0-9][0-9,]*(\.[0-9]+)?' | sort -u)
exit $((breaches > 0))
