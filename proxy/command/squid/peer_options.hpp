// What an import makes of the options of a cache_peer line.
#pragma once

#include <string_view>

#include "proxy/command/squid/findings.hpp"

namespace proxy::command::squid {

struct PeerOption {
  std::string_view name;  // ends with "=" if a value follows
  Finding::Kind kind;
  std::string_view why;
};

// Finds an option such as "proxy-only" or "max-conn=8", which no setting of the peer carries over.
// `of_origin`: the peer is the server of a site of ours. Null if the option is not known. Pure.
const PeerOption* peer_option(std::string_view text, bool of_origin);

}  // namespace proxy::command::squid
