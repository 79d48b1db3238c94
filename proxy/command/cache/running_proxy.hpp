// Asks a running proxy about its cache.
#pragma once

#include <functional>
#include <string>

#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/command/page_transfer.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

// Whether ask_proxy() reads more of the answer.
enum class ReadOn : std::uint8_t { yes, no };

// Sends a request for a page under /admin/cache to the control socket of the proxy that uses this
// cache, or if that cannot be connected to, to its first socket for clients. Calls `each` with
// every line of the answer as it arrives, each a JSON object, until `each` returns ReadOn::no.
// Returns trouble if no proxy answers, if the proxy refuses, if the answer ends with the line
// {"error": "why"}, and if the answer is cut or has another form. Blocks; a proxy that sends
// nothing for 60 s counts as cut.
Result<void> ask_proxy(const ConfiguredCache& cache, const PageRequest& request,
                       const std::function<ReadOn(const inspect::Report&)>& each);

}  // namespace proxy::command
