# Sourced by run.sh: the programs and their settings, each as good as its manual says for this work, one
# thread or worker each. KIND is memory (all in memory), disk (memory for a few percent of the bodies),
# stores (as disk, with an index for all of them), plain (no cache) or, of Hearsay alone, nothing (a body
# of 1 KiB is too large to be stored) and logged (with an access log).

serve() { # PROGRAM KIND: starts it under its own name
  take_port "$1"
  mkdir "$dir/$1"
  chmod 777 "$dir/$1"
  case $1 in
    nginx) serve_nginx "$1" "$2" off ;;
    nginx-sendfile) serve_nginx "$1" "$2" on ;;
    varnish) serve_varnish "$2" ;;
    squid) serve_squid "$2" ;;
    hearsay) serve_hearsay "$1" "$2" ;;
  esac
}

serve_loop() { # NAME BYTES
  take_port "$1"
  launch "$1" "$server_core" "$dir/epoll_loop" "${ports[$1]}" "$2"
}

serve_relay_loop() { # NAME: passes all requests to the origin
  take_port "$1"
  launch "$1" "$server_core" "$dir/relay_loop" "${ports[$1]}" "${ports[origin]}"
}

nginx_conf() { # NAME HTTP-BLOCK
  cat >"$dir/$1.conf" <<CONF
daemon off; worker_processes 1; pid $dir/$1.pid; error_log $dir/$1.error;
worker_rlimit_nofile $(ulimit -n);
events { worker_connections 20000; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75; default_type application/octet-stream;
  client_body_temp_path $dir/$1.body; fastcgi_temp_path $dir/$1.f; uwsgi_temp_path $dir/$1.u;
  scgi_temp_path $dir/$1.s; proxy_temp_path $dir/$1.proxy;
  $2
}
CONF
}

# /SIZE/NAME is stored for a day, /nostore/SIZE/NAME is not; all names of a size have the same body.
serve_origin() {
  [ -n "${ports[origin]:-}" ] || take_port origin
  nginx_conf origin "open_file_cache max=100; open_file_cache_valid 1h; sendfile on; tcp_nopush on;
    server { listen 127.0.0.1:${ports[origin]} backlog=4096; root $dir/www;
      location = /requests { stub_status; }
      location ~ ^/nostore/(\w+)/ { try_files /\$1 =404; add_header Cache-Control no-store; }
      location ~ ^/(\w+)/ { try_files /\$1 =404; add_header Cache-Control max-age=86400; } }"
  launch origin "$load_core" nginx -p "$dir" -c "$dir/origin.conf"
  await origin /1k/awaited
}

origin_requests() { # the number so far, this one included
  fetch origin /requests | awk 'NR == 3 { print $3 }'
}

# The better of sendfile on and off is the one to compare with.
serve_nginx() { # NAME KIND SENDFILE
  local cache='proxy_cache all;' open_files="max=$nginx_open_files"
  ((nginx_open_files > 0)) || open_files=off
  [ "$2" != plain ] || cache='proxy_max_temp_file_size 0; proxy_buffers 16 64k; proxy_busy_buffers_size 512k;'
  nginx_conf "$1" "sendfile $3; tcp_nopush $3; open_file_cache $open_files; open_file_cache_valid 1h;
    proxy_cache_path $dir/$1 levels=1:2 keys_zone=all:400m max_size=20g inactive=1d use_temp_path=off;
    upstream origin { server 127.0.0.1:${ports[origin]}; keepalive 64; keepalive_requests 1000000000; }
    server { listen 127.0.0.1:${ports[$1]} backlog=4096;
      location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection '';
        $cache } }"
  launch "$1" "$server_core" nginx -p "$dir" -c "$dir/$1.conf"
}

serve_varnish() { # KIND
  local storage=malloc,1g
  case $1 in disk | stores) storage=file,$dir/varnish/storage,8G ;; esac
  cat >"$dir/varnish.vcl" <<CONF
vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${ports[origin]}"; }
sub vcl_backend_response { set beresp.grace = 0s; }
CONF
  launch varnish "$server_core" varnishd -F -j none -n "$dir/varnish/work" -f "$dir/varnish.vcl" \
    -a "127.0.0.1:${ports[varnish]}" -s "$storage" -p thread_pools=1 -p thread_pool_min=100 \
    -p thread_pool_max=500 -p thread_queue_limit=20000 -p listen_depth=4096 -p default_ttl=0
}

serve_squid() { # KIND
  local memory='1 GB'
  case $1 in disk) memory='32 MB' ;; stores) memory='64 MB' ;; esac
  cat >"$dir/squid.conf" <<CONF
http_port 127.0.0.1:${ports[squid]}
visible_hostname squid.test
pid_filename $dir/squid/pid
cache_log $dir/squid/cache.log
access_log none
cache_store_log none
coredump_dir $dir/squid
shutdown_lifetime 0 seconds
pinger_enable off
netdb_filename none
minimum_direct_rtt 0
minimum_direct_hops 0
client_db off
icp_port 0
digest_generation off
max_filedescriptors $(ulimit -n)
cache_mem $memory
maximum_object_size_in_memory 2 MB
memory_replacement_policy lru
http_access allow localhost
http_access deny all
CONF
  case $1 in
    disk | stores)
      echo "cache_dir ufs $dir/squid/cache 20000 16 64" >>"$dir/squid.conf"
      squid -n "compare$$" -z -N -f "$dir/squid.conf" >>"$dir/squid.output" 2>&1 ;;
  esac
  launch squid "$server_core" squid -n "compare$$" -N -f "$dir/squid.conf"
}

serve_hearsay() { # NAME KIND [THREADS [CORES [MORE-SETTINGS]]]
  local cache='"memory": "1GiB"' log=none disk="\"disk\": { \"path\": \"$dir/$1/cache\", \"size\": \"20GiB\" }"
  case $2 in
    disk) cache="\"memory\": \"32MiB\", $disk" ;;
    stores) cache="\"memory\": \"64MiB\", $disk" ;;
    nothing) cache='"max_object": "512B"' ;;
    logged) log=$dir/$1/access.log ;;
  esac
  cat >"$dir/$1.json" <<CONF
{ "name": "$1", "listen": ["127.0.0.1:${ports[$1]}"], "threads": ${3:-1}, "control": "none", "user": "$(id -un)",
  "cache": { $cache }, "access": { "deny_to": [] }, "log": { "access": "$log" },
  "limits": { "connections": 20000, "connections_per_client": 20000, "requests_per_client": 20000 }${5:-} }
CONF
  launch "$1" "${4:-$server_core}" "$hearsay" serve --config "$dir/$1.json"
}
