#include "proxy/cache/disk/format.hpp"

#include <algorithm>
#include <type_traits>

#include "digest/crc32c.hpp"
#include "digest/little_endian.hpp"
#include "digest/siphash.hpp"

namespace proxy::cache::disk {
namespace {

using digest::load;
using digest::store;

constexpr std::array<std::uint8_t, 4> kSegmentMagic = {'H', 'S', 'Y', 'S'};
constexpr std::array<std::uint8_t, 4> kRecordMagic = {'H', 'R', 'E', 'C'};
constexpr std::size_t kSegmentChecksumAt = kSegmentHeaderBytes - 4;
constexpr std::size_t kHeadChecksumAt = kRecordHeaderBytes - 4;

// Lengths that pass size buffers, so a damaged header must not ask for more than a segment.
bool shape_fits(const RecordHeader& header) {
  if (header.bytes() > kMaxSegmentBytes) return false;
  const bool may_have_body = header.kind == RecordKind::whole || header.kind == RecordKind::block;
  // A sender may forge a header in a body, so that no length is believed.
  if (header.kind == RecordKind::block && header.body_bytes > kBlockBytes) return false;
  return may_have_body || header.body_bytes == 0;
}

constexpr std::array<std::uint8_t, 4> kFooterMagic = {'H', 'E', 'N', 'D'};

Listed read_entry(const std::uint8_t* bytes) {
  Listed record;
  std::copy(bytes, bytes + 16, record.key.bytes.begin());
  record.offset = load<std::uint32_t>(bytes + 16);
  record.bytes = load<std::uint32_t>(bytes + 20);
  record.claimable_until = load<std::uint32_t>(bytes + 24);
  record.kind = static_cast<RecordKind>(bytes[28]);
  record.rule = digest::mark_in(load<std::uint16_t>(bytes + 30));
  return record;
}

void write_entry(std::uint8_t* bytes, const Listed& record) {
  std::copy(record.key.bytes.begin(), record.key.bytes.end(), bytes);
  store(bytes + 16, record.offset);
  store(bytes + 20, record.bytes);
  store(bytes + 24, record.claimable_until);
  bytes[28] = static_cast<std::uint8_t>(record.kind);
  store(bytes + 30, record.rule);
}

// Whether the record is possible and begins at `end`, right behind the record before it.
// Records lie one behind the other, so a footer that leaves out a record does not pass.
bool follows(const Listed& record, std::uint64_t end, std::uint64_t limit) {
  return record.kind >= RecordKind::whole && record.kind <= RecordKind::unknown &&
         record.offset == end && record.bytes >= kRecordHeaderBytes &&
         end + aligned(record.bytes) <= limit;
}

// Calls `field` with each number of a record's header and its place, but for the kind.
template <class Header, class Field>
void each_number(Header& header, Field field) {
  field(5, header.flags);
  field(6, header.purges);
  field(8, header.at.segment);
  field(12, header.at.offset);
  field(16, header.url_bytes);
  field(20, header.head_bytes);
  field(24, header.body_bytes);
  field(28, header.claimable_until);
  field(48, header.version);
  field(56, header.block);
  field(60, header.body_checksum);
  field(64, header.response_time);
  field(72, header.request_took);
  field(74, header.rule);
}

}  // namespace

Key derived_key(const Key& key, Bytes more) {
  // Keyed with the object's key, so that nobody can choose URLs whose blocks have the same key.
  const digest::SipHash128 hash(key.bytes, more);
  Key derived;
  store(&derived.bytes[0], hash.low());
  store(&derived.bytes[8], hash.high());
  return derived;
}

Key block_key(const Key& object, std::uint64_t version, std::uint32_t block) {
  std::array<std::uint8_t, 12> named{};
  store(&named[0], version);
  store(&named[8], block);
  return derived_key(object, named);
}

Key RecordHeader::index_key() const {
  return kind == RecordKind::block ? block_key(key, version, block) : key;
}

std::array<std::uint8_t, kSegmentHeaderBytes> encode_segment_header(std::uint32_t segment,
                                                                    std::uint16_t purges,
                                                                    const ClockMark& clock) {
  std::array<std::uint8_t, kSegmentHeaderBytes> bytes{};
  std::copy(kSegmentMagic.begin(), kSegmentMagic.end(), bytes.begin());
  store(&bytes[4], kFormatVersion);
  store(&bytes[8], segment);
  store(&bytes[12], purges);
  store(&bytes[16], clock.run);
  store(&bytes[20], static_cast<std::uint64_t>(clock.ahead.count()));
  store(&bytes[kSegmentChecksumAt], digest::crc32c(Bytes(bytes).first(kSegmentChecksumAt)));
  return bytes;
}

SegmentHeader check_segment_header(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes,
                                   std::uint32_t segment) {
  const auto checksum = digest::crc32c(bytes.first(kSegmentChecksumAt));
  const bool ours = std::equal(kSegmentMagic.begin(), kSegmentMagic.end(), bytes.begin());
  // The checksum comes first: the version of a damaged header means nothing. A start removes
  // segments of another version, but reads what is left of a damaged one.
  if (!ours || load<std::uint32_t>(&bytes[kSegmentChecksumAt]) != checksum) {
    return SegmentHeader::damaged;
  }
  if (load<std::uint32_t>(&bytes[4]) != kFormatVersion) return SegmentHeader::other_version;
  return load<std::uint32_t>(&bytes[8]) == segment ? SegmentHeader::good : SegmentHeader::damaged;
}

std::uint16_t purges_before(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes) {
  return load<std::uint16_t>(&bytes[12]);
}

ClockMark clock_mark(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes) {
  const std::chrono::milliseconds ahead(static_cast<std::int64_t>(load<std::uint64_t>(&bytes[20])));
  return {load<std::uint32_t>(&bytes[16]), std::clamp(ahead, -ClockMark::kMost, ClockMark::kMost)};
}

std::array<std::uint8_t, kRecordHeaderBytes> encode(RecordHeader header, Bytes url, Bytes head) {
  std::array<std::uint8_t, kRecordHeaderBytes> bytes{};
  header.url_bytes = static_cast<std::uint32_t>(url.size());
  header.head_bytes = static_cast<std::uint32_t>(head.size());
  std::copy(kRecordMagic.begin(), kRecordMagic.end(), bytes.begin());
  bytes[4] = static_cast<std::uint8_t>(header.kind);
  std::copy(header.key.bytes.begin(), header.key.bytes.end(), &bytes[32]);
  each_number(header, [&bytes](std::size_t at, auto number) {
    store(&bytes[at], static_cast<std::make_unsigned_t<decltype(number)>>(number));
  });
  const auto own = digest::crc32c(Bytes(bytes).first(kHeadChecksumAt));
  store(&bytes[kHeadChecksumAt], digest::crc32c(head, digest::crc32c(url, own)));
  return bytes;
}

RecordHeader unchecked_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes) {
  RecordHeader header{.kind = static_cast<RecordKind>(bytes[4])};
  std::copy(&bytes[32], &bytes[48], header.key.bytes.begin());
  each_number(header, [bytes](std::size_t at, auto& number) {
    using Number = std::remove_reference_t<decltype(number)>;
    number = static_cast<Number>(load<std::make_unsigned_t<Number>>(&bytes[at]));
  });
  header.rule = digest::mark_in(header.rule);
  return header;
}

std::optional<RecordHeader> read_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes,
                                        Position at) {
  if (!std::equal(kRecordMagic.begin(), kRecordMagic.end(), bytes.begin())) return std::nullopt;
  const RecordHeader header = unchecked_header(bytes);
  if (header.kind < RecordKind::whole || header.kind > RecordKind::searched) return std::nullopt;
  if (header.at != at || !shape_fits(header)) return std::nullopt;
  return header;
}

bool head_intact(Bytes checked) {
  return head_intact(checked.first(kRecordHeaderBytes), checked.subspan(kRecordHeaderBytes));
}

// In two parts, as replay mends a copy of the header while URL and head stay where they are.
bool head_intact(Bytes header, Bytes url_and_head) {
  const auto own = digest::crc32c(header.first(kHeadChecksumAt));
  return load<std::uint32_t>(&header[kHeadChecksumAt]) == digest::crc32c(url_and_head, own);
}

std::string encode(std::span<const Searched> found) {
  std::string head(found.size() * kSearchedBytes, '\0');
  auto* at = reinterpret_cast<std::uint8_t*>(head.data());
  for (const Searched& entry : found) {
    std::copy(entry.key.bytes.begin(), entry.key.bytes.end(), at);
    store(at + 16, to_number(entry.at));
    at += kSearchedBytes;
  }
  return head;
}

std::optional<std::vector<Searched>> decode_searched(std::string_view head) {
  if (head.size() % kSearchedBytes != 0) return std::nullopt;
  std::vector<Searched> found(head.size() / kSearchedBytes);
  const auto* at = reinterpret_cast<const std::uint8_t*>(head.data());
  for (Searched& entry : found) {
    std::copy_n(at, 16, entry.key.bytes.begin());
    entry.at = to_position(load<std::uint64_t>(at + 16));
    at += kSearchedBytes;
  }
  return found;
}

Listed listed(const RecordHeader& header) {
  return {.key = header.index_key(),
          .offset = header.at.offset,
          .bytes = static_cast<std::uint32_t>(header.bytes()),
          .claimable_until = header.claim(),
          .kind = header.kind,
          .rule = header.rule};
}

std::vector<std::uint8_t> encode_footer(std::uint32_t segment, std::span<const Listed> records,
                                        std::uint16_t purges) {
  std::vector<std::uint8_t> footer(footer_bytes(records.size()));
  std::uint8_t* at = footer.data();
  std::uint64_t end = kSegmentHeaderBytes;
  for (const Listed& record : records) {
    write_entry(at, record);
    at += kFooterEntryBytes;
    end = record.offset + aligned(record.bytes);
  }
  std::copy(kFooterMagic.begin(), kFooterMagic.end(), at);
  store(at + 4, static_cast<std::uint32_t>(records.size()));
  store(at + 8, segment);
  store(at + 12, static_cast<std::uint32_t>(end));
  store(at + 16, purges);
  store(at + 28, digest::crc32c(Bytes(footer).first(footer.size() - 4)));
  return footer;
}

std::optional<Trailer> read_trailer(std::span<const std::uint8_t, kTrailerBytes> bytes,
                                    std::uint32_t segment, std::uint64_t file_bytes) {
  if (!std::equal(kFooterMagic.begin(), kFooterMagic.end(), bytes.begin())) return std::nullopt;
  const Trailer trailer{load<std::uint32_t>(&bytes[4]), load<std::uint32_t>(&bytes[12]),
                        load<std::uint16_t>(&bytes[16])};
  const bool fits = trailer.footer_offset >= kSegmentHeaderBytes &&
                    trailer.footer_offset + footer_bytes(trailer.records) == file_bytes;
  if (load<std::uint32_t>(&bytes[8]) != segment || !fits) return std::nullopt;
  return trailer;
}

std::optional<std::vector<Listed>> read_footer(Bytes footer, const Trailer& trailer) {
  if (footer.size() != footer_bytes(trailer.records)) return std::nullopt;
  const auto checked = footer.first(footer.size() - 4);
  if (load<std::uint32_t>(&footer[checked.size()]) != digest::crc32c(checked)) return std::nullopt;
  std::vector<Listed> records;
  records.reserve(trailer.records);
  std::uint64_t end = kSegmentHeaderBytes;
  for (std::size_t i = 0; i < trailer.records; ++i) {
    records.push_back(read_entry(&footer[i * kFooterEntryBytes]));
    if (!follows(records.back(), end, trailer.footer_offset)) return std::nullopt;
    end += aligned(records.back().bytes);
  }
  // A footer that leaves out the last records would hide purges.
  if (end != trailer.footer_offset) return std::nullopt;
  return records;
}

}  // namespace proxy::cache::disk
