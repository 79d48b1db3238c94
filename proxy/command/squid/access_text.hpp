// The setting `access`, as it is written.
#pragma once

#include "proxy/command/squid/access.hpp"
#include "proxy/command/squid/json.hpp"

namespace proxy::command::squid {

// Appends the members of `access`. Always writes `clients`, `monitor` and `admin`, since their
// defaults may allow clients that Squid would refuse.
void write_access(const Access& access, Json& into);

// "loopback", "10.0.0.0/8"; "any" is every address.
std::vector<std::string> client_texts(const config::Networks& networks);

// "mon-fri 08:00-18:00". The last minute of a time that allows may be left out, so that it ends at
// a full hour, as it is meant.
std::string hours_text(const Hours& hours, bool allows);

}  // namespace proxy::command::squid
