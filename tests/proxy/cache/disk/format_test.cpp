// The format on disk, byte by byte.
#include <gtest/gtest.h>

#include <algorithm>

#include "digest/crc32c.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {
namespace {

using Buffer = std::vector<std::uint8_t>;

constexpr std::uint32_t kSegment = 0x2a;
constexpr std::uint64_t kVersion = 0x1122334455667788;
constexpr std::string_view kUrl = "http://test.example/a";
constexpr std::uint16_t kPurges = 0x304;  // before the segment

Key some_key() {
  Key key;
  for (std::uint8_t i = 0; i < 16; ++i) key.bytes[i] = static_cast<std::uint8_t>(0x10 + i);
  return key;
}

std::string hex_of(Bytes bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

const std::string kFound = encode(std::vector<Searched>{{some_key(), {kSegment, 0x20}}});

struct Pinned {
  RecordHeader header;
  std::string_view url;
  std::string_view head;
  std::string_view body;
  std::string_view hex;  // with the gap after it
};

// All records and their footer were composed in Python, from the text of the headers.
const std::vector<Pinned> kRecords = {
    {{.kind = RecordKind::whole,
      .flags = 2,
      .purges = 0x304,
      .claimable_until = 0x65432100,
      .key = some_key(),
      .response_time = 0x0123456789ab,
      .request_took = 250},
     kUrl,
     "200 OK\r\n",
     "hello",
     "48524543010204032a00000020000000150000000800000005000000002143651011121314151617"
     "18191a1b1c1d1e1f0000000000000000000000004cbb719aab89674523010000fa00000072954cc7"
     "687474703a2f2f746573742e6578616d706c652f61323030204f4b0d0a68656c6c6f000000000000"
     "0000000000000000"},
    {{.kind = RecordKind::object, .purges = 0x304, .key = some_key(), .version = kVersion},
     kUrl,
     "big",
     "",
     "48524543020004032a000000a0000000150000000300000000000000000000001011121314151617"
     "18191a1b1c1d1e1f887766554433221100000000000000000000000000000000000000001dade057"
     "687474703a2f2f746573742e6578616d706c652f616269670000000000000000"},
    {{.kind = RecordKind::block,
      .purges = 0x304,
      .key = some_key(),
      .version = kVersion,
      .block = 7},
     kUrl,
     "",
     "block",
     "48524543030004032a00000010010000150000000000000005000000000000001011121314151617"
     "18191a1b1c1d1e1f8877665544332211070000004afbf8ce000000000000000000000000aee70b15"
     "687474703a2f2f746573742e6578616d706c652f61626c6f636b000000000000"},
    {{.kind = RecordKind::head,
      .purges = 0x304,
      .claimable_until = 0x65432101,
      .key = some_key(),
      .version = std::uint64_t{kSegment} << 32 | kSegmentHeaderBytes,
      .response_time = -1,
      .request_took = 1},
     kUrl,
     "304",
     "",
     "48524543040004032a00000080010000150000000300000000000000012143651011121314151617"
     "18191a1b1c1d1e1f200000002a0000000000000000000000ffffffffffffffff01000000c4afdecc"
     "687474703a2f2f746573742e6578616d706c652f613330340000000000000000"},
    {{.kind = RecordKind::selector, .purges = 0x304, .key = some_key()},
     kUrl,
     "accept",
     "",
     "48524543050004032a000000f0010000150000000600000000000000000000001011121314151617"
     "18191a1b1c1d1e1f00000000000000000000000000000000000000000000000000000000970c9757"
     "687474703a2f2f746573742e6578616d706c652f616163636570740000000000"},
    {{.kind = RecordKind::purge, .purges = 0x304, .key = some_key()},
     "",
     "",
     "",
     "48524543060004032a00000060020000000000000000000000000000000000001011121314151617"
     "18191a1b1c1d1e1f000000000000000000000000000000000000000000000000000000005dc7f8c2"},
    {{.kind = RecordKind::purge_prefix, .purges = 0x305},
     "http://test.example/",
     "",
     "",
     "48524543070005032a000000b0020000140000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000000000000000003ca45165"
     "687474703a2f2f746573742e6578616d706c652f000000000000000000000000"},
    {{.kind = RecordKind::searched,
      .purges = 0x306,
      .version = std::uint64_t{kSegment} << 32 | 0x2b0},
     "",
     kFound,
     "",
     "48524543080006032a00000020030000000000001800000000000000000000000000000000000000"
     "0000000000000000b00200002a0000000000000000000000000000000000000000000000a1732b85"
     "101112131415161718191a1b1c1d1e1f200000002a0000000000000000000000"},
};

constexpr std::string_view kFooter =
    "101112131415161718191a1b1c1d1e1f200000007200000000214365010000001011121314151617"
    "18191a1b1c1d1e1fa000000068000000000000000200000095d4e469838eed0a00304e6e5fae1755"
    "100100006a0000000000000003000000101112131415161718191a1b1c1d1e1f8001000068000000"
    "0121436504000000101112131415161718191a1b1c1d1e1ff00100006b0000000000000005000000"
    "101112131415161718191a1b1c1d1e1f600200005000000000000000060000000000000000000000"
    "0000000000000000b002000064000000000000000700000000000000000000000000000000000000"
    "2003000068000000000000000800000048454e44080000002a000000900300000703000000000000"
    "00000000142fe088";

RecordHeader header_of(const Pinned& pinned, std::uint32_t offset) {
  RecordHeader header = pinned.header;
  header.at = {kSegment, offset};
  header.url_bytes = static_cast<std::uint32_t>(pinned.url.size());
  header.head_bytes = static_cast<std::uint32_t>(pinned.head.size());
  header.body_bytes = static_cast<std::uint32_t>(pinned.body.size());
  header.body_checksum = digest::crc32c(bytes_of(pinned.body));
  return header;
}

// The segment with the pinned records, and their headers.
struct Written {
  Buffer bytes;
  std::vector<RecordHeader> headers;
  std::vector<Listed> records;
};

void append(Buffer& to, Bytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

Written write_all() {
  Written all;
  append(all.bytes, encode_segment_header(kSegment, kPurges));
  for (const Pinned& pinned : kRecords) {
    const auto header = header_of(pinned, static_cast<std::uint32_t>(all.bytes.size()));
    append(all.bytes, encode(header, bytes_of(pinned.url), bytes_of(pinned.head)));
    for (const auto part : {pinned.url, pinned.head, pinned.body})
      append(all.bytes, bytes_of(part));
    all.bytes.resize(aligned(all.bytes.size()));
    all.headers.push_back(header);
    all.records.push_back(listed(header));
  }
  return all;
}

TEST(DiskFormat, SegmentHeaderIsPinned) {
  EXPECT_EQ(hex_of(encode_segment_header(kSegment, kPurges)),
            "48535953020000002a00000004030000"
            "000000000000000000000000270e7deb");
  const ClockMark clock{0x55667788, std::chrono::hours(-1)};
  const auto marked = encode_segment_header(kSegment, kPurges, clock);
  EXPECT_EQ(hex_of(marked),
            "48535953020000002a00000004030000"
            "887766558011c9ffffffffff90212184");
  EXPECT_EQ(clock_mark(marked), clock);
  EXPECT_EQ(clock_mark(encode_segment_header(1, 0, {1, std::chrono::milliseconds::max()})),
            (ClockMark{1, ClockMark::kMost}));
}

TEST(DiskFormat, EachKindOfRecordIsPinned) {
  const Written all = write_all();
  std::size_t offset = kSegmentHeaderBytes;
  for (const Pinned& pinned : kRecords) {
    const auto size = pinned.hex.size() / 2;
    EXPECT_EQ(hex_of(Bytes(all.bytes).subspan(offset, size)), pinned.hex);
    offset += size;
  }
  EXPECT_EQ(offset, all.bytes.size());
}

TEST(DiskFormat, FooterIsPinned) {
  EXPECT_EQ(hex_of(encode_footer(kSegment, write_all().records, kPurges + 3)), kFooter);
}

TEST(DiskFormat, ReadsBackWhatItWrites) {
  const Written all = write_all();
  for (const RecordHeader& header : all.headers) {
    const auto rest = Bytes(all.bytes).subspan(header.at.offset);
    EXPECT_EQ(read_header(rest.first<kRecordHeaderBytes>(), header.at), header);
    EXPECT_TRUE(head_intact(rest.first(static_cast<std::size_t>(header.checked_bytes()))));
  }
}

TEST(DiskFormat, RefusesARecordOfAnotherPlace) {
  const Written all = write_all();
  const auto first = Bytes(all.bytes).subspan<kSegmentHeaderBytes, kRecordHeaderBytes>();
  EXPECT_TRUE(read_header(first, {kSegment, 32}));
  EXPECT_FALSE(read_header(first, {kSegment, 48}));
  EXPECT_FALSE(read_header(first, {kSegment + 1, 32}));
}

TEST(DiskFormat, TellsAnotherVersionFromDamage) {
  auto bytes = encode_segment_header(kSegment, kPurges);
  EXPECT_EQ(check_segment_header(bytes, kSegment), SegmentHeader::good);
  EXPECT_EQ(check_segment_header(bytes, kSegment + 1), SegmentHeader::damaged);
  bytes[4] = 3;
  EXPECT_EQ(check_segment_header(bytes, kSegment), SegmentHeader::damaged);
  const auto checksum = digest::crc32c(Bytes(bytes).first(28));
  for (std::size_t i = 0; i < 4; ++i) bytes[28 + i] = static_cast<std::uint8_t>(checksum >> 8 * i);
  EXPECT_EQ(check_segment_header(bytes, kSegment), SegmentHeader::other_version);
}

TEST(DiskFormat, FooterReadsBack) {
  const Written all = write_all();
  const auto footer = encode_footer(kSegment, all.records, kPurges + 3);
  const auto end = Bytes(footer).last<kTrailerBytes>();
  const auto trailer = read_trailer(end, kSegment, all.bytes.size() + footer.size());
  ASSERT_TRUE(trailer);
  EXPECT_EQ(trailer->footer_offset, all.bytes.size());
  EXPECT_EQ(read_footer(footer, *trailer), all.records);
  EXPECT_FALSE(read_trailer(end, kSegment + 1, all.bytes.size() + footer.size()));
  EXPECT_FALSE(read_trailer(end, kSegment, all.bytes.size() + footer.size() + 1));
}

TEST(DiskFormat, NoDamagedFooterIsBelieved) {
  const Written all = write_all();
  const auto footer = encode_footer(kSegment, all.records, kPurges + 3);
  for (std::size_t bit = 0; bit < footer.size() * 8; ++bit) {
    auto damaged = footer;
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ 1 << bit % 8);
    const auto trailer = read_trailer(Bytes(damaged).last<kTrailerBytes>(), kSegment,
                                      all.bytes.size() + footer.size());
    EXPECT_FALSE(trailer && read_footer(damaged, *trailer)) << bit;
  }
}

TEST(DiskFormat, AListOfSearchedEntriesReadsBack) {
  const std::vector<Searched> found{{some_key(), {1, 32}}, {{}, {kLastSegment, 0xfffffff0}}};
  EXPECT_EQ(decode_searched(encode(found)), found);
  EXPECT_EQ(decode_searched(""), std::vector<Searched>());
  EXPECT_FALSE(decode_searched(encode(found).substr(1)));
}

}  // namespace
}  // namespace proxy::cache::disk
