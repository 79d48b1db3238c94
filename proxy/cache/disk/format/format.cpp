#include "proxy/cache/disk/format/format.hpp"

#include <algorithm>

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

bool shape_fits(const RecordHeader& header) {
  if (header.bytes() > kMaxSegmentBytes) return false;
  const bool may_have_body = header.kind == RecordKind::whole || header.kind == RecordKind::block;
  if (header.kind == RecordKind::block && header.body_bytes > kBlockBytes) return false;
  return may_have_body || header.body_bytes == 0;
}

}  // namespace

Key derived_key(const Key& key, Bytes more) {
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
  std::copy(kRecordMagic.begin(), kRecordMagic.end(), bytes.begin());
  bytes[4] = static_cast<std::uint8_t>(header.kind);
  bytes[5] = header.flags;
  store(&bytes[6], header.purges);
  store(&bytes[8], header.at.segment);
  store(&bytes[12], header.at.offset);
  store(&bytes[16], static_cast<std::uint32_t>(url.size()));
  store(&bytes[20], static_cast<std::uint32_t>(head.size()));
  store(&bytes[24], header.body_bytes);
  store(&bytes[28], header.claimable_until);
  std::copy(header.key.bytes.begin(), header.key.bytes.end(), &bytes[32]);
  store(&bytes[48], header.version);
  store(&bytes[56], header.block);
  store(&bytes[60], header.body_checksum);
  store(&bytes[64], static_cast<std::uint64_t>(header.response_time));
  store(&bytes[72], header.request_took);
  store(&bytes[74], header.rule);
  const auto own = digest::crc32c(Bytes(bytes).first(kHeadChecksumAt));
  store(&bytes[kHeadChecksumAt], digest::crc32c(head, digest::crc32c(url, own)));
  return bytes;
}

RecordHeader unchecked_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes) {
  RecordHeader header{
      .kind = static_cast<RecordKind>(bytes[4]),
      .flags = bytes[5],
      .purges = load<std::uint16_t>(&bytes[6]),
      .at = {load<std::uint32_t>(&bytes[8]), load<std::uint32_t>(&bytes[12])},
      .url_bytes = load<std::uint32_t>(&bytes[16]),
      .head_bytes = load<std::uint32_t>(&bytes[20]),
      .body_bytes = load<std::uint32_t>(&bytes[24]),
      .claimable_until = load<std::uint32_t>(&bytes[28]),
      .key = {},
      .version = load<std::uint64_t>(&bytes[48]),
      .block = load<std::uint32_t>(&bytes[56]),
      .body_checksum = load<std::uint32_t>(&bytes[60]),
      .response_time = static_cast<std::int64_t>(load<std::uint64_t>(&bytes[64])),
      .request_took = load<std::uint16_t>(&bytes[72]),
      .rule = digest::mark_in(load<std::uint16_t>(&bytes[74])),
  };
  std::copy(&bytes[32], &bytes[48], header.key.bytes.begin());
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

bool head_intact(Bytes header, Bytes url_and_head) {
  const auto own = digest::crc32c(header.first(kHeadChecksumAt));
  return load<std::uint32_t>(&header[kHeadChecksumAt]) == digest::crc32c(url_and_head, own);
}

}  // namespace proxy::cache::disk
