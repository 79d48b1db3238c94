#include "digest/mapped_filter.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

namespace digest {
namespace {

constexpr std::size_t kHeaderBytes = 4096;  // one page, so that the bits start on a page
constexpr std::size_t kUsedHeader = kEnvelopeBytes + kShapeBytes;

MappedError error_of(int system) {
  switch (system) {
    case EEXIST:
      return MappedError::exists;
    case ENOENT:
      return MappedError::not_found;
    case EWOULDBLOCK:
      return MappedError::in_use;
    case ENOSPC:
    case EFBIG:
    case EDQUOT:
      return MappedError::no_space;
    default:
      return MappedError::system;
  }
}

MappedError last_error() {
  return error_of(errno);
}

std::size_t file_bytes(const Shape& shape) {
  return kHeaderBytes + shape.byte_count();
}

MappedResult<Shape> read_header(int file) {
  std::array<std::uint8_t, kUsedHeader> header{};
  struct stat status {};
  if (fstat(file, &status) != 0) return last_error();
  if (!S_ISREG(status.st_mode)) return MappedError::not_a_filter;
  // Not through the mapping, where a file that ends early ends the process by SIGBUS.
  if (pread(file, header.data(), header.size(), 0) != ssize_t{header.size()}) {
    return MappedError::not_a_filter;
  }
  auto reader = FileReader::open(header, FilterKind::mapped);
  if (!reader) return MappedError::not_a_filter;
  const auto shape = reader->shape();
  if (!shape || !reader->complete()) return MappedError::not_a_filter;
  const bool whole = static_cast<std::uint64_t>(status.st_size) == file_bytes(*shape);
  return whole ? MappedResult<Shape>(*shape) : MappedError::not_a_filter;
}

}  // namespace

std::string_view to_string(MappedError error) {
  static constexpr std::array<std::string_view, 8> kTexts{
      "no filter can have this shape",     "the file exists already",       "there is no such file",
      "another process writes the filter", "there is no space on the disk", "the system refuses",
      "not a mapped filter, or damaged",   "the filter was opened to read"};
  return text_in(kTexts, error);
}

void MappedFilter::Unmap::operator()(std::uint8_t* bits) const {
  munmap(bits - kHeaderBytes, bytes);
}

MappedFilter::MappedFilter(Descriptor file, const Shape& shape, Access access, Bits bits)
    : file_(std::move(file)), positions_(shape), access_(access), bits_(std::move(bits)) {}

MappedResult<MappedFilter> MappedFilter::create(const std::filesystem::path& path,
                                                const Shape& shape) {
  if (!check(shape)) return MappedError::bad_shape;
  // Beside its place, since a link cannot lead to another file system.
  std::string meanwhile = path.string() + ".XXXXXX";
  Descriptor file(mkostemp(meanwhile.data(), O_CLOEXEC));
  if (!file) return last_error();
  const auto filled = fill(file, shape);
  // link() and not rename(), which would replace an existing file.
  const bool named = filled && link(meanwhile.c_str(), path.c_str()) == 0;
  const int reason = errno;
  unlink(meanwhile.c_str());
  if (!filled) return filled.error();
  if (!named) return error_of(reason);
  return map(std::move(file), shape, Access::write);
}

MappedResult<void> MappedFilter::fill(const Descriptor& file, const Shape& shape) {
  FileWriter header(FilterKind::mapped, kShapeBytes);
  header.shape(shape);
  const auto bytes = std::move(header).finish();
  // While the file has another name: once it has its own, any process may want to write to it.
  if (flock(file.number(), LOCK_EX | LOCK_NB) != 0) return last_error();
  const int refused = posix_fallocate(file.number(), 0, static_cast<off_t>(file_bytes(shape)));
  if (refused != 0) return error_of(refused);
  if (pwrite(file.number(), bytes.data(), bytes.size(), 0) != ssize_t(bytes.size())) {
    return last_error();
  }
  // The name must not lead to a file whose header a power failure has lost.
  if (fsync(file.number()) != 0) return last_error();
  return {};
}

MappedResult<MappedFilter> MappedFilter::open(const std::filesystem::path& path, Access access) {
  const bool writes = access == Access::write;
  // O_NONBLOCK: opening a pipe of that name must not block.
  Descriptor file(::open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
  if (!file) return last_error();
  if (writes && flock(file.number(), LOCK_EX | LOCK_NB) != 0) return last_error();
  const auto shape = read_header(file.number());
  if (!shape) return shape.error();
  return map(std::move(file), *shape, access);
}

MappedResult<MappedFilter> MappedFilter::map(Descriptor file, const Shape& shape, Access access) {
  const std::size_t bytes = file_bytes(shape);
  const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const start = mmap(nullptr, bytes, protection, MAP_SHARED, file.number(), 0);
  if (start == MAP_FAILED) return last_error();
  Bits bits(static_cast<std::uint8_t*>(start) + kHeaderBytes, Unmap{bytes});
  return MappedFilter(std::move(file), shape, access, std::move(bits));
}

MappedResult<bool> MappedFilter::insert(const Key& key) {
  if (access_ != Access::write) return MappedError::read_only;
  bool fresh = false;
  positions_.every(key, [this, &fresh](std::uint64_t position) {
    const auto bit = static_cast<std::uint8_t>(1U << (position & 7));
    // Relaxed is enough: a reader that misses a bit has asked before the key was in.
    const std::uint8_t before =
        __atomic_fetch_or(&bits_.get()[position >> 3], bit, __ATOMIC_RELAXED);
    fresh = fresh || (before & bit) == 0;
    return true;
  });
  return fresh;
}

MappedResult<void> MappedFilter::sync() {
  if (access_ != Access::write) return MappedError::read_only;
  if (msync(bits_.get() - kHeaderBytes, file_bytes(shape()), MS_SYNC) != 0) return last_error();
  return {};
}

BloomFilter MappedFilter::copy() const {
  std::vector<std::uint8_t> bytes(bits_.get(), bits_.get() + shape().byte_count());
  // Bits beyond the last position belong to no key. A damaged file may have some set.
  const auto used = static_cast<unsigned>(shape().bits & 7);
  if (used != 0) bytes.back() = static_cast<std::uint8_t>(bytes.back() & ((1U << used) - 1));
  return *BloomFilter::from_bytes(shape(), bytes);
}

}  // namespace digest
