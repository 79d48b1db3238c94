#include <vector>

#include "digest/crc32c.hpp"
#include "proxy/cache/disk/format.hpp"

namespace disk = proxy::cache::disk;

namespace {

// If a footer is accepted, encoding its records gives the same bytes.
void read(disk::Bytes file) {
  if (file.size() < disk::kTrailerBytes) return;
  const auto trailer = disk::read_trailer(file.last<disk::kTrailerBytes>(), 1, file.size());
  if (!trailer) return;
  const auto footer = file.subspan(trailer->footer_offset);
  const auto records = disk::read_footer(footer, *trailer);
  if (!records) return;
  if (disk::encode_footer(1, *records, trailer->purges).size() != footer.size()) __builtin_trap();
  const auto again = disk::read_footer(disk::encode_footer(1, *records, trailer->purges), *trailer);
  if (again != records) __builtin_trap();
}

}  // namespace

// The input is read as a segment with number 1, as it is and with a corrected checksum of its
// footer. It is also read as the head of a `searched` record.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view head(reinterpret_cast<const char*>(data), size);
  const auto found = disk::decode_searched(head);
  if (found && disk::encode(*found) != head) __builtin_trap();
  std::vector<std::uint8_t> file(data, data + size);
  read(file);
  if (size < disk::kTrailerBytes) return 0;
  const auto end = disk::Bytes(file).last<disk::kTrailerBytes>();
  const auto trailer = disk::read_trailer(end, 1, size);
  if (!trailer) return 0;
  const auto footer = disk::Bytes(file).subspan(trailer->footer_offset);
  const auto checksum = digest::crc32c(footer.first(footer.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) {
    file[size - 4 + i] = static_cast<std::uint8_t>(checksum >> 8 * i);
  }
  read(file);
  return 0;
}
