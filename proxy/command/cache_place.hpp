// The cache on disk that `hearsay cache` is about, which no proxy may be using.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

struct CachePlace {
  std::string path;
  std::uint64_t bytes = 0;  // all that it may take
  // Which URLs a purge of many covers, of forward and reverse mode alike.
  cache::disk::PurgeRules::Reading reading = {};
};

// What went wrong with it, and what to do.
Trouble cache_trouble(const CachePlace& place, cache::disk::Error error);

// Opened to look at. What cannot be learned of it is said on `err`.
Result<std::unique_ptr<cache::disk::Contents>> look_into(const CachePlace& place,
                                                         const Streams& streams);

// The name of a segment's file.
std::string file_of(std::uint32_t segment);

}  // namespace proxy::command
