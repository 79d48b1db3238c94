// hearsay digest union: makes one filter that claims what any of several filters claims.
#pragma once

#include <string>
#include <vector>

#include "proxy/command/digest/save_filter.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct UniteOptions {
  std::vector<std::string> digests;  // files
  SaveOptions save;
};

// Takes Bloom filters in any form, all of one shape; else returns trouble that says how two shapes
// differ. Saves a plain Bloom filter and prints what it made.
Result<int> unite(const UniteOptions& options, const Streams& streams);

}  // namespace proxy::command
