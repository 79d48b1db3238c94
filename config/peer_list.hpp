// The setting "peers": the neighbours that are asked before the origin.
#pragma once

#include <span>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// `listen` holds our own sockets. A peer that is ourselves is refused: it would be asked for what
// we have just missed.
void read_peers(Section& in, std::span<const HostPort> listen, std::vector<PeerSettings>& peers);

}  // namespace config
