// The cache that the settings configure, and the proxy that may be using it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/endpoint.hpp"
#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/http/target.hpp"
#include "proxy/machine/privileges.hpp"

namespace proxy::command {

// Returns the name under which a URL's responses are stored.
using Naming = std::function<std::string(const http::Target&)>;

struct ConfiguredCache {
  std::string path = {};    // of its directory; empty: the cache is in memory alone, or unknown
  std::uint64_t bytes = 0;  // the limit of its files
  // Says which stored names a purge by prefix covers, of forward and reverse mode alike.
  cache::disk::PurgeRules::Reading reading = {};
  Naming naming = {};       // by the setting `rules`; none: the URL itself
  std::string socket = {};  // the proxy's control socket; empty: it is not known to have one
  // The proxy's first socket; port 0: the port is unknown. Without a host the control socket alone
  // is known.
  config::HostPort listen = {};
  // The user that a proxy started by root becomes, whose files these are. Nothing: we are not root,
  // or the proxy stays root.
  std::optional<machine::Account> account = {};
};

// The name under which the responses of `url` are stored in this cache.
std::string stored_name(const ConfiguredCache& cache, const http::Target& url);

// Describes the error, and what to do about it.
Trouble trouble_with(const ConfiguredCache& cache, cache::disk::Error error);

// Opens the cache on disk for reading. Returns null if a proxy is using it. Warns on `err` if some
// segments cannot be read.
Result<std::unique_ptr<cache::disk::Contents>> open_stopped(const ConfiguredCache& cache,
                                                            const Streams& streams);

}  // namespace proxy::command
