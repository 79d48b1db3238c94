// Large objects: responses whose body is stored in blocks, each an entry of its own. Pure.
//
// The entry of an object has status 200, no range, the complete length as `body.size`, and no
// slices. To know whether block n is stored, look up disk::block_key(key of the URL, version, n) in
// memory and on disk: no other record of the blocks exists. Replacing or purging an object abandons
// its version. Its blocks can then no longer be found, and are evicted in the usual course.
//
// If the length of an object is not known yet, because its body arrived without one and was cut or
// is still arriving, its entry is a part: it has status 206, the range of the blocks stored so far,
// from the first on and without a complete length, and their bytes as `body.size`. The response
// that supplies the rest also supplies the length. The blocks then belong to the complete object,
// which has the same version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "proxy/cache/disk/format.hpp"
#include "proxy/http/range.hpp"

namespace proxy::cache {

// Present in an entry that is a large object.
struct Object {
  std::uint64_t version = 0;  // version of its blocks (Disk::new_version()); never used twice

  bool operator==(const Object&) const = default;
};

using disk::kBlockBytes;

// Longer bodies are stored in blocks if there is a disk. With little memory, shorter ones are too.
inline constexpr std::uint64_t kLargeFrom = std::uint64_t{4} << 20;
// A smaller part is not claimed: to ask for it would hardly spare anything.
inline constexpr std::uint64_t kLeastClaimed = kBlockBytes;
// The blocks of a larger object could not be numbered.
inline constexpr std::uint64_t kLargestObject = std::uint64_t{UINT32_MAX} * kBlockBytes;

// Consecutive blocks, by number.
struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  bool operator==(const BlockRange&) const = default;
};

// The blocks that contain these bytes of an object. The range lies below kLargestObject.
constexpr BlockRange blocks_of(const http::ByteRange& range) {
  return {static_cast<std::uint32_t>(range.first / kBlockBytes),
          static_cast<std::uint32_t>(range.last / kBlockBytes)};
}

// The number of blocks for `length` bytes. The last one may be shorter.
constexpr std::uint32_t blocks_in(std::uint64_t length) {
  return static_cast<std::uint32_t>((length + kBlockBytes - 1) / kBlockBytes);
}

// The number of bytes from `first` to the next beginning of a block.
constexpr std::uint64_t bytes_before_block(std::uint64_t first) {
  return (kBlockBytes - first % kBlockBytes) % kBlockBytes;
}

// The blocks that a part of an object contains completely. Returns nothing if there are none, or if
// the complete length is unknown or too large.
constexpr std::optional<BlockRange> whole_blocks(const http::ContentRange& part) {
  if (!part.complete || *part.complete > kLargestObject) return {};
  const auto length = part.range.last + 1;
  const auto first = (part.range.first + bytes_before_block(part.range.first)) / kBlockBytes;
  const auto end = length == part.complete ? blocks_in(length) : length / kBlockBytes;
  if (first >= end) return {};
  return BlockRange{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - 1)};
}

// Whether all bytes of the part are in blocks that it contains completely.
constexpr bool has_only_whole_blocks(const http::ContentRange& part) {
  const auto end = part.range.last + 1;
  return part.range.first % kBlockBytes == 0 && (end % kBlockBytes == 0 || end == part.complete);
}

// The bytes of block `number` in an object of this length. The block must exist.
constexpr http::ByteRange bytes_of_block(std::uint32_t number, std::uint64_t length) {
  const std::uint64_t first = std::uint64_t{number} * kBlockBytes;
  return {first, std::min<std::uint64_t>(first + kBlockBytes, length) - 1};
}

}  // namespace proxy::cache
