// hearsay cache drop: purges stored responses.
#pragma once

#include <string>

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct DropOptions {
  ConfiguredCache cache = {};
  // One of these. Each covers forward and reverse mode.
  std::string url = {};     // as a client would request it: all its variants
  std::string prefix = {};  // all URLs that begin with this
  bool all = false;
};

// Appends purge records to the log, so that the responses stay dropped after a restart, and waits
// until the records would survive a loss of power. A running proxy does this on our request. The
// space is reclaimed when the proxy needs it. Prints the number of dropped responses; returns kNone
// if that is 0.
Result<int> drop(const DropOptions& options, const Streams& streams);

}  // namespace proxy::command
