#include "proxy/cache/disk/contents.hpp"

#include <fcntl.h>

#include "digest/crc32c.hpp"
#include "digest/little_endian.hpp"
#include "tests/proxy/cache/disk/scene.hpp"

namespace proxy::cache::disk {
namespace {

using digest::store;

class Verify : public ::testing::Test {
 protected:
  Verify() {
    Scene disk(directory_.path());
    for (int i = 0; i < 3; ++i) {
      const auto at = disk.append(response(url_number(i), body_text(url_number(i), 100)));
      if (at) places_.push_back(*at);
    }
    EXPECT_TRUE(disk.purge(key_for(url_number(9))));
    disk.stop();
    good_ = support::read_file(path_);
  }

  struct Told {
    Fault fault;
    std::uint64_t offset;
    std::uint64_t lost;
    std::string url;

    bool operator==(const Told&) const = default;
    friend void PrintTo(const Told& told, std::ostream* out) {
      *out << to_string(told.fault) << " at " << told.offset << ", " << told.lost << " lost, "
           << told.url;
    }
  };

  std::vector<Told> told_of(const std::string& bytes, std::uint32_t segment = 1) {
    support::write_file(path_, bytes);
    return told_of(segment);
  }
  std::vector<Told> told_of(std::uint32_t segment = 1) {
    const auto file = File::open(AT_FDCWD, path_.c_str(), O_RDONLY);
    std::vector<Told> told;
    verified_ = verify(*file, segment, [&](const Damage& damage) {
      EXPECT_EQ(damage.segment, segment);
      told.push_back({damage.fault, damage.offset, damage.lost_bytes, std::string(damage.url)});
    });
    EXPECT_EQ(verified_.damages, told.size());
    return told;
  }

  std::string flipped(std::uint64_t at) const {
    std::string bytes = good_;
    bytes[at] ^= 4;
    return bytes;
  }
  // The length of a response's record.
  std::uint64_t bytes_of_record() const { return kRecordHeaderBytes + url_number(0).size() + 106; }

  const support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "00000001.segment";
  std::vector<Position> places_;
  std::string good_;
  Verified verified_;
};

TEST_F(Verify, FindsNoDamageInAGoodSegment) {
  EXPECT_EQ(told_of(good_), std::vector<Told>());
  EXPECT_EQ(verified_.records, 4U);
  EXPECT_EQ(verified_.bytes, good_.size());
  EXPECT_EQ(told_of(""), std::vector<Told>());
}

TEST_F(Verify, NamesTheOffsetAndTheLostBytes) {
  const std::uint64_t at = places_[1].offset;
  const std::uint64_t lost = bytes_of_record();
  using Tolds = std::vector<Told>;
  EXPECT_EQ(told_of(flipped(at)), (Tolds{{Fault::no_record, at, lost, ""}}));
  EXPECT_EQ(told_of(flipped(at + 64)), (Tolds{{Fault::head, at, lost, ""}}));
  EXPECT_EQ(told_of(flipped(at + kRecordHeaderBytes)), (Tolds{{Fault::head, at, lost, ""}}));
  EXPECT_EQ(told_of(flipped(at + lost - 1)), (Tolds{{Fault::body, at, lost, url_number(1)}}));
  EXPECT_EQ(verified_.records, 3U);
  EXPECT_EQ(told_of(flipped(9)), (Tolds{{Fault::segment_header, 0, 0, ""}}));
  EXPECT_EQ(verified_.records, 4U);
  EXPECT_EQ(told_of(good_, 2).front().fault, Fault::segment_header);
}

TEST_F(Verify, FindsRecordsWithoutTheFooter) {
  const std::uint64_t end = good_.size() - footer_bytes(4);
  EXPECT_EQ(told_of(flipped(good_.size() - 3)), (std::vector<Told>{{Fault::footer, end, 0, ""}}));
  EXPECT_EQ(verified_.records, 4U);
  EXPECT_EQ(told_of(good_.substr(0, end)), std::vector<Told>());
  EXPECT_EQ(told_of(good_.substr(0, end) + std::string(5000, '\0')), std::vector<Told>());
}

TEST_F(Verify, TellsTheBytesThatACutLoses) {
  const std::uint64_t at = places_[2].offset;
  const std::string cut = good_.substr(0, at + 150);
  EXPECT_EQ(told_of(cut), (std::vector<Told>{{Fault::no_record, at, 150, ""}}));
  EXPECT_EQ(verified_.records, 2U);
  std::string torn = good_.substr(0, good_.size() - footer_bytes(4));
  torn[at + bytes_of_record() - 1] ^= 1;
  const std::uint64_t lost = bytes_of_record();
  EXPECT_EQ(told_of(torn), (std::vector<Told>{{Fault::body, at, lost, url_number(2)}}));
  EXPECT_EQ(verified_.records, 3U) << "the one behind it too";
}

TEST_F(Verify, TakesWhatItCannotKnowAsAWhole) {
  auto header = encode_segment_header(1, 0);
  header[4] = kFormatVersion + 1;
  store(&header[28], digest::crc32c(Bytes(header).first(28)));
  const std::string other = std::string(header.begin(), header.end()) + good_.substr(32);
  EXPECT_EQ(told_of(other), (std::vector<Told>{{Fault::other_version, 0, other.size(), ""}}));
  EXPECT_EQ(told_of("HS"), (std::vector<Told>{{Fault::segment_header, 0, 2, ""}}));
}

TEST_F(Verify, ReadsNothingOfAFileThatIsTooLong) {
  std::filesystem::resize_file(path_, kMaxSegmentBytes + 1);
  EXPECT_EQ(told_of(), (std::vector<Told>{{Fault::too_long, 0, kMaxSegmentBytes + 1, ""}}));
}

TEST_F(Verify, FindsEveryFlippedBitOutsideTheGaps) {
  const auto is_filling = [&](std::uint64_t at) {
    for (const Position place : places_) {
      const std::uint64_t end = place.offset + bytes_of_record();
      if (at >= end && at < aligned(end)) return true;
    }
    return false;
  };
  for (std::uint64_t at = 0; at < good_.size(); ++at) {
    EXPECT_EQ(told_of(flipped(at)).empty(), is_filling(at)) << at;
  }
}

}  // namespace
}  // namespace proxy::cache::disk
