// Sets of addresses, as acl lines of the types src and dst name them.
#pragma once

#include <optional>
#include <string_view>

#include "config/networks.hpp"

namespace proxy::command::squid {

// "all", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9", "10.0.0.0-10.0.9.0/24", "ipv4",
// "ipv6" or an address. As in Squid, bits beyond the prefix are dropped. Nothing: a name, or no
// address at all.
std::optional<config::Networks> parse_addresses(std::string_view text);

bool is_every_address(const config::Networks& networks);

// Without networks that others of the list contain.
config::Networks simplified(const config::Networks& networks);

}  // namespace proxy::command::squid
