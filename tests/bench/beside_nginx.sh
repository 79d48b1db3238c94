# Sourced by the benches that compare a program with nginx on this machine. The server under test runs
# on core 0, the load on core 1. Needs wrk, nginx and curl. The script ends every process it started.

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

measure() { # NAME PID PORT LUA SECONDS: appends "requests/s us/request" to NAME's file
  local before after requests rate
  before=$(cpu_ticks "$2")
  taskset -c 1 wrk -t1 -c64 -d"${5}s" -s "$4" "http://127.0.0.1:$3" >"$dir/wrk"
  after=$(cpu_ticks "$2")
  ! grep -E 'Non-2xx|Socket errors' "$dir/wrk" >&2 || exit 1
  requests=$(awk '/requests in/ { print $1 }' "$dir/wrk")
  rate=$(awk '/Requests\/sec/ { print $2 }' "$dir/wrk")
  awk -v name="$1" -v rate="$rate" -v n="$requests" -v ticks=$((after - before)) \
    -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%-16s %9.0f requests/s %7.2f us CPU/request\n", name, rate, ticks / hz * 1e6 / n }' |
    tee -a "$dir/$1.rounds"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
column() { awk -v column="$2" '{ print $column }' "$dir/$1.rounds"; }
ratio() { paste <(column "$1" "$3") <(column "$2" "$3") | awk '{ print $1 / $2 }' | median; }

compare() { # OURS THEIRS
  printf 'median of %s / %s: throughput %.3f, CPU time per request %.3f (%.2f us / %.2f us)\n' \
    "$1" "$2" "$(ratio "$1" "$2" 2)" "$(ratio "$1" "$2" 4)" "$(column "$1" 4 | median)" \
    "$(column "$2" 4 | median)"
}
