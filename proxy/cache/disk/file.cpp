#include "proxy/cache/disk/file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

namespace proxy::cache::disk {
namespace {

// Removes the written bytes from the front of the pieces.
std::span<iovec> without_first(std::span<iovec> pieces, std::size_t written) {
  while (!pieces.empty() && written >= pieces.front().iov_len) {
    written -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (written > 0) {
    pieces.front().iov_base = static_cast<std::uint8_t*>(pieces.front().iov_base) + written;
    pieces.front().iov_len -= written;
  }
  return pieces;
}

Result<void> done_if(int result) {
  if (result != 0) return error_of(errno);
  return {};
}

}  // namespace

std::string_view to_string(Error error) {
  switch (error) {
    case Error::would_block:
      return "not in memory";
    case Error::gone:
      return "reclaimed meanwhile";
    case Error::corrupt:
      return "damaged: a checksum does not fit";
    case Error::too_large:
      return "too large for a segment";
    case Error::busy:
      return "the disk is too slow for the responses that arrive";
    case Error::resting:
      return "the disk failed a moment ago";
    case Error::no_space:
      return "no space left on the disk";
    case Error::read_only:
      return "the disk may not be written";
    case Error::no_directory:
      return "the directory or its content is gone, or it cannot be created (No such file or "
             "directory)";
    case Error::not_directory:
      return "its path, or a part of it, is a file (Not a directory)";
    case Error::no_lock:
      return "`lock` in the directory is not a regular file: remove it";
    case Error::in_use:
      return "another process uses the directory";
    case Error::handed_over:
      return "the process that takes over uses the directory";
    case Error::being_read:
      return "`hearsay cache` is reading the directory";
    case Error::no_descriptors:
      return "too many open files";
    case Error::too_small:
      return "the size allowed is too small";
    case Error::hangs:
      return "the disk does not answer";
    case Error::io:
      return "input/output error";
  }
  return "unknown error";
}

Error error_of(int number) {
  switch (number) {
    case EAGAIN:
      return Error::would_block;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Error::no_space;
    case EROFS:
    case EACCES:
    case EPERM:
      return Error::read_only;
    case ENOENT:
      return Error::no_directory;
    case ENOTDIR:
      return Error::not_directory;
    case EMFILE:
    case ENFILE:
      return Error::no_descriptors;
    default:
      return Error::io;
  }
}

void throw_exception_from_error(Error error, const boost::source_location&) {
  throw std::logic_error("a disk error was taken for a value: " + std::string(to_string(error)));
}

Result<File> File::open(int at, const char* name, int flags) {
  machine::Descriptor opened(::openat(at, name, flags | O_CLOEXEC, 0600));
  if (!opened) return error_of(errno);
  return File(std::move(opened));
}

Result<std::uint64_t> File::size() const {
  struct stat status {};
  if (::fstat(descriptor(), &status) != 0) return error_of(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::chrono::system_clock::time_point> File::changed() const {
  struct stat status {};
  if (::fstat(descriptor(), &status) != 0) return error_of(errno);
  return std::chrono::system_clock::from_time_t(status.st_mtime);
}

Result<std::size_t> File::read_some(std::span<std::uint8_t> into, std::uint64_t offset,
                                    Wait wait) const {
  std::size_t filled = 0;
  while (filled < into.size()) {
    iovec piece{into.data() + filled, into.size() - filled};
    const auto at = static_cast<off_t>(offset + filled);
    const ssize_t got = ::preadv2(descriptor(), &piece, 1, at, wait == Wait::no ? RWF_NOWAIT : 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && wait == Wait::no && errno == EOPNOTSUPP) return Error::would_block;
    if (got < 0) return error_of(errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<void> File::read(std::span<std::uint8_t> into, std::uint64_t offset, Wait wait) const {
  const auto filled = read_some(into, offset, wait);
  if (!filled) return filled.error();
  if (*filled < into.size()) return Error::gone;
  return {};
}

void File::will_be_read(std::uint64_t offset, std::uint64_t bytes) const {
  (void)::posix_fadvise(descriptor(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                        POSIX_FADV_WILLNEED);
}

Result<void> File::write(std::span<iovec> pieces, std::uint64_t offset) const {
  for (pieces = without_first(pieces, 0); !pieces.empty();) {
    const auto count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
    const ssize_t put = ::pwritev(descriptor(), pieces.data(), count, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return error_of(errno);
    if (put == 0) return Error::io;
    pieces = without_first(pieces, static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<void> File::write(Bytes bytes, std::uint64_t offset) const {
  iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  return write(std::span(&piece, 1), offset);
}

Result<void> File::reserve(std::uint64_t bytes) const {
  int result = 0;
  do {
    result = ::fallocate(descriptor(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EOPNOTSUPP) return {};
  return done_if(result);
}

Result<void> File::truncate(std::uint64_t bytes) const {
  return done_if(::ftruncate(descriptor(), static_cast<off_t>(bytes)));
}

Result<void> File::sync() const {
  return done_if(::fdatasync(descriptor()));
}

}  // namespace proxy::cache::disk
