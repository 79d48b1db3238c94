// An open file, and what can go wrong with the cache on disk. Each failure is a value: the proxy
// goes on without the disk.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "proxy/cache/disk/format.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::cache::disk {

enum class Error : std::uint8_t {
  would_block,     // not in memory: read again where waiting is allowed
  gone,            // reclaimed or replaced meanwhile: a miss
  corrupt,         // a checksum does not match, or the record has another key
  too_large,       // no segment has room for such a record
  busy,            // refused: too much waits to be written
  resting,         // refused: the disk failed a moment ago and is tried again later
  no_space,        // the file system or a quota is full
  read_only,       // the file system is read-only, or we have no right to write
  no_directory,    // the directory or its content vanished, or a folder above it is missing
  not_directory,   // a file stands where the path needs a directory
  no_lock,         // `lock` in the directory is no regular file
  in_use,          // another process has the directory
  handed_over,     // our successor has the directory
  being_read,      // other processes read the directory, and will end soon
  no_descriptors,  // too many open files
  too_small,       // the size setting: it has no room for kWantedSegments of the smallest segments
  hangs,           // the disk does not answer: given up for now
  io,              // any other error of the system
};

// The name of the error, for a log line.
std::string_view to_string(Error error);

// The error that a system call's errno stands for.
Error error_of(int number);

template <class T>
using Result = boost::system::result<T, Error>;

[[noreturn]] void throw_exception_from_error(Error error, const boost::source_location& where);

// Whether a read may wait for the disk.
enum class Wait : std::uint8_t { no, yes };

// Each read and write has an offset of its own, so that threads may share a file.
class File {
 public:
  // Opens a file as openat(2) does, with O_CLOEXEC, and with mode 0600 if it is new. `at`: a
  // directory's descriptor.
  static Result<File> open(int at, const char* name, int flags);

  int descriptor() const { return descriptor_.number(); }
  Result<std::uint64_t> size() const;
  // The facts that fstat(2) gives.
  Result<struct stat> status() const;

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
