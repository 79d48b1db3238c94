// An open file whose every failure is a value.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "proxy/cache/disk/format/error.hpp"
#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

// Whether a read may wait for the disk.
enum class Wait : std::uint8_t { no, yes };

// Reads and writes are at given places, so that threads may share it.
class File {
 public:
  // As open(2), with O_CLOEXEC and 0600 for what is made. `at` is a directory's descriptor.
  static Result<File> open(int at, const char* name, int flags);

  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();

  int descriptor() const { return descriptor_; }
  Result<std::uint64_t> size() const;

  // How much it could fill: less only where the file ends. Without waiting, `would_block` where not
  // all of that is in the page cache, or this file system cannot tell.
  Result<std::size_t> read_some(std::span<std::uint8_t> into, std::uint64_t offset,
                                Wait wait) const;
  // All of it, or `gone` where the file ends before.
  Result<void> read(std::span<std::uint8_t> into, std::uint64_t offset, Wait wait) const;
  // Has the system begin to, as all of it is read soon; that it waits for the disk is rare.
  void will_be_read(std::uint64_t offset, std::uint64_t bytes) const;
  // Writes all of it. `pieces` is used up on the way.
  Result<void> write(std::span<iovec> pieces, std::uint64_t offset) const;
  Result<void> write(Bytes bytes, std::uint64_t offset) const;
  // Takes the space without changing the size. Also done where the file system has no such call.
  Result<void> reserve(std::uint64_t bytes) const;
  Result<void> truncate(std::uint64_t bytes) const;
  // Waits until the content would survive a loss of power.
  Result<void> sync() const;

 private:
  explicit File(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace proxy::cache::disk
