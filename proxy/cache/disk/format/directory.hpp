// The directory that holds the segments, locked for this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

enum class Access : std::uint8_t {
  read,   // together with other readers; nothing is created
  write,  // alone
};

// The name of a segment's file.
std::string name_of(std::uint32_t segment);

class Directory {
 public:
  struct Item {
    std::uint32_t segment = 0;
    std::uint64_t bytes = 0;  // its size, or what the disk keeps for it if that is more
    bool is_file = false;     // else not made by us
  };

  // Opens and locks it. To write, creates the last component of the path; to read, `no_directory`
  // where there is no cache. `in_use`: another process, or another object of this one, has it open
  // to write. `being_read`: readers have it open, and it was to be opened to write. The lock is
  // released with the object, or when the process ends in any way.
  static Result<Directory> open(const std::filesystem::path& path, Access access = Access::write);

  // Segments by rising number. Files with other names are ignored.
  Result<std::vector<Item>> segments() const;
  Result<File> open_segment(std::uint32_t segment, Access access) const;
  // With the access of the directory.
  Result<File> open_segment(std::uint32_t segment) const { return open_segment(segment, access_); }
  struct Made {
    std::uint32_t segment = 0;
    File file;
  };
  // Creates the file of the next segment behind this number; skips names that are taken.
  Result<Made> create_behind(std::uint32_t segment) const;
  Result<void> remove(std::uint32_t segment) const;

  // Bytes that the file system has left for us; the largest number where it does not say.
  std::uint64_t free_bytes() const;

  // Whether the path still leads to this directory and its lock: false once the directory was
  // removed, renamed, mounted over or emptied. Without the lock file another process may use it.
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

// Disk space of a file of this size at most: whole pages, and one page of metadata.
constexpr std::uint64_t space_of(std::uint64_t bytes) {
  return (bytes + 4095) / 4096 * 4096 + 4096;
}

}  // namespace proxy::cache::disk
