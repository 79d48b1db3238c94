// The digest of a proxy that runs, over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/command/digest/any_digest.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

// Whether it is a URL, not the name of a file.
bool is_url(std::string_view name);

struct Fetched {
  std::string url;  // from which it came in the end
  AnyDigest digest;
};

// Of a URL without a path, the digest of the proxy there: Hearsay's form is asked for first, then
// Squid's. A URL with a path is the digest's own. Blocks, for at most `limit` per URL; follows no
// redirect, goes through no proxy, and takes no more than the largest digest there is on the wire.
Result<Fetched> fetch_digest(const std::string& url, std::chrono::milliseconds limit);

// From a URL or a file.
Result<AnyDigest> open_or_fetch(const std::string& name, std::chrono::milliseconds limit);

}  // namespace proxy::command
