// How large the log may become, and which entries outlive their segment.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "proxy/cache/disk/catalog/location.hpp"
#include "proxy/cache/disk/format/error.hpp"

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
  // Whether another cache keeps what is stored under the key of this claim, as for the Store. Such
  // an entry or block is not copied, even if it should be kept. Neither locks nor waits.
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
Result<std::uint32_t> segment_bytes_for(const LogLimits& limits);

inline LogSize size_of(const LogLimits& limits) {
  return {limits.bytes, limits.entries, limits.segment_bytes};
}

// The longest record that a segment of this size holds: header, URL, head and body.
std::uint64_t longest_record(std::uint32_t segment_bytes);

}  // namespace proxy::cache::disk
