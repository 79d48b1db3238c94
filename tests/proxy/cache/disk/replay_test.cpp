// Which records replay finds in a segment without a footer, and how it continues behind damage.
#include "proxy/cache/disk/scan.hpp"

#include <algorithm>

#include "digest/crc32c.hpp"
#include "digest/little_endian.hpp"
#include "proxy/cache/disk/format.hpp"
#include "scene.hpp"

namespace proxy::cache::disk {
namespace {

using digest::store;

constexpr std::uint32_t kNumber = 3;
constexpr std::uint16_t kPurgesBefore = 0xffff;  // the next number is 0

// A segment composed by hand.
class Replaying : public testing::Test {
 protected:
  Replaying() {
    const auto header = encode_segment_header(kNumber, kPurgesBefore);
    file_.assign(header.begin(), header.end());
  }

  void add(RecordKind kind, const std::string& url, const std::string& head,
           const std::string& body) {
    RecordHeader header{.kind = kind,
                        .purges = purges_,
                        .at = {kNumber, static_cast<std::uint32_t>(file_.size())},
                        .key = key_for(url)};
    header.url_bytes = static_cast<std::uint32_t>(url.size());
    header.head_bytes = static_cast<std::uint32_t>(head.size());
    header.body_bytes = static_cast<std::uint32_t>(body.size());
    header.body_checksum = digest::crc32c(bytes_of(body));
    const auto begin = encode(header, bytes_of(url), bytes_of(head));
    file_.insert(file_.end(), begin.begin(), begin.end());
    for (const auto* part : {&url, &head, &body}) {
      file_.insert(file_.end(), part->begin(), part->end());
    }
    file_.resize(aligned(file_.size()));
    if (is_purge(kind)) purges_ = static_cast<std::uint16_t>(purges_ + 1);
    records_.push_back(listed(header));
  }
  void add_response(int number) {
    add(RecordKind::whole, url_number(static_cast<std::uint64_t>(number)), "head",
        body_text("b", 100));
  }
  void add_purge(int number) {
    add(RecordKind::purge, url_number(static_cast<std::uint64_t>(number)), "", "");
  }
  void add_one_of_each() {
    add_response(1);
    add(RecordKind::selector, url_number(2), "accept", "");
    add_purge(3);
    add_response(4);
    add(RecordKind::purge_prefix, "http://test.example/5", "", "");
    add(RecordKind::searched, "", encode(std::vector<Searched>{{key_for("x"), {1, 32}}}), "");
    add_response(6);
  }
  // Damages the header of this record so much that it cannot be mended.
  void destroy(std::size_t record) {
    std::fill_n(file_.begin() + records_[record].offset, kRecordHeaderBytes, std::uint8_t{0xff});
  }
  Scanned replayed() const { return replay(file_, kNumber, kPurgesBefore); }
  std::vector<RecordKind> kinds() const {
    std::vector<RecordKind> kinds;
    for (const Listed& record : replayed().records) kinds.push_back(record.kind);
    return kinds;
  }

  std::vector<std::uint8_t> file_;
  std::vector<Listed> records_;
  std::uint16_t purges_ = kPurgesBefore;
};

using Kinds = std::vector<RecordKind>;

TEST_F(Replaying, FindsAllGoodRecords) {
  add_one_of_each();
  const auto found = replayed();
  EXPECT_EQ(found.records, records_);
  EXPECT_EQ(found.end, file_.size());
  EXPECT_EQ(found.purges, purges_);
  EXPECT_FALSE(found.cut || found.damaged);
}

TEST_F(Replaying, FindsCompleteRecordsWhereverTheFileIsCut) {
  add_one_of_each();
  const auto whole = file_;
  for (std::size_t size = kSegmentHeaderBytes; size <= whole.size(); ++size) {
    file_.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto found = replayed();
    const auto before = std::count_if(records_.begin(), records_.end(), [size](const auto& one) {
      return one.offset + one.bytes <= size;
    });
    ASSERT_EQ(found.records.size(), static_cast<std::size_t>(before)) << size;
    EXPECT_TRUE(std::equal(found.records.begin(), found.records.end(), records_.begin())) << size;
    EXPECT_FALSE(found.damaged) << size;
  }
}

// A damaged purge still counts as a purge, or nothing earlier counts. All other records stay as
// they were.
TEST_F(Replaying, AFlippedBitLosesOnlyOneRecord) {
  add_one_of_each();
  for (std::size_t bit = 8 * kSegmentHeaderBytes; bit < 8 * file_.size(); ++bit) {
    const auto turn = [&] { file_[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8); };
    turn();
    const auto found = replayed();
    turn();
    ASSERT_EQ(found.records.size(), records_.size()) << bit;
    EXPECT_EQ(found.purges, purges_) << bit;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const Listed& was = records_[i];
      const Listed& is = found.records[i];
      ASSERT_EQ(is.offset, was.offset) << bit;
      if (is == was) continue;
      EXPECT_TRUE(was.offset <= bit / 8 && bit / 8 < was.offset + was.bytes) << bit;
      const bool purges = is.kind == was.kind || is.kind == RecordKind::unknown;
      EXPECT_TRUE(is_purge(was.kind) ? purges : is.kind == RecordKind::lost) << bit;
      if (is.kind == RecordKind::lost && bit / 8 - was.offset < kRecordHeaderBytes) {
        EXPECT_EQ(is.key, was.key) << bit;
      }
    }
  }
}

TEST_F(Replaying, BehindDamageOfUnknownLengthOnlyPurgesCount) {
  add_one_of_each();
  destroy(1);
  EXPECT_EQ(kinds(),
            (Kinds{RecordKind::whole, RecordKind::lost, RecordKind::purge, RecordKind::lost,
                   RecordKind::purge_prefix, RecordKind::unknown, RecordKind::lost}));
  EXPECT_EQ(replayed().records[3].key, records_[3].key) << "or what it replaced would be back";
  EXPECT_TRUE(replayed().damaged);
}

// The record looks cut by a crash, but two bits of its header are flipped, one more than can be
// mended.
TEST_F(Replaying, ALengthBeyondTheEndHidesNoPurge) {
  constexpr std::size_t kTime = 64, kTopOfBodyBytes = 27;
  add_response(1);
  add_response(2);
  add_purge(1);
  add_response(3);
  for (const std::size_t byte : {kTime, kTopOfBodyBytes}) file_[records_[1].offset + byte] ^= 4;
  EXPECT_EQ(kinds(),
            (Kinds{RecordKind::whole, RecordKind::lost, RecordKind::purge, RecordKind::lost}));
  EXPECT_TRUE(replayed().damaged);
  EXPECT_FALSE(replayed().cut);
}

TEST_F(Replaying, NothingEarlierCountsIfAPurgeMayBeLost) {
  add_response(1);
  add_purge(2);
  add_response(3);
  add_response(4);
  destroy(1);
  EXPECT_EQ(kinds(),
            (Kinds{RecordKind::whole, RecordKind::unknown, RecordKind::lost, RecordKind::lost}));
  std::fill_n(file_.begin() + records_[0].offset, records_[2].offset - records_[0].offset,
              std::uint8_t{0});
  EXPECT_EQ(kinds(), (Kinds{RecordKind::unknown, RecordKind::lost, RecordKind::lost}))
      << "the sector of both";
}

TEST_F(Replaying, TheLastRecordMayHaveBeenAPurge) {
  add_response(1);
  add_purge(2);
  destroy(1);
  EXPECT_EQ(kinds(), (Kinds{RecordKind::whole, RecordKind::unknown}));
  EXPECT_EQ(replayed().end, file_.size());
}

// The process was killed when half of the footer was written; or the footer is damaged.
TEST_F(Replaying, TheRestOfAFooterIsNoPurge) {
  add_one_of_each();
  const auto footer = encode_footer(kNumber, records_, purges_);
  const auto records = file_;
  for (std::size_t size = 1; size <= footer.size(); ++size) {
    file_ = records;
    file_.insert(file_.end(), footer.begin(), footer.begin() + static_cast<std::ptrdiff_t>(size));
    const auto found = replayed();
    ASSERT_EQ(found.records, records_) << size;
    EXPECT_EQ(found.cut, size < footer.size()) << size;
  }
  file_.back() ^= 1;
  EXPECT_EQ(replayed().records, records_);
  EXPECT_TRUE(replayed().damaged);
}

// A body may be full of forged heads, each of which claims to reach to the end of the file: to
// check them all would take forever. Replay does not look behind them, so no record before them
// counts.
TEST_F(Replaying, GivesUpOnEndlessForgedHeads) {
  for (const std::uint32_t made_up : {100, 30'000}) {
    file_.resize(kSegmentHeaderBytes);
    records_.clear();
    purges_ = kPurgesBefore;
    add_response(1);
    add_response(2);
    destroy(1);
    for (std::uint32_t i = 0; i < made_up; ++i) {
      const auto at = static_cast<std::uint32_t>(file_.size());
      auto head = encode({.kind = RecordKind::whole, .at = {kNumber, at}}, {}, {});
      store(&head[20],
            static_cast<std::uint32_t>(kRecordHeaderBytes * (made_up - i)));  // bytes of head
      file_.insert(file_.end(), head.begin(), head.end());
    }
    add_purge(3);
    const auto expected = made_up == 100
                              ? Kinds{RecordKind::whole, RecordKind::lost, RecordKind::purge}
                              : Kinds{RecordKind::whole, RecordKind::unknown};
    EXPECT_EQ(kinds(), expected) << made_up;
    EXPECT_EQ(replayed().end, file_.size());
  }
}

// The body of a response may contain a forged record, and the response's own head may be damaged.
TEST_F(Replaying, ARecordWithinABodyIsNotFound) {
  add_response(1);
  const auto begin = static_cast<std::uint32_t>(file_.size() + aligned(kRecordHeaderBytes + 30));
  const std::string url = url_number(9);
  RecordHeader header{
      .kind = RecordKind::whole, .purges = purges_, .at = {kNumber, begin}, .key = key_for(url)};
  header.url_bytes = static_cast<std::uint32_t>(url.size());
  header.body_bytes = 4;
  header.body_checksum = digest::crc32c(bytes_of("evil"));
  const auto made_up = encode(header, bytes_of(url), {});
  const auto url_bytes = aligned(kRecordHeaderBytes + 30) - kRecordHeaderBytes - 4;
  std::string body(made_up.begin(), made_up.end());
  body += url + "evil";
  body.resize(aligned(body.size()));
  add(RecordKind::whole, body_text(url_number(2), url_bytes), "head", body);
  add_response(3);
  ASSERT_TRUE(std::equal(made_up.begin(), made_up.end(), file_.begin() + begin));
  destroy(1);
  for (const Listed& found : replayed().records) {
    EXPECT_TRUE(found.key != key_for(url) || found.kind == RecordKind::lost);
  }
}

}  // namespace
}  // namespace proxy::cache::disk
