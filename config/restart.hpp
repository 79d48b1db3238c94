// Which settings a running proxy takes over, and which only its next start does. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace config {

// The names of the settings that differ and that only a restart changes, such as "cache.disk".
// `running`: with which the proxy was started.
std::vector<std::string_view> needing_restart(const Settings& running, const Settings& told);
// Gives these settings in `told` the values that are in force.
void keep_until_restart(const Settings& running, Settings& told);

}  // namespace config
