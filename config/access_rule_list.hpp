// The reader of the setting "access.rules": a list of rules by which clients are let in.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

// "80" or "1025-65535"; nothing: neither.
std::optional<PortRange> parse_ports(std::string_view text);

// `in`: the section "access".
void read_access_rules(Section& in, std::vector<AccessRule>& rules);

}  // namespace config
