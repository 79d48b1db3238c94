// Sets of client addresses, as acl lines of the type src name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/networks.hpp"

namespace proxy::command::squid {

// "all", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9", "10.0.0.0-10.0.9.0/24", "ipv4",
// "ipv6" or an address. As in Squid, bits beyond the prefix are dropped. Nothing: a name, or no
// address at all.
std::optional<config::Networks> parse_addresses(std::string_view text);

// The addresses that are in both. Neither result has two networks of which one contains the other.
config::Networks intersection(const config::Networks& a, const config::Networks& b);

// The addresses that are not in `networks`. Nothing if that takes more than 256 networks.
std::optional<config::Networks> complement(const config::Networks& networks);

bool is_every_address(const config::Networks& networks);

// Without networks that others of the list contain.
config::Networks simplified(const config::Networks& networks);

}  // namespace proxy::command::squid
