#!/usr/bin/env bash
# A hit of 1 KiB from memory on one core, ours beside nginx's proxy_cache, in alternating rounds.
#   tests/bench/hit_bench.sh HEARSAY [ROUNDS [SECONDS]]
# Needs wrk, nginx and curl. sendfile is off because nginx is the quicker for it here. The server
# under test has core 0, wrk core 1. Prints each round, then medians: requests per second, and
# microseconds of CPU time (user + system) per request.
set -euo pipefail

readonly hearsay=$(realpath "${1:?the program to measure}") rounds=${2:-5} seconds=${3:-5}
readonly dir=$(mktemp -d "${TMPDIR:-/tmp}/hit_bench.XXXXXX")
readonly origin_port=${ORIGIN_PORT:-18180} nginx_port=${NGINX_PORT:-18181}
readonly quiet_port=${QUIET_PORT:-18182} logging_port=${LOGGING_PORT:-18183}
readonly url=http://127.0.0.1:$origin_port/1k
pids=()

stop() {
  ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap stop EXIT

nginx_conf() { # NAME SERVER-BLOCK
  cat >"$dir/$1.conf" <<END
daemon off; worker_processes 1; pid $dir/$1.pid; error_log $dir/$1.error;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75;
  client_body_temp_path $dir/$1.body; fastcgi_temp_path $dir/$1.f; uwsgi_temp_path $dir/$1.u;
  scgi_temp_path $dir/$1.s; proxy_temp_path $dir/$1.proxy;
  $2
}
END
}

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

chmod 755 "$dir"  # for the worker, which is not root
mkdir "$dir/www"
head -c 1024 /dev/zero | tr '\0' x >"$dir/www/1k"
settings "$quiet_port" none >"$dir/quiet.json"
settings "$logging_port" "$dir/access.log" >"$dir/logging.json"
echo "wrk.path = '$url'" >"$dir/absolute.lua"
echo "wrk.path = '/1k'" >"$dir/origin.lua"

start() { # COMMAND...: on core 0
  taskset -c 0 "$@" >>"$dir/output" 2>&1 &
  pids+=($!)
}
start nginx -p "$dir" -c "$dir/origin.conf"
readonly origin_pid=$!
start nginx -p "$dir" -c "$dir/cache.conf"
readonly nginx_pid=$!
start "$hearsay" serve --config "$dir/quiet.json"
readonly quiet_pid=$!
start "$hearsay" serve --config "$dir/logging.json"
readonly logging_pid=$!

fetch() { # CURL ARGUMENTS...: once what was started listens
  curl -fs --retry 10 --retry-delay 1 --retry-all-errors "$@" >/dev/null && return
  echo "hit_bench: no answer to curl $*" >&2
  exit 1
}
fetch --noproxy '*' "http://127.0.0.1:$nginx_port/1k"
fetch --proxy "http://127.0.0.1:$quiet_port" --noproxy '' "$url"
fetch --proxy "http://127.0.0.1:$logging_port" --noproxy '' "$url"
kill "$origin_pid" # from here on, what is not a hit fails
readonly nginx_worker=$(pgrep -P "$nginx_pid" -f 'worker process')

cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

measure() { # NAME PID PORT LUA: appends "requests/s us/request" to NAME's file
  local before after requests rate
  before=$(cpu_ticks "$2")
  taskset -c 1 wrk -t1 -c64 -d"${seconds}s" -s "$4" "http://127.0.0.1:$3" >"$dir/wrk"
  after=$(cpu_ticks "$2")
  ! grep -E 'Non-2xx|Socket errors' "$dir/wrk" >&2 || exit 1
  requests=$(awk '/requests in/ { print $1 }' "$dir/wrk")
  rate=$(awk '/Requests\/sec/ { print $2 }' "$dir/wrk")
  awk -v name="$1" -v rate="$rate" -v n="$requests" -v ticks=$((after - before)) \
    -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%-16s %9.0f requests/s %7.2f us CPU/request\n", name, rate, ticks / hz * 1e6 / n }' |
    tee -a "$dir/$1.rounds"
}

for ((i = 0; i < rounds; ++i)); do
  measure nginx "$nginx_worker" "$nginx_port" "$dir/origin.lua"
  measure hearsay "$quiet_pid" "$quiet_port" "$dir/absolute.lua"
  measure hearsay-logging "$logging_pid" "$logging_port" "$dir/absolute.lua"
done

median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
column() { awk -v column="$2" '{ print $column }' "$dir/$1.rounds"; }
ratio() { paste <(column "$1" "$3") <(column "$2" "$3") | awk '{ print $1 / $2 }' | median; }

for name in hearsay hearsay-logging; do
  printf 'median of %s / nginx: throughput %.3f, CPU time per request %.3f (%.2f us / %.2f us)\n' \
    "$name" "$(ratio "$name" nginx 2)" "$(ratio "$name" nginx 4)" \
    "$(column "$name" 4 | median)" "$(column nginx 4 | median)"
done
