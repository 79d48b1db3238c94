// The setting "access": the rights of each client address, and the addresses that no request may
// reach.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/section.hpp"
#include "config/settings.hpp"

namespace config {

using NetworkWords = std::vector<std::string_view>;
// Reads a list of named sets, addresses and ranges. Returns the items that were understood, or
// nothing if the key is absent.
std::optional<NetworkWords> read_networks(Section& in, std::string_view key, Networks& into);

void read_access(Section& in, AccessSettings& access);

}  // namespace config
