// The cache that `hearsay cache` is about, and the proxy that may be using it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/endpoint.hpp"
#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/http/target.hpp"

namespace proxy::command {

// What a URL is stored as.
using Naming = std::function<std::string(const http::Target&)>;

struct CachePlace {
  std::string path;         // empty: the cache is in memory alone
  std::uint64_t bytes = 0;  // all that it may take
  // Which URLs a purge of many covers, of forward and reverse mode alike.
  cache::disk::PurgeRules::Reading reading = {};
  Naming naming = {};            // by its settings; none: as the URL
  config::Endpoint listen = {};  // where that proxy listens; port 0: nobody knows
};

std::string stored_as(const CachePlace& place, const http::Target& url);

// What went wrong with it, and what to do.
Trouble cache_trouble(const CachePlace& place, cache::disk::Error error);

// Opened to look at; null where a proxy is using it. What cannot be learned of it is said on `err`.
Result<std::unique_ptr<cache::disk::Contents>> look_into(const CachePlace& place,
                                                         const Streams& streams);

}  // namespace proxy::command
