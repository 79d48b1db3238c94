// The setting `rules`: what holds for some sites alone.
#pragma once

#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

void read_rules(Section& in, std::vector<RuleSettings>& rules);

}  // namespace config
