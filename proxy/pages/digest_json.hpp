// The JSON of /digest.
#pragma once

#include <string>

#include "proxy/pages/pages_access.hpp"

namespace proxy {

enum class Layout : std::uint8_t { indented, one_line };

// Our digest, the neighbours' claims, and how accurate the claims were. /metrics has the same
// numbers.
std::string digest_json(const PagesAccess& pages, const Policy& policy,
                        Layout layout = Layout::indented);

}  // namespace proxy
