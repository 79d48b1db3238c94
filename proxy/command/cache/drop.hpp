// hearsay cache drop: what a cache must not hold any more.
#pragma once

#include <string>

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct DropOptions {
  CachePlace place = {};
  // One of these; each is for forward and reverse mode alike.
  std::string url = {};     // as a client would ask for it: all its variants
  std::string prefix = {};  // what begins so
  bool all = false;
};

// Writes to the log that they count no more, so that no start finds them, and waits until that
// would survive a loss of power. The space is reclaimed when the proxy needs it. Says how many
// responses there were: kNone if none was.
Result<int> drop(const DropOptions& options, const Streams& streams);

}  // namespace proxy::command
