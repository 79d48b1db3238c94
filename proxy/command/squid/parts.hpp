// The parts of an import, each of which reads one kind of directives, and the JSON with comments to
// which they write settings. All are pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/endpoint.hpp"
#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {

using Json = nlohmann::ordered_json;

// Adds a comment, which stands in lines of its own above the member `key` of the object; without a
// key, above the object itself. A comment is kept as a member whose name begins with "//".
void add_comment(Json& object, const std::string& text, const std::string& key = "");

// The JSON in one line, without comments. Here and in written(), bytes that are not ASCII become
// "?".
std::string in_one_line(const Json& json);
// The JSON as text, with a line feed at its end.
std::string written(const Json& json);

// The member at a path such as "timeouts.head", which is added if it is missing. The reference is
// valid until a member is added.
Json& member_at(Json& settings, std::string_view path);

// The fault that the settings' own reader finds in this value of the member at `path`; empty: none.
std::string fault_of(const std::string& path, const Json& value);

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

// Reads names, the cache's sizes, logs, times, sizes of heads, and what servers learn of clients.
void read_plain(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads `auth_param`.
Users read_users(const std::vector<Line>& lines, Json& into, Findings& findings);

// Reads the lines of `delay_pools`.
void read_bandwidth(const std::vector<Line>& lines, Json& into, Findings& findings);

// Writes the members of "access" that say who may do what. With Denial::more they refuse every
// request that Squid would refuse: a line without an equal is left out if it allows, and denies all
// requests if it denies. Findings name every line that is left out or changed. Always writes
// `clients`, `monitor` and `admin`, since their defaults may allow clients that Squid would refuse.
void read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial, Json& into,
                 Findings& findings);

// Reads `refresh_pattern`, `cache deny` (`no_cache deny`) and `negative_ttl`.
void read_refresh(const std::vector<Line>& lines, const Acls& acls, Json& into, Findings& findings);

using Hosts = std::vector<std::string>;

// A cache_peer line, as far as settings can say it.
struct CachePeer {
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
void write_reverse(std::vector<CachePeer> origins, const Accelerators& accelerators, Json& into,
                   Findings& findings);

// Appends what `more` has new, up to 256 hosts. Returns whether there is room for all.
bool append_new(Hosts& into, const Hosts& more);

}  // namespace proxy::command::squid
