#include "proxy/cache/disk/stored_record.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {
namespace {

// The first read of a small record, which needs no other.
constexpr std::uint32_t kFirstRead = 16 * 1024;
// The first read of a larger record is for its head. Its body is read right into its destination,
// or not at all.
constexpr std::uint32_t kHeadRead = 4 * 1024;
// No record has a longer header, URL and head, so a damaged length costs no more memory than this.
constexpr std::uint64_t kMostChecked = std::uint64_t{16} << 20;

}  // namespace

Result<void> StoredBody::read(std::span<const std::span<std::uint8_t>> into, Wait wait,
                              Bytes begin) const {
  std::size_t done = 0;
  std::uint32_t sum = 0;
  for (auto piece : into) {
    piece = piece.first(std::min<std::size_t>(piece.size(), size - done));
    const auto here = begin.first(std::min(piece.size(), begin.size()));
    begin = begin.subspan(here.size());
    std::copy(here.begin(), here.end(), piece.begin());
    const auto rest = piece.subspan(here.size());
    const auto read = segment->file.read(rest, offset + done + here.size(), wait);
    if (!read) return read.error();
    sum = digest::crc32c(piece, sum);
    done += piece.size();
  }
  if (done != size || sum != checksum) return Error::corrupt;
  return {};
}

// All pieces are read into the same buffer, because only the checksum matters.
Result<void> StoredBody::check(Wait wait) const {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  const auto bytes = std::min<std::size_t>(size, kPiece);
  const auto piece = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  std::vector<std::span<std::uint8_t>> into;
  for (std::size_t left = size; left > 0; left -= into.back().size()) {
    into.emplace_back(piece.get(), std::min(left, kPiece));
  }
  return read(into, wait);
}

Result<StoredRecord::Front> StoredRecord::open_front(const Segments& segments, Position at,
                                                     std::uint32_t bytes, Wait wait) {
  Front front;
  front.segment = segments.find(at.segment);
  if (!front.segment) return Error::gone;
  const File& file = front.segment->file;
  // The index rounds lengths up, so the first read of a small record has all of it.
  const auto first = bytes > kFirstRead ? kHeadRead : bytes;
  std::size_t room = std::max<std::size_t>(first, kRecordHeaderBytes);
  front.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(room);
  const auto got = file.read_some({front.bytes.get(), room}, at.offset, wait);
  if (!got) return got.error();
  if (*got < kRecordHeaderBytes) return Error::gone;
  const auto header = read_header(
      std::span<const std::uint8_t, kRecordHeaderBytes>(front.bytes.get(), kRecordHeaderBytes), at);
  if (!header) return Error::corrupt;
  front.header = *header;
  front.size = *got;
  const auto checked = static_cast<std::size_t>(header->checked_bytes());
  // Before memory is allocated for it.
  if (checked > kMostChecked) return Error::corrupt;
  if (checked > front.size) {
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(checked);
    std::copy_n(front.bytes.get(), front.size, larger.get());
    const auto rest = std::span(larger.get(), checked).subspan(front.size);
    const auto read = file.read(rest, at.offset + front.size, wait);
    // A damaged length may lead beyond the end of the file, too.
    if (!read) return read.error() == Error::gone ? Error::corrupt : read.error();
    front.bytes = std::move(larger);
    front.size = checked;
  }
  if (!head_intact({front.bytes.get(), checked})) return Error::corrupt;
  segments.times.to_clock(front.header, front.segment->times);
  return front;
}

Result<StoredRecord> StoredRecord::open(const Segments& segments, const Key& key,
                                        const Location& place, Wait wait) {
  auto front = open_front(segments, place.at, place.bytes, wait);
  if (!front) return front.error();
  if (front->header.index_key() != key || front->header.kind != place.kind) return Error::corrupt;
  if (place.kind != RecordKind::head) return StoredRecord(std::move(*front), {});
  auto base = open_front(segments, to_position(front->header.version), kFirstRead, wait);
  if (!base) return base.error();
  if (base->header.key != key || base->header.kind != RecordKind::whole) return Error::corrupt;
  return StoredRecord(std::move(*front), std::move(*base));
}

StoredBody StoredRecord::body_in_file() const {
  const RecordHeader& header = body_front().header;
  return {.key = front_.header.index_key(),
          .front = front_.header.at,
          .at = header.at,
          .offset = header.at.offset + header.checked_bytes(),
          .size = header.body_bytes,
          .checksum = header.body_checksum,
          .segment = body_front().segment};
}

Result<void> StoredRecord::read_body(std::span<const std::span<std::uint8_t>> into,
                                     Wait wait) const {
  const Front& front = body_front();
  const auto begin = static_cast<std::size_t>(front.header.checked_bytes());
  const auto here = std::min<std::size_t>(front.size - begin, front.header.body_bytes);
  return body_in_file().read(into, wait, {front.bytes.get() + begin, here});
}

Result<void> StoredRecord::read_body(std::span<std::uint8_t> into, Wait wait) const {
  return read_body(std::span<const std::span<std::uint8_t>>(&into, 1), wait);
}

}  // namespace proxy::cache::disk
