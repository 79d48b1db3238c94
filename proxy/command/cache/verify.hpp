// hearsay cache verify: whether all of a cache is as it was written.
#pragma once

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct VerifyOptions {
  CachePlace place = {};
  bool json = false;  // an object on a line for each place, then one for all
};

// Reads every record of every segment and names each damaged place, then how much was read. kDone
// if all are good, kDamaged else. Changes nothing; a proxy that runs reads what it could serve, and
// drops what is damaged.
Result<int> verify(const VerifyOptions& options, const Streams& streams);

}  // namespace proxy::command
