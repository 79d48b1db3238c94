#!/usr/bin/env bash
# Compares a hit of 1 KiB from memory with nginx's proxy_cache, each on one core, in alternating rounds.
#   tests/bench/hit_bench.sh HEARSAY [ROUNDS [SECONDS]]
# Needs wrk, nginx and curl. sendfile is off because nginx is faster without it here. The server under
# test runs on core 0, wrk on core 1. Prints each round, then medians: requests per second, and
# microseconds of CPU time (user + system) per request.
set -euo pipefail

readonly hearsay=$(realpath "${1:?the program to measure}") rounds=${2:-5} seconds=${3:-5}
source "$(dirname "${BASH_SOURCE[0]}")/beside_nginx.sh"
readonly origin_port=${ORIGIN_PORT:-18180} nginx_port=${NGINX_PORT:-18181}
readonly quiet_port=${QUIET_PORT:-18182} logging_port=${LOGGING_PORT:-18183}
readonly url=http://127.0.0.1:$origin_port/1k

nginx_conf origin "server { listen 127.0.0.1:$origin_port; root $dir/www;
  location / { add_header Cache-Control max-age=86400; } }"
nginx_conf cache "proxy_cache_path $dir/cache keys_zone=hits:10m; open_file_cache max=1000;
  server { listen 127.0.0.1:$nginx_port;
    location / { proxy_pass http://127.0.0.1:$origin_port; proxy_set_header Host \$host;
      proxy_cache hits; } }"

settings() { # PORT ACCESS-LOG
  cat <<END
{"listen": ["127.0.0.1:$1"], "threads": 1, "cache": {"memory": "64MiB"},
 "access": {"deny_to": []}, "log": {"access": "$2"}}
END
}

head -c 1024 /dev/zero | tr '\0' x >"$dir/www/1k"
settings "$quiet_port" none >"$dir/quiet.json"
settings "$logging_port" "$dir/access.log" >"$dir/logging.json"
echo "wrk.path = '$url'" >"$dir/absolute.lua"
echo "wrk.path = '/1k'" >"$dir/origin.lua"

start 0 nginx -p "$dir" -c "$dir/origin.conf"
readonly origin_pid=$!
start 0 nginx -p "$dir" -c "$dir/cache.conf"
readonly nginx_pid=$!
start 0 "$hearsay" serve --config "$dir/quiet.json"
readonly quiet_pid=$!
start 0 "$hearsay" serve --config "$dir/logging.json"
readonly logging_pid=$!

fetch --noproxy '*' "http://127.0.0.1:$nginx_port/1k"
fetch --proxy "http://127.0.0.1:$quiet_port" --noproxy '' "$url"
fetch --proxy "http://127.0.0.1:$logging_port" --noproxy '' "$url"
kill "$origin_pid" # from here on, a miss fails
readonly nginx_worker=$(worker_of "$nginx_pid")

for ((i = 0; i < rounds; ++i)); do
  measure nginx "$nginx_worker" "$nginx_port" "$dir/origin.lua" "$seconds"
  measure hearsay "$quiet_pid" "$quiet_port" "$dir/absolute.lua" "$seconds"
  measure hearsay-logging "$logging_pid" "$logging_port" "$dir/absolute.lua" "$seconds"
done

compare hearsay nginx
compare hearsay-logging nginx
