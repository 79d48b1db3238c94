// hearsay cache show: all that a cache has of a URL, of a proxy that is stopped or runs.
#pragma once

#include <string>

#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/http/target.hpp"

namespace proxy::command {

struct ShowOptions {
  CachePlace place = {};
  std::string url = {};  // as a client would ask for it
  bool json = false;     // an object on a line for each
};

// The URL as a proxy asks for it; the space of reverse mode may stand before it. Trouble for what
// no client could ask for.
Result<http::Target> target_of(std::string_view url);

// Every record that is stored as this, of forward and reverse mode: what the record says, whether
// its checksums fit, and the response's head. kNone if there is none. Looks at all entries.
Result<int> show(const ShowOptions& options, const Streams& streams);

}  // namespace proxy::command
