# Sourced by run.sh: puts a load on a program, and appends a line to $results for each measurement:
#   ROW PROGRAM REQUESTS CPU-SECONDS SECONDS LATENCY-MICROSECONDS SERVER-CORE-BUSY LOAD-CORE-BUSY
# The n-th line of a row and a program is of the n-th round.

readonly loads=$compare/loads

target() { # NAME PATH: the URL as this program expects it: proxies in absolute form, others in origin form
  case $1 in
    hearsay* | squid*) echo "http://127.0.0.1:${ports[origin]}$2" ;;
    *) echo "$2" ;;
  esac
}

fetch() { # NAME PATH CURL-ARGUMENTS...
  local name=$1 path=$2
  shift 2
  case $name in
    hearsay* | squid*) curl -fsS --noproxy '' --proxy "http://127.0.0.1:${ports[$name]}" "$@" \
      "http://127.0.0.1:${ports[origin]}$path" ;;
    *) curl -fsS --noproxy '*' "$@" "http://127.0.0.1:${ports[$name]}$path" ;;
  esac 2>>"$dir/curl"
}

put_load() { # NAME SECONDS CONNECTIONS LOAD PATH [ARGUMENTS...]: sets outcome to what the load reports
  local name=$1 time=$2 connections=$3 load=$4 path=$5
  shift 5
  rm -f "$dir/load.output"
  # In the background, so that a signal ends the script at once.
  launch load "$load_core" wrk -t1 -c"$connections" -d"${time}s" --timeout 10s -s "$loads/$load.lua" \
    "http://127.0.0.1:${ports[$name]}" -- "$(target "$name" "$path")" "$@"
  wait "${pids[load]}" || true
  unset "pids[load]"
  read -ra outcome < <(sed -n 's/^result //p' "$dir/load.output") || true
  if [ "${outcome[2]:-x} ${outcome[3]:-x}" != "0 0" ] || ((outcome[0] == 0)); then
    cat "$dir/load.output" >&2
    fail "the load on $name ($load $path $*) met errors, time-outs or no response"
  fi
}

# Fetches PATH with each number up to COUNT at its end.
fill() { # NAME PATH COUNT
  put_load "$1" 3600 64 fill "$2" "$3"
}

# Again until all are stored: a cache on disk may have no time to write some of them.
fill_completely() { # NAME PATH COUNT
  local before pass
  for ((pass = 0; pass < 10; ++pass)); do
    before=$(origin_requests)
    fill "$@"
    (($(origin_requests) > before + 1)) || return 0
  done
  fail "$1 does not store all of $3 responses"
}

begin_interval() { # NAME
  cores_before=($(core_ticks))
  ticks_before=$(cpu_ticks "$1")
}

end_interval() { # ROW PROGRAM NAME REQUESTS MICROSECONDS LATENCY
  local ticks cores
  ticks=$(($(cpu_ticks "$3") - ticks_before))
  cores=($(core_ticks))
  awk -v row="$1" -v program="$2" -v requests="$4" -v microseconds="$5" -v latency="$6" \
    -v ticks="$ticks" -v hz="$(getconf CLK_TCK)" -v before="${cores_before[*]}" -v after="${cores[*]}" '
    function busy(i) { return (a[i] - b[i]) / (a[i + 1] - b[i + 1]) }
    BEGIN {
      split(before, b); split(after, a)
      printf "%s\t%s\t%d\t%.2f\t%.6f\t%d\t%.3f\t%.3f\n", row, program, requests, ticks / hz,
        microseconds / 1e6, latency, busy(1), busy(3)
    }' | tee -a "$results" | awk '{ printf "  %-18s %-16s %8.2f us CPU/request %9.0f requests/s\n",
        $1, $2, $4 * 1e6 / $3, $3 / $5 }' >&2
}

measure() { # ROW PROGRAM NAME CONNECTIONS LOAD PATH [ARGUMENTS...]
  local row=$1 program=$2 name=$3
  shift 3
  begin_interval "$name"
  put_load "$name" "$seconds" "$@"
  end_interval "$row" "$program" "$name" "${outcome[0]}" "${outcome[1]}" "${outcome[4]}"
}

# As measure, and fails unless the origin has got at least LEAST and at most MOST of the requests.
measure_at_origin() { # LEAST MOST MEASURE-ARGUMENTS...
  local least=$1 most=$2 before got
  shift 2
  before=$(origin_requests)
  measure "$@"
  got=$(($(origin_requests) - before - 1))
  awk -v got="$got" -v all="${outcome[0]}" -v least="$least" -v most="$most" \
    'BEGIN { exit !(got >= least * all && got <= most * all + 100) }' ||
    fail "$1, $2: the origin got $got of ${outcome[0]} requests"
}
