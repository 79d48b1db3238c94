// The disk space of a directory's files: for each file its length or its allocated blocks,
// whichever is more.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

namespace support {

inline std::uint64_t space_taken(const std::filesystem::path& directory) {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    struct stat status {};
    if (::stat(file.path().c_str(), &status) != 0) continue;  // deleted meanwhile
    bytes += std::max(static_cast<std::uint64_t>(status.st_blocks) * 512,
                      static_cast<std::uint64_t>(status.st_size));
  }
  return bytes;
}

}  // namespace support
