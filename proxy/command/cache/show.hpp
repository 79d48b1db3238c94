// hearsay cache show: prints all records of a URL, of a stopped or running proxy.
#pragma once

#include <string>

#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/http/target.hpp"

namespace proxy::command {

struct ShowOptions {
  ConfiguredCache cache = {};
  std::string url = {};  // as a client would request it
  bool json = false;     // one JSON object per line
};

// Parses a URL as the proxy would request it; the prefix of reverse mode's names is skipped.
// Returns trouble for a text that no client could request.
Result<http::Target> target_of(std::string_view url);

// Prints every record stored under the URL's name, of forward and reverse mode: its fields, whether
// its checksums fit, and the response's head. Returns kNone if there is none. Reads all entries of
// a stopped cache.
Result<int> show(const ShowOptions& options, const Streams& streams);

}  // namespace proxy::command
