// The setting "rules": what applies to some sites only.
#pragma once

#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_rules(Section& in, std::vector<RuleSettings>& rules);

}  // namespace config
