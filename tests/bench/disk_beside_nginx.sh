#!/usr/bin/env bash
# Compares the cache on disk with nginx's proxy_cache, each on one core, in alternating rounds:
#   tests/bench/disk_beside_nginx.sh HEARSAY [stores|hits|start [ROUNDS_OR_ENTRIES]]
# stores: stores unique responses of 10 KiB. Both caches have stored 100,000 before, since an empty
#   directory is faster than one in use (STORED_BEFORE=0 shows by how much).
# hits: reads 4,000 responses of 100 KiB in random order, far more than memory holds.
# start: stores 1,000,000 entries of 1 KiB; measures the time to the first hit after a clean stop and
#   after kill -9, and memory and disk per entry.
# Everything stays in the system's page cache for both, so that the disk's speed hides nothing.
# Needs wrk, nginx and curl.
set -euo pipefail

readonly hearsay=$(realpath "${1:?the program to measure}") what=${2:-stores} many=${3:-}
source "$(dirname "${BASH_SOURCE[0]}")/beside_nginx.sh"
readonly origin_port=${ORIGIN_PORT:-18190} nginx_port=${NGINX_PORT:-18191} port=${PORT:-18192}
readonly origin=http://127.0.0.1:$origin_port
readonly seconds=${SECONDS_EACH:-5} stored_before=${STORED_BEFORE:-100000}

nginx_conf origin "server { listen 127.0.0.1:$origin_port; root $dir/www;
  location ~ ^/(1k|10k|100k)/ { try_files /\$1 =404; add_header Cache-Control max-age=86400; } }"
nginx_cache() { # NAME SENDFILE
  nginx_conf "$1" "sendfile $2; tcp_nopush $2;
  proxy_cache_path $dir/nginx levels=1:2 keys_zone=all:400m max_size=20g inactive=1d use_temp_path=off;
  upstream origin { server 127.0.0.1:$origin_port; keepalive 64; }
  server { listen 127.0.0.1:$nginx_port; open_file_cache max=1000;
    location / { proxy_pass http://origin; proxy_set_header Host \$host; proxy_http_version 1.1;
      proxy_set_header Connection ''; proxy_cache all; } }"
}
nginx_cache cache off
nginx_cache sendfile on
for size in 1 10 100; do head -c $((size << 10)) /dev/urandom >"$dir/www/${size}k"; done
# A million entries need an index of 54 MiB, in half of the memory (nginx has 400 MiB for its keys).
[ "$what" = start ] && memory=256MiB || memory=32MiB
cat >"$dir/hearsay.json" <<END
{"listen": ["127.0.0.1:$port"], "threads": 1, "access": {"deny_to": []}, "log": {"access": "none"},
 "cache": {"memory": "$memory", "disk": {"path": "$dir/hearsay", "size": "20GiB"}}}
END

sequence() { # FILE PREFIX FIRST [COUNT]: requests each name once, and ends after COUNT
  cat >"$dir/$1" <<END
local n, last = $3, $3 + ${4:-1000000000}
function request() n = n + 1 return wrk.format("GET", "$2" .. n) end
function response() if n > last then n, last = 0, math.huge os.execute("(sleep 0.1; kill -INT \$PPID) &") end end
END
}
at_random() { # FILE PREFIX COUNT
  echo "function request() return wrk.format('GET', '$2' .. math.random($3)) end" >"$dir/$1"
}
metric() { curl -fs "http://127.0.0.1:$port/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }

start_nginx() { # CONFIGURATION
  start 0 nginx -p "$dir" -c "$dir/$1.conf"
  nginx_pid=$!
  fetch --noproxy '*' "http://127.0.0.1:$nginx_port/1k/0"
  nginx_worker=$(worker_of "$nginx_pid")
}
start_hearsay() {
  start 0 "$hearsay" serve --config "$dir/hearsay.json"
  hearsay_pid=$!
  fetch --proxy "http://127.0.0.1:$port" --noproxy '' "$origin/1k/0"
}
end() { # PID [SIGNAL]
  kill "-${2:-QUIT}" "$1"
  wait "$1" || true
}

fill() { # PREFIX PORT COUNT
  sequence fill.lua "$1" 0 "$3"
  taskset -c 1 wrk -t1 -c64 -d3600s -s "$dir/fill.lua" "http://127.0.0.1:$2" >"$dir/wrk"
}

stores() {
  start_nginx cache
  start_hearsay
  fill /10k/before- "$nginx_port" "$stored_before"
  fill "$origin/10k/before-" "$port" "$stored_before"
  for ((i = 0; i < ${many:-5}; ++i)); do
    sequence nginx.lua "/10k/$i-" 0
    sync  # so that one's dirty pages are not written while the other is measured
    measure nginx "$nginx_worker" "$nginx_port" "$dir/nginx.lua" "$seconds"
    sequence hearsay.lua "$origin/10k/$i-" 0
    sync
    measure hearsay "$hearsay_pid" "$port" "$dir/hearsay.lua" "$seconds"
  done
  compare hearsay nginx
  echo "hearsay wrote $(metric hearsay_disk_stored_total), had no time for $(metric hearsay_disk_busy_total)"
}

hits() {
  local count=4000
  start_nginx cache
  start_hearsay
  curl -fs --noproxy '*' "http://127.0.0.1:$nginx_port/100k/[1-$count]" >"$dir/fetched"
  curl -fs --proxy "http://127.0.0.1:$port" --noproxy '' "$origin/100k/[1-$count]" >"$dir/fetched"
  rm "$dir/fetched"
  kill "$origin_pid"  # from here on, a miss fails
  at_random nginx.lua /100k/ "$count"
  at_random hearsay.lua "$origin/100k/" "$count"
  for ((i = 0; i < ${many:-5}; ++i)); do
    measure nginx "$nginx_worker" "$nginx_port" "$dir/nginx.lua" "$seconds"
    end "$nginx_pid" && start_nginx sendfile
    measure nginx-sendfile "$nginx_worker" "$nginx_port" "$dir/nginx.lua" "$seconds"
    end "$nginx_pid" && start_nginx cache
    measure hearsay "$hearsay_pid" "$port" "$dir/hearsay.lua" "$seconds"
  done
  compare hearsay nginx
  compare hearsay nginx-sendfile
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

starts() {
  local entries=${many:-1000000}
  start_nginx cache
  sequence nginx.lua /1k/ 0 "$entries"
  measure nginx "$nginx_worker" "$nginx_port" "$dir/nginx.lua" 3600
  echo "nginx: $(resident "$nginx_worker") resident; on disk $(du -sm "$dir/nginx" | cut -f1) MiB"
  start_hearsay
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
}

mkdir "$dir/hearsay" "$dir/nginx"
chmod 777 "$dir/nginx"
start 1 nginx -p "$dir" -c "$dir/origin.conf"
origin_pid=$!
fetch --noproxy '*' "$origin/1k/0"
case $what in
  stores) stores ;;
  hits) hits ;;
  start) starts ;;
  *) echo "unknown bench $what: stores, hits or start" >&2; exit 2 ;;
esac
