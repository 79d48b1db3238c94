// Settings of the cache on disk: how large it may become, and which entries outlive their segment.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>

#include "digest/rule.hpp"
#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/purge_rules.hpp"

namespace proxy::cache::disk {

// The limits that may change while the log is open.
struct LogSize {
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
  std::uint32_t segment_bytes = 0;

  bool operator==(const LogSize&) const = default;
};

struct LogLimits {
  std::uint64_t bytes = 0;  // of all segment files together
  // The most entries in the index. Beyond this number the oldest segments are reclaimed. The
  // records of one write may exceed it.
  std::size_t entries = std::numeric_limits<std::size_t>::max();
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;
  bool sync_purges = false;  // a purge is reported as done only after fdatasync
  // Whether an entry of a reclaimed segment should be appended again. Of one segment at most half
  // the bytes are copied; from a slow disk at most as much as it writes in 0.3 s, but one block in
  // any case. If the index is full, few entries are copied. `keep` is called for each block of an
  // object by itself. A block is not copied if its object is gone. An object's own record is copied
  // in any case while one of its first 1024 blocks is found.
  std::function<bool(const Key&, const Location&)> keep = [](const Key&, const Location& location) {
    return location.used;
  };
  // Whether another cache of the site keeps the response that this claim names. Such an entry or
  // block is not copied, even if `keep` is true for it. Neither locks nor waits.
  std::function<bool(const digest::Claim&)> kept_elsewhere = [](const digest::Claim&) {
    return false;
  };
};

// Each reclaimed segment takes its entries with it. With fewer segments than this, too many entries
// would go at once. A small cache gets smaller segments instead.
inline constexpr std::uint64_t kWantedSegments = 16;
inline constexpr std::uint32_t kLeastSegmentBytes = 4096;

// LogLimits::segment_bytes, or less if `bytes` allows only smaller segments. `too_small`: `bytes`
// does not even allow segments of kLeastSegmentBytes.
inline Result<std::uint32_t> segment_bytes_for(const LogLimits& limits) {
  const std::uint64_t share = limits.bytes / kWantedSegments / 4096 * 4096;
  const auto bytes = std::min<std::uint64_t>({limits.segment_bytes, share, kMaxSegmentBytes});
  if (bytes < kLeastSegmentBytes) return Error::too_small;
  return static_cast<std::uint32_t>(bytes);
}

inline LogSize size_of(const LogLimits& limits) {
  return {limits.bytes, limits.entries, limits.segment_bytes};
}

// The longest record that a segment of this size holds: header, URL, head and body.
constexpr std::uint64_t longest_record(std::uint32_t segment_bytes) {
  return segment_bytes - kSegmentHeaderBytes - kRecordHeaderBytes - kAlignment - footer_bytes(2);
}

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
