// The setting "peers": who is asked before the origin.
#pragma once

#include <span>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// `listen` is where we are: a peer that is ourselves would be asked for what we just missed.
void read_peers(Section& in, std::span<const HostPort> listen, std::vector<PeerSettings>& peers);

}  // namespace config
