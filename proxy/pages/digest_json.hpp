// The JSON of /digest.
#pragma once

#include <string>

#include "proxy/worker/worker.hpp"

namespace proxy {

// Our digest, the neighbours' claims, and how accurate the claims were. /metrics has the same
// numbers.
enum class Layout : std::uint8_t { indented, one_line };
std::string digest_json(const Process& process, const Policy& policy,
                        Layout layout = Layout::indented);

}  // namespace proxy
