// The setting "reverse": the hosts that we serve as a gateway, and their origins.
#pragma once

#include <span>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// An origin at one of our own sockets, `listen`, is refused: we would ask ourselves.
void read_reverse(Section& in, std::span<const HostPort> listen, std::vector<Reverse>& reverse);

}  // namespace config
