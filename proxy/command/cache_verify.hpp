// hearsay cache verify: whether all of a stopped cache is as it was written.
#pragma once

#include "proxy/command/cache_place.hpp"

namespace proxy::command {

struct VerifyOptions {
  CachePlace place = {};
  bool json = false;  // an object on a line for each place, then one for all
};

// Reads every record of every segment and names each damaged place, then how much was read. kDone
// if all are good, kDamaged else. Changes nothing.
Result<int> verify(const VerifyOptions& options, const Streams& streams);

}  // namespace proxy::command
