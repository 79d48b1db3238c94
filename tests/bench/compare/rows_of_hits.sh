# Sourced by run.sh: the rows of requests that a cache answers. The origin is ended before they are
# measured, so that a miss fails the run.

hits() {
  local rows row size program
  rows=$(wanted hit-1k hit-10k hit-100k hit-1000k pipelined-16 only-if-cached logged-1k \
    connections-10 connections-100 connections-1000 connections-10000)
  [ -n "$rows" ] || return 0
  announce "hits from memory"
  serve_origin
  for program in $(present nginx nginx-sendfile varnish squid hearsay); do
    serve "$program" memory
    for size in 1k 10k 100k 1000k; do await "$program" "/$size/hit"; done
  done
  if [[ $rows == *logged-1k* ]]; then
    take_port hearsay-logged
    mkdir "$dir/hearsay-logged"
    serve_hearsay hearsay-logged logged
    await hearsay-logged /1k/hit
  fi
  for size in $(has loop && echo 1k 10k 100k 1000k); do
    serve_loop "loop-$size" "$(stat -c %s "$dir/www/$size")"
    await "loop-$size" /
  done
  end origin
  for row in $rows; do
    [[ $row != connections-* || $(connections_of "$row") = "${row#connections-}" ]] ||
      printf 'note\t%s: %d connections, as %d descriptors are allowed here\n' "$row" \
        "$(connections_of "$row")" "$(ulimit -n)" >>"$results"
  done
  for ((round = 0; round < rounds; ++round)); do
    for row in $rows; do hits_of "$row"; done
  done
  end_group
}

hits_of() { # ROW
  local row=$1 program
  case $row in
    hit-*)
      for program in $(present loop nginx nginx-sendfile varnish squid hearsay); do
        measure "$row" "$program" "$(instance "$program" "${row#hit-}")" 64 same "/${row#hit-}/hit"
      done ;;
    connections-*)
      for program in $(present loop nginx hearsay); do
        # Long enough for all of them to be accepted.
        seconds=$((seconds < 3 ? 3 : seconds)) measure "$row" "$program" "$(instance "$program" 1k)" \
          "$(connections_of "$row")" same /1k/hit
      done ;;
    pipelined-16)
      for program in $(present nginx varnish hearsay); do
        measure "$row" "$program" "$program" 64 pipelined /1k/hit 16
      done ;;
    only-if-cached) measure "$row" hearsay hearsay 64 same /1k/hit 'Cache-Control: only-if-cached' ;;
    logged-1k) measure "$row" hearsay hearsay-logged 64 same /1k/hit ;;
  esac
}

# Hearsay wants a descriptor for the client and one for the origin of each connection.
connections_of() { # ROW: prints as many of the connections as the limit of descriptors allows
  local most=$(($(ulimit -n) * 2 / 5)) connections=${1#connections-}
  echo $((connections < most ? connections : most))
}

instance() { # PROGRAM SIZE: a bare loop knows only one size
  [ "$1" = loop ] && echo "loop-$2" || echo "$1"
}

# Bodies of 400 MB and 32 MiB of memory, all in the system's page cache.
disk_hits() {
  local row
  for row in $(wanted disk-10k disk-100k); do
    case $row in
      disk-10k) disk_hits_of "$row" /10k/stored- $((disk_mebibytes * 100)) ;;
      disk-100k) disk_hits_of "$row" /100k/stored- $((disk_mebibytes * 10)) ;;
    esac
  done
}

disk_hits_of() { # ROW PATH COUNT
  local row=$1 path=$2 count=$3 program
  announce "hits from disk, $count of $path"
  serve_origin
  for program in $(present nginx nginx-sendfile varnish squid hearsay); do
    serve "$program" disk
    await "$program" "${path}1"
    fill_completely "$program" "$path" "$count"
  done
  sync -f "$dir"  # so that no dirty pages are written meanwhile
  end origin
  for ((round = 0; round < rounds; ++round)); do
    for program in $(present nginx nginx-sendfile varnish squid hearsay); do
      measure "$row" "$program" "$program" 64 names "$path" random "$count"
    done
  done
  end_group
}
