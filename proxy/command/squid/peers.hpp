// Neighbours and the servers of our own sites, from the lines of cache_peer and the lines that
// choose among peers.
#pragma once

#include <vector>

#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/json.hpp"
#include "proxy/command/squid/plain.hpp"

namespace proxy::command::squid {

// Reads `cache_peer`, `cache_peer_access`, `never_direct` and `always_direct`. Servers behind an
// accelerator become "reverse". `listening`: no peer may be where we listen. Pure.
void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Imported& into, Findings& findings);

}  // namespace proxy::command::squid
