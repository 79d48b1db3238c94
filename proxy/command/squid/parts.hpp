// The parts of an import that read one kind of directives each.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "config/endpoint.hpp"
#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// The sites for which Squid is the server, as its ports tell.
struct Accelerators {
  bool any = false;       // some port is an accelerator's
  bool forwards = true;   // some port is a proxy's, or lets requests for other sites pass
  std::string site = {};  // the site of every request, whatever its Host; empty: the Host's
};

struct Listening {
  std::vector<config::HostPort> sockets;
  Accelerators accelerators;
};

// "30 seconds", "1 hour", "2 days"; a number without a unit counts seconds. Nothing: no time. Pure.
std::optional<std::chrono::milliseconds> time_of(const Line& line);

// Reads `http_port`. Returns where we will listen, and for whom. Pure.
Listening read_ports(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads names, the cache's sizes, logs, times, sizes of heads and what is told of clients. Pure.
void read_plain(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads `auth_param`. Pure.
Users read_users(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads the lines of `delay_pools`. Pure.
void read_bandwidth(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads `refresh_pattern`, `cache deny` (`no_cache deny`) and `negative_ttl`. Pure.
void read_refresh(const std::vector<Line>& lines, const Acls& acls, Json& into, Findings& findings);

// Reads `cache_peer`, `cache_peer_access`, `never_direct` and `always_direct`. Servers behind an
// accelerator become "reverse"; the sites of such a server that the settings cannot name are left
// out, so no request gets to another server than in Squid. No peer may be where we listen. Pure.
void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Json& into, Findings& findings);

}  // namespace proxy::command::squid
