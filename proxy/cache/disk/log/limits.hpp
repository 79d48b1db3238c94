// How large the log may become, and which entries outlive their segment.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "proxy/cache/disk/catalog/location.hpp"
#include "proxy/cache/disk/format/error.hpp"

namespace proxy::cache::disk {

struct LogLimits {
  std::uint64_t bytes = 0;  // of all segment files together
  // Of the index. Beyond this number the oldest segments are reclaimed. The records of one write
  // may exceed it.
  std::size_t entries = std::numeric_limits<std::size_t>::max();
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;
  bool sync_purges = false;  // a purge is done only after fdatasync
  // Whether an entry of a segment that is reclaimed is appended again. Of one segment at most half
  // of its bytes are copied; on a slow disk, what the disk writes in 0.3 s, or one block; and few
  // entries where the index is full. Each block of an object is asked for by itself; a block whose
  // object is gone is not copied. An object's own record is copied, whatever room is left, while
  // one of its first 1024 blocks is found.
  std::function<bool(const Key&, const Location&)> keep = [](const Key&, const Location& location) {
    return location.used;
  };
};

// Each reclaimed segment takes its entries with it: with fewer segments than this, too many at
// once. Segments are made smaller instead.
inline constexpr std::uint64_t kWantedSegments = 16;
inline constexpr std::uint32_t kLeastSegmentBytes = 4096;

// LogLimits::segment_bytes, or less where `bytes` allows only smaller ones; `too_small` where even
// kLeastSegmentBytes are too many.
Result<std::uint32_t> segment_bytes_for(const LogLimits& limits);

// The longest record that a segment of this size holds: header, URL, head and body.
std::uint64_t longest_record(std::uint32_t segment_bytes);

}  // namespace proxy::cache::disk
