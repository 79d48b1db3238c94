// hearsay cache verify: checks the stored records for damage.
#pragma once

#include "proxy/command/cache/configured_cache.hpp"

namespace proxy::command {

struct VerifyOptions {
  ConfiguredCache cache = {};
  bool json = false;  // one JSON object per damaged place, then one for the summary
};

// Reads every record of every segment; prints each damaged place, then a summary. Returns kDone if
// all records are good, else kDamaged. Changes nothing in a stopped cache. A running proxy reads
// the records that it could serve, and drops the damaged ones.
Result<int> verify(const VerifyOptions& options, const Streams& streams);

}  // namespace proxy::command
