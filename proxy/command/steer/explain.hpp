// hearsay explain: what the proxy would do with a URL now, and why.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

struct ExplainOptions {
  std::string url = {};
  std::string method = {};  // empty: GET, or CONNECT for an https URL
  std::string client = {};  // an address; empty: the one from which the proxy is asked
  std::string user = {};    // who signs in; empty: nobody
};

// Prints explain_text(), or the page /admin/explain as it is. Returns 0, or kRefusal if the proxy
// would refuse the request.
SteerResult explain(const Steer& steer, const ExplainOptions& options);

// The page in words. Nothing: it is no such page.
std::optional<std::string> explain_text(const std::string& page);

}  // namespace proxy::command
