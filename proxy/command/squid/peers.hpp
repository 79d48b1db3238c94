// Neighbours, from the cache_peer lines and those that choose among them.
#pragma once

#include <vector>

#include "config/endpoint.hpp"
#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/settings.hpp"

namespace proxy::command::squid {

// Reads `cache_peer`, `cache_peer_access`, `never_direct` and `always_direct`. `own`: where we
// listen, which no peer may be. Pure.
void read_peers(const std::vector<Line>& lines, const Acls& acls,
                const std::vector<config::HostPort>& own, Imported& into, Findings& findings);

}  // namespace proxy::command::squid
