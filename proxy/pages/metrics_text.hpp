// The text of /metrics.
#pragma once

#include <string>

#include "proxy/worker/worker.hpp"

namespace proxy {

// In Prometheus' text format 0.0.4: the counters, the gauges, the disk's and the neighbours'.
std::string metrics_text(const Process& process, const Policy& policy);

}  // namespace proxy
