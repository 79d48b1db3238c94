// hearsay digest query: which URLs a digest claims.
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
  enum class Form : std::uint8_t {
    members,  // the URLs claimed, as they were given
    all,      // each URL after "yes" or "no" and a tab
    json,     // a line {"url": ..., "member": ...} for each
  };

  std::string digest;             // a file, or a proxy's URL
  std::vector<std::string> urls;  // "-": a URL per line of standard input, as if there are none
  Spelling spelling = Spelling::url;
  Form form = Form::members;
  std::chrono::milliseconds limit = kFetchLimit;
};

// kDone if any URL is claimed, kNone if none is. Empty lines are passed over.
Result<int> query(const QueryOptions& options, const Streams& streams);

}  // namespace proxy::command
