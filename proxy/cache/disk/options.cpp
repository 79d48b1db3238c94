#include "proxy/cache/disk/options.hpp"

#include <algorithm>

#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

Result<std::uint32_t> segment_bytes_for(const LogLimits& limits) {
  const std::uint64_t share = limits.bytes / kWantedSegments / 4096 * 4096;
  const auto bytes = std::min<std::uint64_t>({limits.segment_bytes, share, kMaxSegmentBytes});
  if (bytes < kLeastSegmentBytes) return Error::too_small;
  return static_cast<std::uint32_t>(bytes);
}

std::uint64_t longest_record(std::uint32_t segment_bytes) {
  return segment_bytes - kSegmentHeaderBytes - kRecordHeaderBytes - kAlignment - footer_bytes(2);
}

}  // namespace proxy::cache::disk
