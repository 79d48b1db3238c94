// hearsay cache list: prints the stored responses of a stopped or running proxy.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct ListOptions {
  ConfiguredCache cache = {};
  // Only URLs that begin with this, of forward and reverse mode.
  std::optional<std::string> prefix = {};
  bool json = false;  // one JSON object per line, for programs
};

// Prints one line per response, in the order in which they were stored, as they are read. Takes
// some 50 bytes of memory per entry. Hits are known only while the proxy runs.
Result<int> list(const ListOptions& options, const Streams& streams);

}  // namespace proxy::command
