// hearsay digest info: what a digest is and how good.
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

// The same names for every form; what a form does not tell is null in JSON and left out of the
// text.
Result<int> info(const InfoOptions& options, const Streams& streams);

}  // namespace proxy::command
