#include "proxy/cache/disk/file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

namespace proxy::cache::disk {
namespace {

// In the order of Error.
constexpr std::string_view kErrorTexts[] = {
    "not in memory",
    "reclaimed meanwhile",
    "damaged: a checksum does not fit",
    "too large for a segment",
    "the disk is too slow for the responses that arrive",
    "the disk failed a moment ago",
    "no space left on the disk",
    "the disk may not be written",
    "the directory or its content is gone, or it cannot be created (No such file or directory)",
    "its path, or a part of it, is a file (Not a directory)",
    "`lock` in the directory is not a regular file: remove it",
    "another process uses the directory",
    "the process that takes over uses the directory",
    "`hearsay cache` is reading the directory",
    "too many open files",
    "the size allowed is too small",
    "the disk does not answer",
    "input/output error",
};
static_assert(std::size(kErrorTexts) == static_cast<std::size_t>(Error::io) + 1);

constexpr std::pair<int, Error> kMeanings[] = {
    {EAGAIN, Error::would_block},    {ENOSPC, Error::no_space},
    {EDQUOT, Error::no_space},       {EFBIG, Error::no_space},
    {EROFS, Error::read_only},       {EACCES, Error::read_only},
    {EPERM, Error::read_only},       {ENOENT, Error::no_directory},
    {ENOTDIR, Error::not_directory}, {EMFILE, Error::no_descriptors},
    {ENFILE, Error::no_descriptors},
};

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
  return kErrorTexts[static_cast<std::size_t>(error)];
}

Error error_of(int number) {
  const auto found =
      std::ranges::find_if(kMeanings, [number](const auto& one) { return one.first == number; });
  return found == std::end(kMeanings) ? Error::io : found->second;
}

void throw_exception_from_error(Error error, const boost::source_location&) {
  throw std::logic_error("a disk error was taken for a value: " + std::string(to_string(error)));
}

Result<File> File::open(int at, const char* name, int flags) {
  machine::Descriptor opened(::openat(at, name, flags | O_CLOEXEC, 0600));
  if (!opened) return error_of(errno);
  return File(std::move(opened));
}

Result<struct stat> File::status() const {
  struct stat status {};
  if (::fstat(descriptor(), &status) != 0) return error_of(errno);
  return status;
}

Result<std::uint64_t> File::size() const {
  const auto known = status();
  if (!known) return known.error();
  return static_cast<std::uint64_t>(known->st_size);
}

Result<std::size_t> File::read_some(std::span<std::uint8_t> into, std::uint64_t offset,
                                    Wait wait) const {
  std::size_t filled = 0;
  while (filled < into.size()) {
    iovec piece{into.data() + filled, into.size() - filled};
    const auto at = static_cast<off_t>(offset + filled);
    // RWF_NOWAIT fails with EAGAIN for bytes that the page cache lacks. Some file systems do not
    // support it, and may wait.
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
  // A file that is shorter than its records was emptied: its segment was reclaimed.
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
    // A nearly full disk takes only a part. The next attempt then tells why.
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

// Not posix_fallocate(), which writes zeros where the file system cannot allocate: that costs as
// much as to write the records.
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

// fdatasync() writes the size of the file, too. Its times do not matter.
Result<void> File::sync() const {
  return done_if(::fdatasync(descriptor()));
}

}  // namespace proxy::cache::disk
