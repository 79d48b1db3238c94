// The body of an entry, in its segment's file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "proxy/cache/disk/catalog/segments.hpp"

namespace proxy::cache::disk {

// Where a body is, and how it is checked. The body's bytes stay as they are until the disk empties
// the file. Before that, the disk lets the segment's users save the body (SegmentUsers). Any
// thread.
struct StoredBody {
  Key key{};         // of the entry
  Position front{};  // of the record that look-ups of the key find
  Position at{};     // of the record that has the body: another one if `front` is a newer head
  std::uint64_t offset = 0;  // of the body, in the segment's file
  std::uint32_t size = 0;
  std::uint32_t checksum = 0;
  std::shared_ptr<const Segment> segment;  // that has the body

  // Whether the page cache has the whole body.
  bool in_page_cache() const { return segment->residency.has(offset, size); }
  // Reads and checks the whole body. The pieces together must have the length of the body. After an
  // error their content must not be used. `begin`: the first bytes of the body, if the caller has
  // them already.
  Result<void> read(std::span<const std::span<std::uint8_t>> into, Wait wait,
                    Bytes begin = {}) const;
  // Checks the whole body, with little memory: reads it in small pieces.
  Result<void> check(Wait wait) const;
};

}  // namespace proxy::cache::disk
