// The directory that holds the segments, locked for this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proxy/cache/disk/file.hpp"

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
  // With the access that the directory was opened with.
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

}  // namespace proxy::cache::disk
