// The segment files in the directory, and their disk space.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/segments.hpp"

namespace proxy::cache::disk {

// For the writer's thread; every call may wait for the disk.
class SegmentFiles {
 public:
  using Spaces = std::map<std::uint32_t, std::uint64_t>;  // bytes of disk space by segment number

  // Uses this directory, and these segments in it.
  void open(Directory directory, const std::vector<Directory::Item>& segments);
  // Leaves the directory and its files as they are.
  void close();
  bool is_open() const { return directory_.has_value(); }
  // Call it only while open.
  const Directory& directory() const { return *directory_; }
  // `no_directory`: the directory was removed or mounted over, or `newest` is no longer in it.
  // `newest` may be null.
  Result<void> check(const Segment* newest) const;

  // Creates a file with a header, and reserves this many bytes. Its number is higher than any so
  // far.
  Result<std::shared_ptr<const Segment>> create(std::uint32_t segment_bytes, std::uint16_t purges,
                                                const ClockMark& clock);
  // Gives a segment that this run has begun, and that has no records, another header.
  Result<std::shared_ptr<const Segment>> mark(std::uint32_t number, std::uint16_t purges,
                                              const ClockMark& clock);
  Result<void> remove(std::uint32_t number);
  // Keeps new segments from having this number or a lower one.
  void skip(std::uint32_t number);
  // Records how much disk space the segment takes.
  void account(std::uint32_t number, std::uint64_t bytes);

  const Spaces& spaces() const { return spaces_; }
  std::uint64_t used_bytes() const { return used_; }
  // The lowest number; 0 if there is no segment.
  std::uint32_t oldest() const { return spaces_.empty() ? 0 : spaces_.begin()->first; }

  // Whether the file system lacks space for one more segment of this size.
  bool lacks_space(std::uint32_t segment_bytes) const;
  // Whether the file system keeps the files from taking `bytes`: it has room for less than two more
  // segments, and that is not enough.
  bool is_squeezed(std::uint64_t bytes, std::uint32_t segment_bytes) const;
  // Whether the oldest segment may be removed because the file system is full. If other programs
  // fill it, we give up at most half of the most space that we had. `newest` may be null; it is
  // never removed.
  bool may_yield(const Segment* newest) const;

 private:
  std::optional<Directory> directory_;
  Spaces spaces_;
  std::uint64_t used_ = 0;       // their sum
  std::uint64_t most_used_ = 0;  // the largest sum so far
  std::uint32_t last_number_ = 0;
};

}  // namespace proxy::cache::disk
