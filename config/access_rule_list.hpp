// The setting "access.rules": who may ask for what, and when.
#pragma once

#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// `in`: the section "access".
void read_access_rules(Section& in, std::vector<AccessRule>& rules);

}  // namespace config
