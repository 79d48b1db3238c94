// The format of the cache on disk.
//
// A directory holds `lock`, which its one writer keeps locked (flock), and segments: append-only
// files named by their number in 8 lower case hex digits and ".segment". The numbers of segments
// rise with time. While an earlier segment exists, the number of a segment that has records is not
// used again. Numbers are little-endian, checksums are CRC-32C (RFC 3720).
//
// A segment is 32 bytes of header, then records; a sealed segment ends with a footer (footer,
// below).
//    0  4  "HSYS"                     8  4  number of the segment, 1 to 2^28 - 1
//    4  4  version, 2                12  2  number of purges before it, below
//                                    14  2  0
//                                    16  4  number of the run that began it; earlier programs: 0
//                                    20  8  ms by which wall time had been set ahead in that run
//                                    28  4  checksum of bytes 0 to 27
// A record begins at a multiple of 16 bytes; zeros fill the gap before it. It is 80 bytes of
// header, then the URL, the head, the body:
//    0  4  "HREC"                    32 16  key (digest/key.hpp)
//    4  1  kind, below               48  8  version of the object, below; else 0
//    5  1  flags, below              56  4  of a block: its number, from 0; of an object or its
//                                           selector: how many blocks it has; else 0
//    6  2  number of purges          60  4  checksum of the body
//          before it, below          64  8  when the head had arrived, ms since 1970
//    8  4  number of the segment     72  2  ms from the request to that time, at most 65,535
//   12  4  offset in the segment     74  2  mark of the rule of the claim, below; or 0
//   16  4  bytes of URL              76  4  checksum of bytes 0 to 75, URL and head
//   20  4  bytes of head
//   24  4  bytes of body
//   28  4  claimable until, seconds since 1970: until then our digest may claim it; 0: never. With
//          a mark (digest/rule.hpp) only neighbours that have the rule are told
// Earlier programs wrote the time at 72 in 4 bytes. Of such a record that took longer than 65,535
// ms, the upper ones are a mark that no neighbour has. The format of the head is in saved_head.hpp;
// nothing here reads it. Kinds:
//    1  whole: a response, head and body
//    2  object: the head of a large response; its blocks have the key of its URL and its version
//    3  block: a MiB of a large object's body, or less at its end; without head
//    4  head: a newer head for the body of a `whole`. The version is the position of that `whole`:
//       segment << 32 | offset
//    5  selector: the fields that select among the variants of a URL. Each variant has a key of its
//       own. The version is that of the claimed variant if that variant is an object, else 0
//    6  purge: nothing earlier under this key counts
//    7  purge by prefix: nothing earlier whose URL begins with this URL counts; key 0
//    8  searched: a list of entries that purges by prefix cover; these entries no longer count
//       (struct Searched). A version ends the search: every entry that a purge by prefix up to this
//       position (segment << 32 | offset) covers has been listed
// Flag 1: all blocks of the object with this version were there when the record was written.
// Without this flag, an object is claimable only with the mark digest::kOfPart, for the part that
// is there, and not at all without that mark. The other seven flags are a number: the tag of the
// neighbour that gave the content, or 0 for the origin. Of several records with one key (purges
// aside) the newest counts: the one with the higher segment, then offset. A block's record has the
// key of its object's URL (GET, digest/key.hpp). The index finds the block under a key derived from
// it: SipHash-2-4 with 128 bits of output, keyed with the URL's key, over version (8 bytes) and
// number (4 bytes).
//
// A crash may cut the newest segment anywhere. A start skips damage (scan.hpp). It must not
// overlook that a purge was in the damage, or purged entries would be served again. So each record
// and each segment header has the number of records of kinds 6 to 8 that the log has before it,
// modulo 2^16: a lost one shows in the next number. Only a loss at the very end of the log, where a
// crash cuts as well, shows nowhere. If a record of kinds 6 to 8 may be lost, no earlier record
// counts.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/key.hpp"
#include "digest/rule.hpp"

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
  // Only in footers: they stand for damaged records.
  lost = 9,     // its key is known: nothing earlier under this key counts
  unknown = 10  // it may have been a purge: nothing earlier counts at all
};

inline constexpr std::uint8_t kAllHeld = 1;  // flag

// Names the neighbour that gave content: 1 to 127. Two neighbours may share a tag. 0: the origin.
using GiverTag = std::uint8_t;

// Whether records of this kind remove earlier entries, and are no entries themselves.
inline bool is_purge(RecordKind kind) {
  return kind >= RecordKind::purge;
}

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Where a record begins. A later record has a greater position.
struct Position {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;

  auto operator<=>(const Position&) const = default;
};

inline constexpr Position kLastPosition{UINT32_MAX, UINT32_MAX};

constexpr std::uint64_t to_number(Position at) {
  return std::uint64_t{at.segment} << 32 | at.offset;
}
constexpr Position to_position(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number >> 32), static_cast<std::uint32_t>(number)};
}

// How much of an object is there. Less than all lets our digest claim a part (digest::kOfPart).
enum class Blocks : std::uint8_t { none, some, all };

// A record's header, with a member for each of its fields. `at` stands for two fields, the number
// of the segment and the offset in it; the magic number and the checksum of the header have no
// member.
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
  std::uint16_t request_took = 0;
  digest::RuleMark rule = 0;

  bool operator==(const RecordHeader&) const = default;

  GiverTag giver() const { return flags >> 1; }
  void set_giver(GiverTag tag) { flags = static_cast<std::uint8_t>((flags & kAllHeld) | tag << 1); }
  // Header, URL and head: one checksum covers them.
  std::uint64_t checked_bytes() const { return kRecordHeaderBytes + url_bytes + head_bytes; }
  // The whole record, without the zeros behind it.
  std::uint64_t bytes() const { return checked_bytes() + body_bytes; }
  // The key under which the entry is found.
  Key index_key() const;
  // Whether the record is claimable only while all blocks of an object are there.
  bool claims_blocks() const {
    return kind == RecordKind::object || (kind == RecordKind::selector && version != 0);
  }
  // Which blocks of the object were there when the record was written. Only for claims_blocks().
  Blocks blocks() const {
    if ((flags & kAllHeld) != 0) return Blocks::all;
    return rule == digest::kOfPart ? Blocks::some : Blocks::none;
  }
  // Says so. A claim by a rule lasts only while all blocks are there: then `some` counts as `none`.
  void set_blocks(Blocks held) {
    flags = static_cast<std::uint8_t>((flags & ~kAllHeld) | (held == Blocks::all ? kAllHeld : 0));
    if (rule == digest::kOfPart) rule = 0;
    if (rule == 0 && held == Blocks::some) rule = digest::kOfPart;
  }
  // claimable_until, or 0 if no blocks of the object were there.
  std::uint32_t claim() const {
    return claims_blocks() && blocks() == Blocks::none ? 0 : claimable_until;
  }
};

// SipHash-2-4 of `more` with 128 bits of output, keyed with `key`.
Key derived_key(const Key& key, Bytes more);
// `object`: the key of the object's URL.
Key block_key(const Key& object, std::uint64_t version, std::uint32_t block);

// The clock of the run that began a segment, as the segment tells it.
struct ClockMark {
  // The most that a clock is taken to be ahead or behind: about 280 years.
  static constexpr std::chrono::milliseconds kMost{std::int64_t{1} << 43};

  std::uint32_t run = 0;
  std::chrono::milliseconds ahead{0};  // wall time, of what it would be without steps in that run

  bool operator==(const ClockMark&) const = default;
};

std::array<std::uint8_t, kSegmentHeaderBytes> encode_segment_header(std::uint32_t segment,
                                                                    std::uint16_t purges,
                                                                    const ClockMark& clock = {});

enum class SegmentHeader : std::uint8_t { good, other_version, damaged };
SegmentHeader check_segment_header(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes,
                                   std::uint32_t segment);
// The number of records of kinds 6 to 8 before the segment. `bytes`: a good header.
std::uint16_t purges_before(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes);
ClockMark clock_mark(std::span<const std::uint8_t, kSegmentHeaderBytes> bytes);

// Encodes the header with the lengths of `url` and `head`, and the checksum of all three.
std::array<std::uint8_t, kRecordHeaderBytes> encode(RecordHeader header, Bytes url, Bytes head);

// Decodes any bytes as a header, without a check.
RecordHeader unchecked_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes);
// Decodes a header and checks all but the checksum. Nothing unless magic, kind and position are
// right, the record is no longer than a segment, and only a kind with a body has one.
std::optional<RecordHeader> read_header(std::span<const std::uint8_t, kRecordHeaderBytes> bytes,
                                        Position at);
// Whether the checksum of header, URL and head matches. `checked`: header.checked_bytes() long. The
// second form takes these bytes in two parts.
bool head_intact(Bytes checked);
bool head_intact(Bytes header, Bytes url_and_head);

// One of the entries in the head of a `searched` record: a list of entries that purges by prefix
// cover. Each entry takes 24 bytes: its key, and its position (segment << 32 | offset) in
// little-endian order.
struct Searched {
  Key key;
  Position at;

  bool operator==(const Searched&) const = default;
};

inline constexpr std::size_t kSearchedBytes = 24;

std::string encode(std::span<const Searched> found);
// Returns nothing if the length is no multiple of 24.
std::optional<std::vector<Searched>> decode_searched(std::string_view head);

// The end of a sealed segment: a list of its records. With it a start need not read the records.
//
// 32 bytes for each record, in their order, then 32 bytes that end the file:
//    0 16  key in the index                0  4  "HEND"
//   16  4  offset of the record            4  4  number of records
//   20  4  bytes, without the gap after    8  4  number of the segment
//   24  4  claimable until (claim())      12  4  offset where the footer begins
//   28  1  kind                           16  2  purges in the log up to here
//   29  1  0                              18 10  0
//   30  2  mark of the rule, or 0         28  4  checksum of the footer before this field
// The fields are explained above. The footer begins behind the gap after the last record.
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
