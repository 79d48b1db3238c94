// The settings "peers", "never_direct" and "pac_fallback": the proxies that this one asks before
// the origin or in its place, and the proxies that clients ask in place of this one.
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

// Reads "pac_fallback": Settings::pac_fallback from the URLs of proxies and the two words.
void read_pac_fallback(Section& in, std::vector<std::string>& fallback);

}  // namespace config
