// The text of /metrics.
#pragma once

#include <string>

#include "proxy/worker/worker.hpp"

namespace proxy {

// The counters, the gauges, and the metrics of the disk and of the neighbours, in Prometheus' text
// format 0.0.4.
std::string metrics_text(const Process& process, const Policy& policy);

}  // namespace proxy
