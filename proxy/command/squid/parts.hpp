// The parts of an import that read one kind of directives each. All are pure.
#pragma once

#include <chrono>
#include <cstdint>
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

// "30 seconds", "1 hour", "2 days"; a number without a unit counts seconds. Nothing: no time.
std::optional<std::chrono::milliseconds> time_of(const Line& line);

// Reads `http_port`. Returns where we will listen, and for whom.
Listening read_ports(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads names, the cache's sizes, logs, times, sizes of heads and what is told of clients.
void read_plain(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads `auth_param`.
Users read_users(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads the lines of `delay_pools`.
void read_bandwidth(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads `refresh_pattern`, `cache deny` (`no_cache deny`) and `negative_ttl`.
void read_refresh(const std::vector<Line>& lines, const Acls& acls, Json& into, Findings& findings);

using Hosts = std::vector<std::string>;

// A cache_peer line, as far as settings can say it.
struct Peer {
  Line line;
  std::string name;
  config::HostPort at;
  bool parent = false;
  bool origin = false;  // the server of a site of ours (originserver)
  bool tls = false;
  bool no_digest = false;
  std::uint64_t weight = 1;
  std::string login;
  std::string send_host;  // of an origin; empty: the client's
  Hosts for_hosts;        // empty: all
  Hosts not_for;

  [[nodiscard]] std::string url() const { return (tls ? "https://" : "http://") + to_text(at); }
};

// Reads `cache_peer`, `cache_peer_access`, `never_direct` and `always_direct`. Servers behind an
// accelerator become "reverse"; the sites of such a server that the settings cannot name are left
// out, so no request gets to another server than in Squid. No peer may be where we listen.
void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Json& into, Findings& findings);

// Writes "reverse" and "forward". An origin whose sites the settings cannot name is left out.
void write_reverse(std::vector<Peer> origins, const Accelerators& accelerators, Json& into,
                   Findings& findings);

// Appends what `more` has new, up to 256 hosts. Returns whether there is room for all.
bool append_new(Hosts& into, const Hosts& more);

}  // namespace proxy::command::squid
