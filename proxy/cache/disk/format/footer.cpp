#include "proxy/cache/disk/format/footer.hpp"

#include <algorithm>
#include <array>

#include "digest/crc32c.hpp"
#include "digest/little_endian.hpp"

namespace proxy::cache::disk {
namespace {

using digest::load;
using digest::store;

constexpr std::array<std::uint8_t, 4> kMagic = {'H', 'E', 'N', 'D'};

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
bool follows(const Listed& record, std::uint64_t end, std::uint64_t limit) {
  return record.kind >= RecordKind::whole && record.kind <= RecordKind::unknown &&
         record.offset == end && record.bytes >= kRecordHeaderBytes &&
         end + aligned(record.bytes) <= limit;
}

}  // namespace

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
  std::copy(kMagic.begin(), kMagic.end(), at);
  store(at + 4, static_cast<std::uint32_t>(records.size()));
  store(at + 8, segment);
  store(at + 12, static_cast<std::uint32_t>(end));
  store(at + 16, purges);
  store(at + 28, digest::crc32c(Bytes(footer).first(footer.size() - 4)));
  return footer;
}

std::optional<Trailer> read_trailer(std::span<const std::uint8_t, kTrailerBytes> bytes,
                                    std::uint32_t segment, std::uint64_t file_bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) return std::nullopt;
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
  if (end != trailer.footer_offset) return std::nullopt;
  return records;
}

}  // namespace proxy::cache::disk
