// hearsay cache list: what a cache holds, of a proxy that is stopped or runs.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct ListOptions {
  CachePlace place = {};
  std::optional<std::string> prefix = {};  // only URLs that begin so, of forward and reverse mode
  bool json = false;                       // an object on a line for each, for programs
};

// A line for each entry, in the order in which they were stored, as they are read: what is held in
// memory is some 50 bytes for each. How often one was found is known only while the proxy runs.
Result<int> list(const ListOptions& options, const Streams& streams);

}  // namespace proxy::command
