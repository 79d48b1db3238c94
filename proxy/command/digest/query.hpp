// hearsay digest query: tells which URLs a digest claims.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/command/digest/url_key.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

inline constexpr std::chrono::milliseconds kFetchLimit{30'000};

struct QueryOptions {
  enum class Print : std::uint8_t {
    members,  // the URLs that are claimed, as given
    all,      // every URL, after "yes" or "no" and a tab
    json,     // a line {"url": ..., "member": ...} for every URL
  };

  std::string digest;             // a file, or the URL of a proxy or its digest
  std::vector<std::string> urls;  // "-", or none: a URL per line of standard input
  Spelling spelling = Spelling::url;
  Print print = Print::members;
  std::chrono::milliseconds limit = kFetchLimit;
};

// Returns kDone if the digest claims any of the URLs, else kNone. Skips empty lines.
Result<int> query(const QueryOptions& options, const Streams& streams);

}  // namespace proxy::command
