# Sourced by run.sh: starts programs, each on given cores, reads the CPU time they take, and ends all of
# them with the script, also if it fails.

readonly server_core=${SERVER_CORE:-0} load_core=${LOAD_CORE:-1}
readonly dir=$(mktemp -d "${TMPDIR:-/tmp}/compare.XXXXXX")
chmod 755 "$dir"  # for workers that are not root
declare -A pids=() ports=()

# Ports below those of outgoing connections, and a place of its own for each run.
next_port=${PORTS_FROM:-$((16000 + $$ % 800 * 20))}

fail() {
  echo "compare: $*" >&2
  exit 1
}

take_port() { # NAME: gives NAME a port on which nobody listens
  while (exec 3<>"/dev/tcp/127.0.0.1/$next_port") 2>/dev/null; do ((++next_port)); done
  ports[$1]=$next_port
  ((++next_port))
}

launch() { # NAME CORES COMMAND...
  local name=$1 cores=$2
  shift 2
  # If the script is killed, the kernel ends the program (but not Squid, which becomes another user).
  setpriv --pdeathsig TERM taskset -c "$cores" "$@" >>"$dir/$name.output" 2>&1 &
  pids[$name]=$!
}

tree() { # PID: prints it and all its descendants
  local child
  echo "$1"
  for child in $(pgrep -P "$1"); do tree "$child"; done
}

end() { # NAME: ends the program, by force if it takes longer than 10 s
  local pid=${pids[$1]} members tries
  mapfile -t members < <(tree "$pid")
  kill "$pid" 2>/dev/null || true
  for ((tries = 0; tries < 100; ++tries)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  ((tries < 100)) || kill -KILL "${members[@]}" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  unset "pids[$1]"
}

end_all() {
  local name
  for name in "${!pids[@]}"; do end "$name"; done
}

end_group() { # ends all programs and removes their caches
  end_all
  rm -rf "$dir"/{nginx,nginx-sendfile,varnish,squid,hearsay}{,-*}
}

stop() {
  end_all
  [ -n "${KEEP_DIRECTORY:-}" ] || rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

await() { # NAME PATH [CURL ARGUMENTS...]: fetches until the program answers with success
  local name=$1 path=$2 tries
  shift 2
  for ((tries = 0; tries < 200; ++tries)); do
    ! fetch "$name" "$path" -o "$dir/awaited" "$@" || return 0
    kill -0 "${pids[$name]}" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 20 "$dir/$name.output" >&2
  fail "$name does not answer $path"
}

# User and system time in clock ticks of a program and its descendants, those that have ended included.
cpu_ticks() { # NAME
  local pid
  for pid in $(tree "${pids[$1]}"); do sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null || true; done |
    awk '{ ticks += $12 + $13 + $14 + $15 } END { print ticks }'
}

core_ticks() { # prints busy and all ticks of both cores
  awk -v one="cpu$server_core" -v other="cpu$load_core" '
    { all = 0; for (i = 2; i <= 9; ++i) all += $i; times[$1] = (all - $5 - $6) " " all }
    END { print times[one], times[other] }' /proc/stat
}
