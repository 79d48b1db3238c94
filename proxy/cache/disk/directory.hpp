// The directory that holds the segments, locked for this process, and the disk space of the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/segments.hpp"

namespace proxy::cache::disk {

enum class Access : std::uint8_t {
  read,   // shared with other readers; creates nothing
  write,  // exclusive
};

// The name of a segment's file.
std::string name_of(std::uint32_t segment);

class Directory {
 public:
  struct Item {
    std::uint32_t segment = 0;
    std::uint64_t bytes = 0;  // the larger one of its size and its space on disk
    bool is_file = false;     // false: made by somebody else
  };

  // Opens and locks the directory. Access::write creates the last component of the path if it is
  // missing. `no_directory`: no cache to read. `in_use`: another process, or another object of this
  // process, writes to it. `being_read`: readers keep a writer out. The lock is released when the
  // object is destroyed or the process ends, in whatever way.
  static Result<Directory> open(const std::filesystem::path& path, Access access = Access::write);

  // Segments by rising number. Files with other names are ignored.
  Result<std::vector<Item>> segments() const;
  Result<File> open_segment(std::uint32_t segment, Access access) const;
  // Opens the segment with the access that the directory was opened with.
  Result<File> open_segment(std::uint32_t segment) const { return open_segment(segment, access_); }
  struct Made {
    std::uint32_t segment = 0;
    File file;
  };
  // Creates the file of the next segment after this number; skips names that are taken.
  Result<Made> create_behind(std::uint32_t segment) const;
  Result<void> remove(std::uint32_t segment) const;

  // Free bytes of the file system; the largest number if it does not tell.
  std::uint64_t free_bytes() const;

  // Whether the path still leads to this directory and its lock: false once the directory was
  // removed, renamed, mounted over or emptied. The lock file counts, because without it another
  // process may lock the directory, too.
  bool still_there() const;
  // Whether the name of the segment still leads to this file.
  bool still_there(std::uint32_t segment, const File& file) const;

 private:
  Directory(std::filesystem::path path, Access access, File self, File lock);
  bool leads_to(const char* name, const File& file) const;

  std::filesystem::path path_;
  Access access_;
  File self_;
  File lock_;
};

// The most disk space that a file of this size takes: whole pages, and one page of metadata.
constexpr std::uint64_t space_of(std::uint64_t bytes) {
  return (bytes + 4095) / 4096 * 4096 + 4096;
}

// The files of the segments. The writer's thread calls this; every call may wait for the disk.
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
