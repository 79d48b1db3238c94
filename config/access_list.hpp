// The setting "access": who may do what, and where nobody may go.
#pragma once

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_access(Section& in, AccessSettings& access);

}  // namespace config
