// The reader of the setting "access.rules": a list of rules by which clients are let in.
#pragma once

#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// `in`: the section "access".
void read_access_rules(Section& in, std::vector<AccessRule>& rules);

}  // namespace config
