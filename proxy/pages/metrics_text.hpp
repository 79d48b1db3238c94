// The text of /metrics.
#pragma once

#include <string>

#include "proxy/pages/pages_access.hpp"

namespace proxy {

// The counters, the gauges, and the metrics of the disk and of the neighbours, in Prometheus' text
// format 0.0.4.
std::string metrics_text(const PagesAccess& pages, const Policy& policy);

}  // namespace proxy
