# Sourced by run.sh: the rows that compare Hearsay with itself.

# A stores nothing (cache.max_object), so each request is a miss that B answers. Beside
# it the same misses of a Hearsay without neighbours, answered by the origin. B runs on the core of the
# load, as the origin does.
peers() {
  local rows row
  rows=$(wanted peer-hit peer-miss)
  [ -n "$rows" ] || return 0
  announce "hits of a neighbour"
  serve_origin
  start_pair
  for ((round = 0; round < rounds; ++round)); do
    for row in $rows; do
      case $row in
        peer-hit) peer_hits "$row" ;;
        peer-miss) measure_at_origin 0.99 1.01 "$row" hearsay hearsay-alone 64 names /1k/ cycle 1000 ;;
      esac
    done
  done
  end_group
}

# The origin is asked for samples.
peer_hits() { # ROW
  local before
  before=$(true_claims)
  measure_at_origin 0 0.05 "$1" hearsay hearsay-a 64 names /1k/ cycle 1000
  (($(true_claims) - before > outcome[0] * 95 / 100)) || fail "$1: B did not answer nearly all requests"
}

true_claims() { # the number of requests of A that B has answered
  curl -fsS --noproxy '*' "http://127.0.0.1:${ports[hearsay-a]}/metrics" |
    awk '/^hearsay_peer_true_hits_total/ { print $2 }'
}

start_pair() {
  local name tries
  for name in hearsay-alone hearsay-a hearsay-b; do
    take_port "$name"
    mkdir "$dir/$name"
  done
  serve_hearsay hearsay-alone nothing
  await hearsay-alone /nostore/1k/awaited
  serve_hearsay hearsay-b memory 1 "$load_core"
  await hearsay-b /nostore/1k/awaited
  fetch hearsay-b '/1k/[1-1000]' >"$dir/fetched"
  # By default A asks the origin instead, or too, while a full load makes B slower than usual, and lets B
  # rest if it takes half a second.
  serve_hearsay hearsay-a nothing 1 "$server_core" ", \"digest\": { \"prefer\": \"neighbours\", \"site_collapse\": \"off\" },
    \"timeouts\": { \"peer_connect\": \"5s\", \"peer_first_byte\": \"30s\" },
    \"peers\": [{ \"url\": \"http://127.0.0.1:${ports[hearsay-b]}\", \"name\": \"b\" }]"
  await hearsay-a /nostore/1k/awaited
  for ((tries = 0; tries < 100; ++tries)); do
    (($(claimed) < 1000)) || return 0
    sleep 0.1
  done
  fail "A has not fetched B's digest"
}

claimed() { # the number of URLs that B claims, as far as A knows
  curl -fsS --noproxy '*' "http://127.0.0.1:${ports[hearsay-a]}/digest" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["peers"][0]["entries"] or 0)'
}

# The same number of connections, each of which pauses after each response, so that the load is equal.
threads() {
  local rows row
  rows=$(wanted threads-1 threads-2)
  [ -n "$rows" ] || return 0
  announce "one and two threads"
  serve_origin
  for row in 1 2; do
    take_port "hearsay-$row"
    mkdir "$dir/hearsay-$row"
    serve_hearsay "hearsay-$row" memory "$row" "$([ "$row" = 1 ] && echo "$server_core" || echo "$server_core,$load_core")"
    await "hearsay-$row" /1k/hit
  done
  end origin
  for ((round = 0; round < rounds; ++round)); do
    for row in $rows; do
      measure "$row" hearsay "hearsay-${row#threads-}" 64 paced /1k/hit "$pause_milliseconds"
    done
  done
  for row in $rows; do
    printf 'note\t%s: a thread slept %d times for a lock\n' "$row" "$(lock_waits "hearsay-${row#threads-}")" >>"$results"
  done
  end_group
}

lock_waits() { # NAME: since its start
  curl -fsS --noproxy '*' "http://127.0.0.1:${ports[$1]}/metrics" | awk '/^hearsay_lock_waits_total/ { print $2 }'
}
