// The format of the cache on disk.
//
// A directory holds `lock`, which its one writer keeps locked (flock), and segments: append-only
// files named by their number in 8 lower case hex digits and ".segment". The numbers of segments
// rise with time; the number of a segment that has records is not used again while an earlier
// segment is there. Numbers are little-endian, checksums are CRC-32C (RFC 3720).
//
// A segment is 32 bytes of header, records, and once it is sealed a footer (footer.hpp).
//    0  4  "HSYS"                     8  4  number of the segment, 1 to 2^28 - 1
//    4  4  version, 2                12  2  purges before it, below
//                                    14 14  0
//                                    28  4  checksum of bytes 0 to 27
// A record begins at a multiple of 16 bytes; zeros fill the gap before it. It is 80 bytes of
// header, then the URL, the head, the body:
//    0  4  "HREC"                    32 16  key (digest/key.hpp)
//    4  1  kind, below               48  8  version of the object, below; else 0
//    5  1  flags, below              56  4  block's number, from 0; number of all
//                                           blocks where the kind is another; else 0
//    6  2  purges before it, below   60  4  checksum of the body
//    8  4  number of the segment     64  8  when the head had arrived, ms since 1970
//   12  4  offset in the segment     72  4  ms since it was asked for, then
//   16  4  bytes of URL              76  4  checksum of bytes 0 to 75, URL and head
//   20  4  bytes of head
//   24  4  bytes of body
//   28  4  claimable until, seconds since 1970; 0: never (what a neighbour may be told of it)
// The head is opaque here (saved_head.hpp). Kinds:
//    1  whole: a response, head and body
//    2  object: the head of a large response; its blocks have the key of its URL and its version
//    3  block: a MiB of a large object's body, or less at its end; without head
//    4  head: a newer head for the body of the `whole` at version: segment << 32 | offset
//    5  selector: the fields that select among the variants of a URL, each of which has a key of
//       its own; with a version where the claimed variant is an object
//    6  purge: nothing earlier under this key counts
//    7  purge by prefix: nothing earlier whose URL begins with this URL counts; key 0
//    8  searched: entries that a search for purges by prefix found, which do not count any more;
//       with a version where the search is complete: purges by prefix up to that position
//       (segment << 32 | offset) have nothing left to find (searched.hpp)
// Flags: 1 where the record has the version of an object whose blocks were all there when the
// record was written: only then is the object claimable. Of several records with one key (purges
// aside) the newest counts: the one with the higher segment, then offset. A block's record has the
// key of its object's URL (GET, digest/key.hpp). The block is found under a key made of that:
// SipHash-2-4 with 128 bits of output, keyed with the URL's key, of version (8 bytes) and number
// (4).
//
// A crash may cut the newest segment anywhere. A start skips damage and knows what is lost with it
// (replay.hpp): each record and each segment header has the number of records of kinds 6 to 8 that
// the log has before it, modulo 2^16. So no loss of such a record goes unnoticed, but at the very
// end, where a crash cuts as well. Where one may be lost, no earlier record counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "digest/key.hpp"

namespace proxy::cache::disk {

using digest::Key;
using Bytes = std::span<const std::uint8_t>;

inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline constexpr std::uint32_t kFormatVersion = 2;
inline constexpr std::uint32_t kLastSegment = (std::uint32_t{1} << 28) - 1;
inline constexpr std::uint32_t kMaxSegmentBytes = std::uint32_t{1} << 28;
inline constexpr std::uint32_t kAlignment = 16;
inline constexpr std::size_t kSegmentHeaderBytes = 32;
inline constexpr std::size_t kRecordHeaderBytes = 80;
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;  // of a large object

enum class RecordKind : std::uint8_t {
  whole = 1,
  object = 2,
  block = 3,
  head = 4,
  selector = 5,
  purge = 6,
  purge_prefix = 7,
  searched = 8,
  // Only in footers: what is known of a damaged record.
  lost = 9,     // nothing earlier under this key counts
  unknown = 10  // nothing earlier counts at all
};

inline constexpr std::uint8_t kAllHeld = 1;  // flag

// Whether it ends earlier entries, and is no entry itself.
inline bool is_purge(RecordKind kind) {
  return kind >= RecordKind::purge;
}

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Where a record begins. Later ones are greater.
struct Position {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;

  auto operator<=>(const Position&) const = default;
};

constexpr std::uint64_t to_number(Position at) {
  return std::uint64_t{at.segment} << 32 | at.offset;
}
constexpr Position to_position(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number >> 32), static_cast<std::uint32_t>(number)};
}

struct RecordHeader {
  RecordKind kind = RecordKind::whole;
  std::uint8_t flags = 0;
  std::uint16_t purges = 0;  // records of kinds 6 to 8 before it
  Position at{};
  std::uint32_t url_bytes = 0;
  std::uint32_t head_bytes = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t claimable_until = 0;
  Key key{};
  std::uint64_t version = 0;
  std::uint32_t block = 0;
  std::uint32_t body_checksum = 0;
  std::int64_t response_time = 0;
  std::uint32_t request_took = 0;

  bool operator==(const RecordHeader&) const = default;

  // Header, URL and head: one checksum covers them.
  std::uint64_t checked_bytes() const { return kRecordHeaderBytes + url_bytes + head_bytes; }
  // The whole record, without the zeros behind it.
  std::uint64_t bytes() const { return checked_bytes() + body_bytes; }
  // The key under which the entry is found.
  Key index_key() const;
  // Whether its claim depends on the blocks of an object.
  bool claims_blocks() const {
    return kind == RecordKind::object || (kind == RecordKind::selector && version != 0);
  }
  // claimable_until, or 0 for an object that lacked blocks.
  std::uint32_t claim() const {
    return claims_blocks() && (flags & kAllHeld) == 0 ? 0 : claimable_until;
  }
};

// A key made of a key and some bytes: SipHash-2-4 with 128 bits of output, keyed with the key.
Key derived_key(const Key& key, Bytes more);
// `object`: the key of the object's URL.
Key block_key(const Key& object, std::uint64_t version, std::uint32_t block);

std::array<std::uint8_t, kSegmentHeaderBytes> encode_segment_header(std::uint32_t segment,
                                                                    std::uint16_t purges);

enum class SegmentHeader : std::uint8_t { good, other_version, damaged };
SegmentHeader check_segment_header(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes,
                                   std::uint32_t segment);
// Of a good header: the number of records of kinds 6 to 8 before the segment.
std::uint16_t purges_before(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes);

// Sets the lengths of URL and head, and the checksum.
std::array<std::uint8_t, kRecordHeaderBytes> encode(RecordHeader header, Bytes url, Bytes head);

// Decodes the header, whatever the bytes are.
RecordHeader unchecked_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes);
// The same; nothing unless the magic, the kind and the position are right, the record is no longer
// than a segment, and it has no body where its kind has none. The checksum is not checked.
std::optional<RecordHeader> read_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes,
                                        Position at);
// Whether the checksum of header, URL and head matches. `checked`: header.checked_bytes() long; or
// the same in two parts.
bool head_intact(Bytes checked);
bool head_intact(Bytes header, Bytes url_and_head);

}  // namespace proxy::cache::disk
