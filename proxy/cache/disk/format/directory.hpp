// The directory that holds the segments, kept for this process alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

enum class Access : std::uint8_t {
  read,   // alone or with others that only read; nothing is made
  write,  // alone
};

// How the file of a segment is named.
std::string name_of(std::uint32_t segment);

class Directory {
 public:
  struct Item {
    std::uint32_t segment = 0;
    std::uint64_t bytes = 0;  // its size, or what the disk keeps for it if that is more
    bool is_file = false;     // else something that nobody of ours has put there
  };

  // To write, makes its last component where it is missing; to read, `no_directory` where that is
  // no cache. `in_use` if another process, or another object of this one, has it; `being_read` if
  // such have it that only read, and it is to be written. The lock goes with the object, and with
  // the process however it ends.
  static Result<Directory> open(const std::filesystem::path& path, Access access = Access::write);

  // Rising by number. What has other names is nobody's business here.
  Result<std::vector<Item>> segments() const;
  Result<File> open_segment(std::uint32_t segment, Access access) const;
  // For what the directory is open.
  Result<File> open_segment(std::uint32_t segment) const { return open_segment(segment, access_); }
  struct Made {
    std::uint32_t segment = 0;
    File file;
  };
  // The next behind it: names that somebody has given to something else are stepped over.
  Result<Made> create_behind(std::uint32_t segment) const;
  Result<void> remove(std::uint32_t segment) const;

  // What the file system has left for us; as much as a number can tell where it does not say.
  std::uint64_t free_bytes() const;

  // Whether the path still leads here, and to the lock: false once the directory was removed,
  // renamed, mounted over or emptied. Without the lock, others may have taken it.
  bool still_there() const;
  // Whether the segment's name still leads to this file.
  bool still_there(std::uint32_t segment, const File& file) const;

 private:
  Directory(std::filesystem::path path, Access access, File self, File lock);
  bool leads_to(const char* name, const File& file) const;

  std::filesystem::path path_;
  Access access_;
  File self_;
  File lock_;
};

// What a file of this size takes of the disk at most: whole pages, and one that lists them.
constexpr std::uint64_t space_of(std::uint64_t bytes) {
  return (bytes + 4095) / 4096 * 4096 + 4096;
}

}  // namespace proxy::cache::disk
