// Settings of the cache on disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "proxy/cache/disk/catalog/purge_rules.hpp"
#include "proxy/cache/disk/log/limits.hpp"

namespace proxy::cache::disk {

struct Options {
  std::filesystem::path path;
  LogLimits log;
  // Memory for blocks that wait to be written. Other records may use more memory, and on a slow
  // disk less may wait: see WriteQueue.
  std::uint64_t queue_bytes = std::uint64_t{32} << 20;
  // How long a record waits for others to be written with it: to switch threads costs more than to
  // write a record. Purges do not wait. A queue of one MiB does not wait either.
  std::chrono::milliseconds gather{5};
  // The time from a failure to the next attempt. It doubles with each failure, up to the longest.
  std::chrono::milliseconds first_rest{1'000};
  std::chrono::milliseconds longest_rest{30'000};
  std::chrono::milliseconds longest_start{2'000};  // how long Disk::start() waits
  // Which URLs a purge by prefix covers.
  PurgeRules::Reading purge_reading = PurgeRules::as_prefix;
};

}  // namespace proxy::cache::disk
