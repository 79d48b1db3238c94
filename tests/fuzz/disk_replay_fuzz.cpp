#include <vector>

#include "digest/crc32c.hpp"
#include "proxy/cache/disk/scan.hpp"

namespace disk = proxy::cache::disk;

namespace {

// The listed records lie within the file, one behind the other.
void check(const disk::Scanned& found, std::size_t size) {
  std::uint64_t end = disk::kSegmentHeaderBytes;
  for (const disk::Listed& record : found.records) {
    if (record.offset != end || end + record.bytes > size) __builtin_trap();
    end += disk::aligned(record.bytes);
  }
  if (end != found.end) __builtin_trap();
}

// Corrects the checksums of the first record, since no mutation does.
void mend(std::vector<std::uint8_t>& file) {
  constexpr std::size_t kBegin = disk::kSegmentHeaderBytes;
  if (file.size() < kBegin + disk::kRecordHeaderBytes) return;
  const auto record = disk::Bytes(file).subspan(kBegin);
  const auto header = disk::read_header(record.first<disk::kRecordHeaderBytes>(), {1, kBegin});
  if (!header || header->bytes() > record.size()) return;
  const auto checked = static_cast<std::size_t>(header->checked_bytes());
  const auto store = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) {
      file[kBegin + at + i] = static_cast<std::uint8_t>(number >> 8 * i);
    }
  };
  store(60, digest::crc32c(record.subspan(checked, header->body_bytes)));
  const auto own = digest::crc32c(record.first(76));
  store(76, digest::crc32c(record.subspan(80, checked - 80), own));
}

}  // namespace

// The input is a segment with number 1, replayed as it is and with corrected checksums.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(data, data + size);
  check(disk::replay(file, 1, std::nullopt), size);
  mend(file);
  check(disk::replay(file, 1, 0), size);
  return 0;
}
