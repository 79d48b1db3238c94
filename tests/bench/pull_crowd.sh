#!/usr/bin/env bash
# A crowd pulls one container image at once through two proxies that are neighbours, from a registry
# that none of them has asked before, and then the same crowd from nginx's proxy_cache that has it all:
#   tests/bench/pull_crowd.sh HEARSAY
# Prints how often the registry sent each byte, the delay of first bytes beside the registry's own, the
# memory of the proxies, and the throughput beside nginx's. Every client compares the bytes it got by
# their number, and one client by their digests.
# Environment: CLIENTS (20), LAYERS (8), MEBIBYTES (256, of each layer), CACHE_MEMORY (256MiB), ROUNDS
# (3, of the warm pulls), TMPDIR (three times the image on disk). Needs nginx, curl, openssl and python3.
set -euo pipefail

readonly hearsay=$(realpath "${1:?the program to measure}") compare=$(dirname "$(realpath "$0")")/compare
readonly clients=${CLIENTS:-20} layers=${LAYERS:-8} mebibytes=${MEBIBYTES:-256} rounds=${ROUNDS:-3}
readonly memory=${CACHE_MEMORY:-256MiB}
source "$compare/processes.sh"

fetch() { # NAME PATH CURL-ARGUMENTS...
  curl -fsS --noproxy '*' --cacert "$dir/ca.pem" "${@:3}" "${schemes[$1]:-http}://127.0.0.1:${ports[$1]}$2" 2>>"$dir/curl"
}
declare -A schemes=([registry]=https)

nginx_conf() { # NAME HTTP-BLOCK
  cat >"$dir/$1.conf" <<CONF
daemon off; worker_processes 2; pid $dir/$1.pid; error_log $dir/$1.error;
events { worker_connections 1000; }
http {
  log_format sent '\$request_method \$uri \$body_bytes_sent \$http_range'; access_log off;
  sendfile on; tcp_nopush on; keepalive_requests 1000000; default_type application/octet-stream;
  client_body_temp_path $dir/$1.body; fastcgi_temp_path $dir/$1.f; uwsgi_temp_path $dir/$1.u;
  scgi_temp_path $dir/$1.s; proxy_temp_path $dir/$1.proxy;
  $2
}
CONF
}

serve_registry() {
  take_port registry
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=registry \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/key.pem" -out "$dir/ca.pem" 2>>"$dir/openssl"
  nginx_conf registry "server { listen 127.0.0.1:${ports[registry]} ssl; access_log $dir/sent sent;
    ssl_certificate $dir/ca.pem; ssl_certificate_key $dir/key.pem; root $dir/www; }"
  launch registry 0-1 nginx -p "$dir" -c "$dir/registry.conf"
}

serve_nginx() {
  take_port nginx
  nginx_conf nginx "proxy_cache_path $dir/nginx levels=1:2 keys_zone=all:10m max_size=20g use_temp_path=off;
    server { listen 127.0.0.1:${ports[nginx]};
      location / { proxy_pass https://127.0.0.1:${ports[registry]}; proxy_cache all; proxy_cache_valid 1d; } }"
  launch nginx 0-1 nginx -p "$dir" -c "$dir/nginx.conf"
}

serve_hearsay() { # NAME NEIGHBOUR
  cat >"$dir/$1.json" <<CONF
{ "name": "$1", "listen": ["127.0.0.1:${ports[$1]}"], "threads": 2, "control": "none", "user": "$(id -un)",
  "cache": { "memory": "$memory", "disk": { "path": "$dir/cache-$1", "size": "20GiB" } },
  "peers": [{ "name": "$2", "url": "http://127.0.0.1:${ports[$2]}" }],
  "mirrors": { "recipes": ["oci"], "hosts": ["127.0.0.1:${ports[registry]}"],
    "registry": "127.0.0.1:${ports[registry]}", "ca": { "127.0.0.1": "$dir/ca.pem" } },
  "access": { "clients": ["loopback"], "deny_to": [] }, "log": { "access": "none" } }
CONF
  launch "$1" 0-1 "$hearsay" serve --config "$dir/$1.json"
}

# Each client pulls three layers at a time, as podman and containerd do.
pull() { # CLIENT SERVER
  local curl=(curl -fsS --noproxy '*' --parallel --parallel-max 3 --write-out '%{size_download} %{time_starttransfer}\n')
  local layer
  for layer in "${digests[@]}"; do
    curl+=(--output /dev/null "http://127.0.0.1:${ports[$2]}/v2/team/app/blobs/$layer")
  done
  "${curl[@]}" >"$dir/pulled-$1" 2>>"$dir/curl"
}

crowd() { # SERVER...: the clients take the servers in turn; prints seconds
  local servers=("$@") began=$EPOCHREALTIME i pullers=()
  for ((i = 0; i < clients; ++i)); do
    pull "$i" "${servers[i % $#]}" &
    pullers+=($!)
  done
  for i in "${pullers[@]}"; do wait "$i" || fail "a client got an error: $(tail -n 1 "$dir/curl")"; done
  cat "$dir"/pulled-* | awk -v size="$layer_bytes" '$1 != size { exit 1 }' || fail 'a layer is not whole'
  awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print ended - began }'
}

best() { # SERVER...: the shortest of the rounds
  local round
  for ((round = 0; round < rounds; ++round)); do crowd "$@"; done | sort -n | head -n 1
}

rate() { awk -v seconds="$1" -v bytes="$((clients * layers * layer_bytes))" 'BEGIN { printf "%.2f GB/s", bytes / seconds / 1e9 }'; }

first_byte() { # NAME PATH: in ms
  fetch "$1" "$2" --range 0-0 --output /dev/null --write-out '%{time_starttransfer}\n' | awk '{ printf "%.1f", $1 * 1000 }'
}

readonly layer_bytes=$((mebibytes << 20))
mkdir -p "$dir/www/v2/team/app/blobs"
digests=()
for ((i = 0; i <= layers; ++i)); do  # the last one is for the delay of the first byte alone
  head -c "$layer_bytes" /dev/urandom >"$dir/layer"
  digests+=("sha256:$(sha256sum "$dir/layer" | cut -d' ' -f1)")
  mv "$dir/layer" "$dir/www/v2/team/app/blobs/${digests[i]}"
done
readonly lone=${digests[layers]}
unset "digests[layers]"

serve_registry
take_port a
take_port b
serve_hearsay a b
serve_hearsay b a
await registry "/v2/team/app/blobs/$lone" --range 0-0
await a /health
await b /health
echo "first byte: $(first_byte registry "/v2/team/app/blobs/$lone") ms from the registry, $(first_byte a "/v2/team/app/blobs/$lone") ms through a proxy"

: >"$dir/sent"
cold=$(crowd a b)
awk -v image="$((layers * layer_bytes))" '{ sent += $3 } END { printf "the registry sent %.4f times the image, in %d requests\n", sent / image, NR }' "$dir/sent"
cat "$dir"/pulled-* | awk '$2 > most { most = $2 } { all += $2 } END { printf "first bytes in the crowd: %.0f ms on average, %.0f ms at most\n", all / NR * 1000, most * 1000 }'
for name in a b; do
  awk -v name="$name" -v memory="$memory" '/^VmHWM/ { printf "%s took at most %.0f MiB; cache.memory is %s\n", name, $2 / 1024, memory }' "/proc/${pids[$name]}/status"
done
for layer in "${digests[@]}"; do
  [ "sha256:$(fetch b "/v2/team/app/blobs/$layer" | sha256sum | cut -d' ' -f1)" = "$layer" ] || fail "$layer has other bytes"
done
warm=$(best a b)
warm_alone=$(best a)

serve_nginx
await nginx "/v2/team/app/blobs/$lone" --range 0-0
for layer in "${digests[@]}"; do fetch nginx "/v2/team/app/blobs/$layer" --output /dev/null; done
nginx=$(best nginx)
echo "$clients clients, $layers layers of $mebibytes MiB:"
for line in "nothing stored, two proxies:$cold" "all stored, two proxies:$warm" "all stored, one proxy:$warm_alone" "all stored, nginx:$nginx"; do
  printf '%-28s %6.1f s  %s\n' "${line%:*}" "${line##*:}" "$(rate "${line##*:}")"
done
awk -v ours="$warm_alone" -v cold="$cold" -v theirs="$nginx" 'BEGIN { printf "of the throughput of nginx: %.2f by one proxy, %.2f with nothing stored\n", theirs / ours, theirs / cold }'
