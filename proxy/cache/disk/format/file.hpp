// An open file. Each failure is a value.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "proxy/cache/disk/format/error.hpp"
#include "proxy/cache/disk/format/format.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::cache::disk {

// Whether a read may wait for the disk.
enum class Wait : std::uint8_t { no, yes };

// Each read and write has an offset of its own, so that threads may share a file.
class File {
 public:
  // As openat(2), with O_CLOEXEC, and mode 0600 for a new file. `at`: a directory's descriptor.
  static Result<File> open(int at, const char* name, int flags);

  int descriptor() const { return descriptor_.number(); }
  Result<std::uint64_t> size() const;
  // When the content was changed last, by the system's clock.
  Result<std::chrono::system_clock::time_point> changed() const;

  // Reads up to the end of `into` or of the file, and returns the number of bytes. Wait::no
  // returns `would_block` if some of them are not in the page cache, or if the file system cannot
  // tell.
  Result<std::size_t> read_some(std::span<std::uint8_t> into, std::uint64_t offset,
                                Wait wait) const;
  // Fills `into`. `gone`: the file ends before.
  Result<void> read(std::span<std::uint8_t> into, std::uint64_t offset, Wait wait) const;
  // Starts readahead for this range. Rarely blocks.
  void will_be_read(std::uint64_t offset, std::uint64_t bytes) const;
  // Writes all pieces. Changes the content of `pieces`.
  Result<void> write(std::span<iovec> pieces, std::uint64_t offset) const;
  Result<void> write(Bytes bytes, std::uint64_t offset) const;
  // Allocates disk space without changing the file's size. Succeeds without effect if the file
  // system cannot allocate in advance.
  Result<void> reserve(std::uint64_t bytes) const;
  Result<void> truncate(std::uint64_t bytes) const;
  // Waits until the content would survive a loss of power.
  Result<void> sync() const;

 private:
  explicit File(machine::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  machine::Descriptor descriptor_;
};

}  // namespace proxy::cache::disk
