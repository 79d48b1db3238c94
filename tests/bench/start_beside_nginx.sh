#!/usr/bin/env bash
# Compares the start with a full cache on disk with nginx's, each on one core:
#   tests/bench/start_beside_nginx.sh HEARSAY [ENTRIES]
# Stores 1,000,000 entries of 1 KiB; measures the time to the first hit after a clean stop and after
# kill -9, and memory and disk per entry. Everything stays in the system's page cache for both, so that
# the disk's speed hides nothing. tests/bench/compare measures the stores and hits themselves.
# Needs wrk, nginx and curl.
set -euo pipefail

readonly hearsay=$(realpath "${1:?the program to measure}") entries=${2:-1000000}
readonly origin_port=${ORIGIN_PORT:-18190} nginx_port=${NGINX_PORT:-18191} port=${PORT:-18192}
readonly origin=http://127.0.0.1:$origin_port

readonly dir=$(mktemp -d "${TMPDIR:-/tmp}/beside_nginx.XXXXXX")
pids=()

stop() {
  ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap stop EXIT
chmod 755 "$dir"  # for nginx's worker, which is not root
mkdir "$dir/www"

nginx_conf() { # NAME HTTP-BLOCK
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

start() { # CORE COMMAND...
  local core=$1
  shift
  taskset -c "$core" "$@" >>"$dir/output" 2>&1 &
  pids+=($!)
}

fetch() { # CURL ARGUMENTS...: retries until the server listens
  curl -fs --retry 100 --retry-delay 1 --retry-all-errors "$@" >/dev/null && return
  echo "no answer to curl $*" >&2
  exit 1
}

worker_of() { pgrep -P "$1" -f 'worker process'; }

cpu_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

measure() { # NAME PID PORT LUA SECONDS
  local before after requests rate
  before=$(cpu_ticks "$2")
  taskset -c 1 wrk -t1 -c64 -d"${5}s" -s "$4" "http://127.0.0.1:$3" >"$dir/wrk"
  after=$(cpu_ticks "$2")
  ! grep -E 'Non-2xx|Socket errors' "$dir/wrk" >&2 || exit 1
  requests=$(awk '/requests in/ { print $1 }' "$dir/wrk")
  rate=$(awk '/Requests\/sec/ { print $2 }' "$dir/wrk")
  awk -v name="$1" -v rate="$rate" -v n="$requests" -v ticks=$((after - before)) \
    -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%-16s %9.0f requests/s %7.2f us CPU/request\n", name, rate, ticks / hz * 1e6 / n }'
}

nginx_conf origin "server { listen 127.0.0.1:$origin_port; root $dir/www;
  location ~ ^/(1k)/ { try_files /\$1 =404; add_header Cache-Control max-age=86400; } }"
nginx_conf cache "proxy_cache_path $dir/nginx levels=1:2 keys_zone=all:400m max_size=20g inactive=1d use_temp_path=off;
  upstream origin { server 127.0.0.1:$origin_port; keepalive 64; }
  server { listen 127.0.0.1:$nginx_port; open_file_cache max=1000;
    location / { proxy_pass http://origin; proxy_set_header Host \$host; proxy_http_version 1.1;
      proxy_set_header Connection ''; proxy_cache all; } }"
head -c 1024 /dev/urandom >"$dir/www/1k"
# A million entries need an index of 54 MiB, in half of the memory (nginx has 400 MiB for its keys).
cat >"$dir/hearsay.json" <<END
{"listen": ["127.0.0.1:$port"], "threads": 1, "access": {"deny_to": []}, "log": {"access": "none"},
 "cache": {"memory": "256MiB", "disk": {"path": "$dir/hearsay", "size": "20GiB"}}}
END

sequence() { # FILE PREFIX FIRST [COUNT]: requests each name once, and ends after COUNT
  cat >"$dir/$1" <<END
local n, last = $3, $3 + ${4:-1000000000}
function request() n = n + 1 return wrk.format("GET", "$2" .. n) end
function response() if n > last then n, last = 0, math.huge os.execute("(sleep 0.1; kill -INT \$PPID) &") end end
END
}
metric() { curl -fs "http://127.0.0.1:$port/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }

end() { # PID SIGNAL
  kill "-$2" "$1"
  wait "$1" || true
}

resident() { awk '/^VmRSS/ { print $2 / 1024 " MiB" }' "/proc/$1/status"; }

first_hit() { # NAME COMMAND...: milliseconds from the start of the program
  local name=$1 begun
  shift
  begun=$(date +%s%N)
  "$@"
  echo "$name: first hit after $((($(date +%s%N) - begun) / 1000000)) ms"
}
until_hit() { # CURL ARGUMENTS...
  until curl -fs "$@" >/dev/null; do :; done
}
nginx_from_start() {
  start 0 nginx -p "$dir" -c "$dir/cache.conf"
  nginx_pid=$!
  until_hit --noproxy '*' "http://127.0.0.1:$nginx_port/1k/77"
}
hearsay_from_start() {
  start 0 "$hearsay" serve --config "$dir/hearsay.json"
  hearsay_pid=$!
  until_hit --proxy "http://127.0.0.1:$port" --noproxy '' "$origin/1k/77"
}

mkdir "$dir/hearsay" "$dir/nginx"
chmod 777 "$dir/nginx"
start 1 nginx -p "$dir" -c "$dir/origin.conf"
fetch --noproxy '*' "$origin/1k/0"
readonly origin_pid=${pids[-1]}

start 0 nginx -p "$dir" -c "$dir/cache.conf"
nginx_pid=$!
fetch --noproxy '*' "http://127.0.0.1:$nginx_port/1k/0"
nginx_worker=$(worker_of "$nginx_pid")
sequence nginx.lua /1k/ 0 "$entries"
measure nginx "$nginx_worker" "$nginx_port" "$dir/nginx.lua" 3600
echo "nginx: $(resident "$nginx_worker") resident; on disk $(du -sm "$dir/nginx" | cut -f1) MiB"

start 0 "$hearsay" serve --config "$dir/hearsay.json"
hearsay_pid=$!
fetch --proxy "http://127.0.0.1:$port" --noproxy '' "$origin/1k/0"
sequence hearsay.lua "$origin/1k/" 0 "$entries"
measure hearsay "$hearsay_pid" "$port" "$dir/hearsay.lua" 3600
echo "hearsay wrote $(metric hearsay_disk_stored_total), had no time for $(metric hearsay_disk_busy_total)"

kill "$origin_pid"
end "$hearsay_pid" TERM
first_hit "hearsay, after a clean stop" hearsay_from_start
echo "hearsay: $(metric hearsay_disk_entries) entries, index $(metric hearsay_disk_index_bytes) bytes, $(resident "$hearsay_pid") resident; on disk $(du -sm "$dir/hearsay" | cut -f1) MiB"
end "$hearsay_pid" KILL
first_hit "hearsay, after kill -9" hearsay_from_start
end "$nginx_pid" TERM  # nginx waits for its cache loader
first_hit "nginx, after a clean stop" nginx_from_start
mapfile -t children < <(pgrep -P "$nginx_pid")
kill -KILL "${children[@]}" && end "$nginx_pid" KILL
first_hit "nginx, after kill -9" nginx_from_start
