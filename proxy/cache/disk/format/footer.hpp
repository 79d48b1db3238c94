// The end of a sealed segment: a list of its records. With it a start need not read the records.
//
// 32 bytes for each record, in their order, then 32 bytes that end the file:
//    0 16  key in the index                0  4  "HEND"
//   16  4  offset of the record            4  4  number of records
//   20  4  bytes, without the gap after    8  4  number of the segment
//   24  4  claimable until (claim())      12  4  offset where the footer begins
//   28  1  kind                           16  2  purges in the log up to here (format.hpp)
//   29  1  0                              18 10  0
//   30  2  mark of the rule, or 0         28  4  checksum of the footer before this field
// The fields are explained in format.hpp. The footer begins behind the gap after the last record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

inline constexpr std::size_t kFooterEntryBytes = 32;
inline constexpr std::size_t kTrailerBytes = 32;

constexpr std::uint64_t footer_bytes(std::size_t records) {
  return records * kFooterEntryBytes + kTrailerBytes;
}

// A record of a segment, as listed in a footer or found by replay. RecordKind::lost and ::unknown
// stand for damaged records.
struct Listed {
  Key key;  // in the index
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t claimable_until = 0;
  RecordKind kind = RecordKind::whole;
  digest::RuleMark rule = 0;

  bool operator==(const Listed&) const = default;
};

Listed listed(const RecordHeader& header);

// The footer begins at the end of the last record, or behind the segment header.
std::vector<std::uint8_t> encode_footer(std::uint32_t segment, std::span<const Listed> records,
                                        std::uint16_t purges);

struct Trailer {
  std::uint32_t records = 0;
  std::uint32_t footer_offset = 0;
  std::uint16_t purges = 0;
};

// Reads the trailer from the last bytes of a file of `file_bytes`. Nothing if they are no trailer,
// or the trailer does not fit this segment.
std::optional<Trailer> read_trailer(std::span<const std::uint8_t, kTrailerBytes> bytes,
                                    std::uint32_t segment, std::uint64_t file_bytes);
// `footer`: all bytes from Trailer::footer_offset on. Nothing if the footer is damaged.
std::optional<std::vector<Listed>> read_footer(Bytes footer, const Trailer& trailer);

}  // namespace proxy::cache::disk
