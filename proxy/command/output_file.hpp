// Writes a file as a whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "proxy/command/streams.hpp"

namespace proxy::command {

enum class Existing : std::uint8_t { keep, replace };
enum class FileAccess : std::uint8_t {
  everybody,  // as far as the umask allows
  owner,      // the file holds a secret
};

// Returns trouble if write_file() would refuse `path`: the file exists and is to be kept, or is no
// ordinary file. Call this before long work.
Result<void> may_write(const std::string& path, Existing existing);

// Writes `bytes` to a temporary file in the same folder, syncs it to the disk, and then gives it
// its name. No reader sees a part of the file, and on trouble an older file stays as it was.
Result<void> write_file(const std::string& path, std::span<const std::uint8_t> bytes,
                        Existing existing, FileAccess access);

}  // namespace proxy::command
