// The setting "access": who may do what, and which addresses no request may reach.
#pragma once

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_access(Section& in, AccessSettings& access);

}  // namespace config
