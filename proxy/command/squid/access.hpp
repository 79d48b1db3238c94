// Who may do what, from the http_access lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// What becomes of a line that denies, and that has no equal.
enum class Denial : std::uint8_t {
  more,  // the settings deny more than the line
  less,  // the line is left out, as far as it has no equal: they allow more than Squid
};

struct Rule {
  bool allows = false;
  Conditions when;
  std::string comment;       // the line that it comes from
  bool provisional = false;  // it denies more than its line, part of which has no equal
};

// What the lines come to. With Denial::more they refuse every request that Squid would refuse: a
// line without an equal is left out if it allows, and denies all requests if it denies.
struct Access {
  std::vector<Rule> rules;         // the first that a request meets decides
  config::Networks clients;        // may use the proxy if no rule decides
  config::Networks monitor;        // may read the proxy's own pages; empty: no line says
  config::Networks admin;          // may purge; empty: no line says
  config::Networks deny_to;        // no request may reach these, besides those of the default
  std::vector<std::string> block;  // files of hosts that no client may reach
  std::vector<Ports> connect_ports{{1, 65'535}};  // for all clients; rules may deny some of them
};

// Findings name every line that is left out or changed. Pure.
Access read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial,
                   Findings& findings);

// Appends the members of `access`. Always writes `clients`, `monitor` and `admin`, since their
// defaults may allow clients that Squid would refuse.
void write_access(const Access& access, Json& into);

}  // namespace proxy::command::squid
