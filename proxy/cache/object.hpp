// Large objects: responses whose body is kept in blocks, each an entry of its own. Pure.
//
// The object's entry has status 200, no range, the complete length as `body.size`, and no slices.
// Whether block n is held is a look-up of disk::block_key(URL's key, version, n) in memory and on
// disk: nothing else keeps count. What is replaced or purged gives up its version, and so its
// blocks, which nobody finds any more, go as others come.
//
// Of one whose length is not known yet, as its body came without and was cut, or is still coming,
// the entry is a part: it has status 206, the range of the blocks that were kept, from the first on
// and with no complete length, and their bytes as `body.size`. What brings the rest tells the
// length, and the blocks are those of the object that it makes, by their version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "proxy/cache/disk/format.hpp"
#include "proxy/http/range.hpp"

namespace proxy::cache {

// What makes an entry that of a large object.
struct Object {
  std::uint64_t version = 0;  // its blocks' (Disk::new_version()), never the same twice

  bool operator==(const Object&) const = default;
};

using disk::kBlockBytes;

// What is longer is kept in blocks, where there is a disk; and less, where memory is small.
inline constexpr std::uint64_t kLargeFrom = std::uint64_t{4} << 20;
// More blocks cannot be numbered.
inline constexpr std::uint64_t kLargestObject = std::uint64_t{UINT32_MAX} * kBlockBytes;

// Consecutive blocks, by their numbers.
struct BlockRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  bool operator==(const BlockRun&) const = default;
};

// Those that hold these bytes of an object; they lie below kLargestObject.
constexpr BlockRun blocks_of(const http::ByteRange& range) {
  return {static_cast<std::uint32_t>(range.first / kBlockBytes),
          static_cast<std::uint32_t>(range.last / kBlockBytes)};
}

// How many blocks that many bytes make, the last one perhaps a shorter one.
constexpr std::uint32_t blocks_in(std::uint64_t length) {
  return static_cast<std::uint32_t>((length + kBlockBytes - 1) / kBlockBytes);
}

// How many bytes of an object come before the first block that begins there or later.
constexpr std::uint64_t bytes_before_block(std::uint64_t first) {
  return (kBlockBytes - first % kBlockBytes) % kBlockBytes;
}

// The blocks that are whole in a part of an object; nothing where that has no length, or too much.
constexpr std::optional<BlockRun> whole_blocks(const http::ContentRange& part) {
  if (!part.complete || *part.complete > kLargestObject) return {};
  const auto length = part.range.last + 1;
  const auto first = (part.range.first + bytes_before_block(part.range.first)) / kBlockBytes;
  const auto end = length == part.complete ? blocks_in(length) : length / kBlockBytes;
  if (first >= end) return {};
  return BlockRun{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - 1)};
}

// Which bytes of an object of that length are in a block that it has.
constexpr http::ByteRange bytes_of_block(std::uint32_t number, std::uint64_t length) {
  const std::uint64_t first = std::uint64_t{number} * kBlockBytes;
  return {first, std::min<std::uint64_t>(first + kBlockBytes, length) - 1};
}

}  // namespace proxy::cache
