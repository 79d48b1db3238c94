// Fetches the digest of a running proxy over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/command/digest/any_digest.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

// Whether `name` is a URL rather than the name of a file.
bool is_url(std::string_view name);

struct FetchedDigest {
  std::string url;  // the URL of the digest itself
  AnyDigest digest;
};

// Fetches the digest of the proxy at `url`, if the URL has no path: asks for Hearsay's form first,
// then for Squid's. A URL with a path is that of the digest itself. Blocks for at most `limit` per
// request, of which there may be two. Follows no redirect and uses no proxy; an answer larger than
// any digest on the wire is trouble.
Result<FetchedDigest> fetch_digest(const std::string& url, std::chrono::milliseconds limit);

// Fetches the digest if `name` is a URL, else opens the file.
Result<AnyDigest> open_or_fetch(const std::string& name, std::chrono::milliseconds limit);

}  // namespace proxy::command
