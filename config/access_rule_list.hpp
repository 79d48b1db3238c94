// The reader of the setting "access.rules": a list of rules by which clients are let in.
#pragma once

#include <optional>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// Reads 80, "80" or "1025-65535". Nothing: the item is a fault.
std::optional<PortRange> read_port_range(Section& in, const LocatedValue& item);

// `in`: the section "access".
void read_access_rules(Section& in, std::vector<AccessRule>& rules);

}  // namespace config
