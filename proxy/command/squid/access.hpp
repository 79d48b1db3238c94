// Who may do what, from the http_access lines.
#pragma once

#include <cstdint>
#include <vector>

#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// What becomes of a line that denies, and that has no equal.
enum class Denial : std::uint8_t {
  more,  // the settings deny more than the line
  less,  // the line is left out, as far as it has no equal: they allow more than Squid
};

// Writes the members of "access" that say who may do what. With Denial::more they refuse every
// request that Squid would refuse: a line without an equal is left out if it allows, and denies all
// requests if it denies. Findings name every line that is left out or changed. Always writes
// `clients`, `monitor` and `admin`, since their defaults may allow clients that Squid would refuse.
// Pure.
void read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial, Json& into,
                 Findings& findings);

}  // namespace proxy::command::squid
