// The JSON of /digest.
#pragma once

#include <string>

#include "proxy/worker/worker.hpp"

namespace proxy {

// Our digest, the neighbours' claims, and how accurate the claims were. /metrics has the same
// numbers.
std::string digest_json(const Process& process, const Policy& policy);

}  // namespace proxy
