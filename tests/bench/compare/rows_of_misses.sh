# Sourced by run.sh: the rows of requests that reach the origin. The origin runs on the core of the load.
# It counts requests: a hit among them fails the run.

# 1,000 names in turn, so that no two requests for the same one are under way.
misses() {
  local row program
  for row in $(wanted miss-1k); do
    announce "misses that are not stored"
    serve_origin
    ! has loop || serve_relay_loop loop
    for program in $(present nginx varnish squid hearsay); do
      serve "$program" memory
    done
    for program in $(present loop nginx varnish squid hearsay); do
      await "$program" /nostore/1k/awaited
    done
    for ((round = 0; round < rounds; ++round)); do
      for program in $(present loop nginx varnish squid hearsay); do
        measure_at_origin 0.99 1.01 "$row" "$program" "$program" 64 names /nostore/1k/ cycle 1000
      done
    done
    end_group
  done
}

# A cache that is empty or small is faster than one in use.
stores() {
  local row program
  for row in $(wanted stored-10k); do
    announce "misses that are stored, after $stored_before others"
    serve_origin
    for program in $(present nginx varnish squid hearsay); do
      serve "$program" stores
      await "$program" /10k/awaited
      fill "$program" /10k/before- "$stored_before"
    done
    for ((round = 0; round < rounds; ++round)); do
      for program in $(present nginx varnish squid hearsay); do
        sync -f "$dir"  # so that one's dirty pages are not written while the next is measured
        measure_at_origin 0.99 1.01 "$row" "$program" "$program" 64 names "/10k/$round-" once
      done
    done
    note_what_was_written
    end_group
  done
}

# Hearsay keeps a response in memory alone if its disk is behind.
note_what_was_written() {
  curl -fsS --noproxy '*' "http://127.0.0.1:${ports[hearsay]}/metrics" | awk -v row=stored-10k '
    { value[$1] = $2 }
    END { printf "note\t%s: Hearsay wrote %d responses to its disk, and had no time for %d\n", row,
      value["hearsay_disk_stored_total"], value["hearsay_disk_busy_total"] }' >>"$results"
}

# One body at a time, read by curl. The latency is the time to the first byte.
relays() {
  local row program
  for row in $(wanted relay); do
    announce "relaying $relay_mebibytes MiB"
    truncate -s "${relay_mebibytes}M" "$dir/www/large"
    serve_origin
    fetch origin /nostore/large/0 -o /dev/null
    for program in $(present nginx nginx-sendfile varnish squid hearsay); do
      serve "$program" plain
      await "$program" /nostore/1k/awaited
    done
    for ((round = 0; round < rounds; ++round)); do
      for program in $(present nginx nginx-sendfile varnish squid hearsay); do relay "$row" "$program"; done
    done
    end_group
    rm "$dir/www/large"
  done
}

relay() { # ROW PROGRAM
  local row=$1 program=$2 size first total
  begin_interval "$program"
  read -r size first total < <(
    fetch "$program" /nostore/large/1 -o /dev/null -w '%{size_download} %{time_starttransfer} %{time_total}\n')
  [ "$size" = $((relay_mebibytes << 20)) ] || fail "$program relayed ${size:-nothing}"
  end_interval "$row" "$program" "$program" 1 "$(scaled "$total")" "$(scaled "$first")"
}

scaled() { # SECONDS: in microseconds
  awk -v seconds="$1" 'BEGIN { printf "%d", seconds * 1e6 }'
}
