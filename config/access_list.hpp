// The setting "access": the rights of each client address, and the addresses that no request may
// reach.
#pragma once

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_access(Section& in, AccessSettings& access);

}  // namespace config
