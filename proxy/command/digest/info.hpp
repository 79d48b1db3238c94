// hearsay digest info: prints the kind of a digest, its fill and its error rate.
#pragma once

#include <chrono>
#include <string>

#include "proxy/command/digest/query.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct InfoOptions {
  std::string digest;  // a file, a proxy's URL, or the URL of a digest
  std::chrono::milliseconds limit = kFetchLimit;
  bool json = false;
};

// Prints the same names for every form. A fact that a form does not hold is null in JSON and left
// out of the text.
Result<int> info(const InfoOptions& options, const Streams& streams);

}  // namespace proxy::command
