#include "proxy/cache/disk/format/scan.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "proxy/cache/disk/format/replay.hpp"

namespace proxy::cache::disk {
namespace {

// Reads the records from the footer. Returns whether the footer is there and undamaged.
Result<bool> scan_footer(const File& file, std::uint32_t segment, Scanned& found) {
  if (found.file_bytes < kSegmentHeaderBytes + kTrailerBytes) return false;
  std::array<std::uint8_t, kTrailerBytes> end;
  const auto read_end = file.read(end, found.file_bytes - kTrailerBytes, Wait::yes);
  if (!read_end) return read_end.error();
  const auto trailer = read_trailer(end, segment, found.file_bytes);
  if (!trailer) return false;
  const auto size = static_cast<std::size_t>(footer_bytes(trailer->records));
  const auto footer = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  const auto read = file.read({footer.get(), size}, trailer->footer_offset, Wait::yes);
  if (!read) return read.error();
  auto records = read_footer({footer.get(), size}, *trailer);
  if (!records) return false;
  found.records = std::move(*records);
  found.end = trailer->footer_offset;
  found.purges = trailer->purges;
  found.sealed = true;
  return true;
}

Result<void> scan_records(const File& file, std::uint32_t segment, Scanned& found) {
  if (found.file_bytes > kMaxSegmentBytes) {
    found.damaged = true;
    return {};
  }
  const auto size = static_cast<std::size_t>(found.file_bytes);
  const auto bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  const auto read = file.read({bytes.get(), size}, 0, Wait::yes);
  if (!read) return read.error();
  auto replayed = replay({bytes.get(), size}, segment, found.purges_before);
  found.end = kSegmentHeaderBytes;
  if (!found.purges_before && !replayed.any) return {};  // nothing shows that the file is ours
  found.records = std::move(replayed.records);
  found.end = replayed.end;
  found.purges = replayed.purges;
  found.damaged = found.damaged || replayed.damaged;
  found.cut = replayed.cut;
  return {};
}

}  // namespace

Result<Scanned> scan(const File& file, std::uint32_t segment) {
  Scanned found;
  const auto size = file.size();
  if (!size) return size.error();
  found.file_bytes = *size;
  std::array<std::uint8_t, kSegmentHeaderBytes> begin{};
  const auto got = file.read_some(begin, 0, Wait::yes);
  if (!got) return got.error();
  const auto header = check_segment_header(begin, segment);
  found.other_version = header == SegmentHeader::other_version;
  const bool zeros = std::all_of(begin.begin(), begin.end(), [](auto byte) { return byte == 0; });
  found.cut = *got > 0 && (*got < begin.size() || zeros);
  found.damaged = header == SegmentHeader::damaged && *got == begin.size() && !zeros;
  if (header == SegmentHeader::good) {
    found.purges_before = purges_before(begin);
    found.clock = clock_mark(begin);
  }
  if (found.other_version || *got < begin.size()) return found;
  const auto sealed = scan_footer(file, segment, found);
  if (!sealed) return sealed.error();
  if (*sealed) return found;
  const auto read = scan_records(file, segment, found);
  if (!read) return read.error();
  return found;
}

}  // namespace proxy::cache::disk
