// The setting `reverse`: which hosts we stand in for, and their origins.
#pragma once

#include <span>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// An origin where `listen` says that we listen is refused: we would ask ourselves.
void read_reverse(Section& in, std::span<const HostPort> listen, std::vector<Reverse>& reverse);

}  // namespace config
