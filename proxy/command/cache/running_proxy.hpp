// Asks a running proxy about its cache.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

// A request for one of the pages under /admin/cache.
struct AdminRequest {
  std::string target;                    // path and query
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
};

// Whether ask_proxy() reads more of the answer.
enum class ReadOn : std::uint8_t { yes, no };

// Sends the request to the first socket of the proxy that uses this cache. Calls `each` with every
// line of the answer as it arrives, each a JSON object, until `each` returns ReadOn::no. Returns
// trouble if no proxy answers, if the proxy refuses, if the answer ends with the line {"error":
// "why"}, and if the answer is cut or has another form. Blocks; a proxy that sends nothing for 60 s
// counts as cut.
Result<void> ask_proxy(const ConfiguredCache& cache, const AdminRequest& request,
                       const std::function<ReadOn(const inspect::Report&)>& each);

// Encodes a text as the value of a parameter in a URL.
std::string percent_encoded(std::string_view text);

}  // namespace proxy::command
