#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk/scan.hpp"

namespace disk = proxy::cache::disk;

namespace {

// A file in memory, open twice: here, and for the code under test.
class Segment {
 public:
  Segment(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("segment", 0)) {
    if (::write(descriptor_, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { ::close(descriptor_); }

  disk::File open() const {
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor_);
    return std::move(*disk::File::open(AT_FDCWD, path.c_str(), O_RDONLY));
  }

 private:
  const int descriptor_;
};

}  // namespace

// The input is a segment with number 1. Damage is reported in the order of the file. If none is
// reported, every record that a start finds is good.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Segment segment(data, size);
  const disk::File file = segment.open();
  std::uint64_t at = 0;
  const auto verified = disk::verify(file, 1, [&](const disk::Damage& damage) {
    if (damage.offset < at || damage.offset + damage.lost_bytes > size) __builtin_trap();
    at = damage.offset;
  });
  const auto scanned = disk::scan(file, 1);
  if (!scanned || verified.records > scanned->records.size()) __builtin_trap();
  if (verified.damages > 0) return 0;
  if (scanned->damaged || verified.records != scanned->records.size()) __builtin_trap();
  return 0;
}
