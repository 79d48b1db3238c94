// hearsay digest union: one filter that claims what any of several claims.
#pragma once

#include <string>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {

struct UniteOptions {
  std::vector<std::string> digests;  // files
  std::string out;
  bool force = false;
  bool json = false;
};

// Of Bloom filters in any form, all of one shape; else an error that says in what they differ. The
// result is saved as a plain Bloom filter. Says on `out` what it made.
Result<int> unite(const UniteOptions& options, const Streams& streams);

}  // namespace proxy::command
