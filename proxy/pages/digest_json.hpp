// The JSON of /digest.
#pragma once

#include <string>

#include "proxy/worker/worker.hpp"

namespace proxy {

// What is held, and what the neighbours claim and how true it proved: the numbers of /metrics.
std::string digest_json(const Process& process, const Policy& policy);

}  // namespace proxy
