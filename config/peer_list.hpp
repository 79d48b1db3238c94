// The settings "peers" and "never_direct": the proxies that are asked before the origin, or
// instead.
#pragma once

#include <span>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_peers(Section& in, std::vector<PeerSettings>& peers);

// Reads "never_direct", which needs a parent among the peers.
void read_never_direct(Section& in, std::span<const PeerSettings> peers,
                       std::vector<HostSpec>& never_direct);

}  // namespace config
