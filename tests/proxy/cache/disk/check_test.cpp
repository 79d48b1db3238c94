#include "tests/proxy/cache/disk/scene.hpp"

namespace proxy::cache::disk {
namespace {

class DiskCheck : public ::testing::Test {
 protected:
  void flip(std::string_view what) const {
    const auto path = directory_ / "00000001.segment";
    std::string bytes = support::read_file(path);
    bytes[bytes.find(what)] ^= 1;
    support::write_file(path, bytes);
  }
  Result<void> check(const Key& key) {
    const auto place = disk_->catalog().index.find(key);
    url_.clear();
    return place ? disk_->check(key, *place, url_) : Error::gone;
  }

  const support::TemporaryDirectory directory_;
  Scene disk_{directory_.path()};
  std::string url_;
};

TEST_F(DiskCheck, TellsGoodRecordsFromDamagedOnes) {
  for (const char* url : {"http://a/good", "http://a/head", "http://a/body"}) {
    ASSERT_TRUE(disk_.append(response(url, std::string("the body of ") + url)));
  }
  flip("http://a/head");
  flip("the body of http://a/body");
  EXPECT_TRUE(check(key_for("http://a/good")));
  EXPECT_EQ(url_, "http://a/good");
  EXPECT_EQ(check(key_for("http://a/head")).error(), Error::corrupt);
  EXPECT_EQ(url_, "") << "nobody knows whose it is";
  EXPECT_EQ(check(key_for("http://a/body")).error(), Error::corrupt);
  EXPECT_EQ(url_, "http://a/body");
  EXPECT_EQ(disk_->catalog().index.entries(), 1U);
  EXPECT_EQ(disk_->catalog().counters.corrupt, 2U);
}

TEST_F(DiskCheck, CountsNoUse) {
  ASSERT_TRUE(disk_.append(response("http://a/", "x")));
  EXPECT_TRUE(check(key_for("http://a/")));
  EXPECT_FALSE(disk_->catalog().index.find(key_for("http://a/"))->used);
}

// An object of one block, and the record that has its claim: the object's own, or a selector.
struct DiskCheckOfABlock : DiskCheck {
  NewRecord record_of(RecordKind kind, const Key& key) const {
    return {.header =
                {.kind = kind, .claimable_until = UINT32_MAX, .key = key, .version = 3, .block = 1},
            .url = url,
            .head = "200 OK"};
  }
  void put_block() {
    const RecordHeader header{.kind = RecordKind::block, .key = key_for(url), .version = 3};
    const auto body = body_of("the body of the block");
    ASSERT_TRUE(disk_.append({.header = header, .url = url, .head = {}, .body = body}));
  }
  std::uint32_t claimed() const {
    return disk_->catalog().index.find(key_for(url))->claimable_until;
  }

  const std::string url = "http://a/";
};

TEST_F(DiskCheckOfABlock, EndsTheClaimOfItsObjectForGood) {
  put_block();
  ASSERT_TRUE(disk_.append(record_of(RecordKind::object, key_for(url))));
  ASSERT_NE(claimed(), 0U);
  flip("the body of the block");
  EXPECT_EQ(check(block_key(key_for(url), 3, 0)).error(), Error::corrupt);
  EXPECT_EQ(claimed(), 0U);
  ASSERT_TRUE(disk_->queue().settle(kPatience));
  EXPECT_EQ(claimed(), 0U);
  EXPECT_EQ(disk_->catalog().index.count(RecordKind::block), 0U);
}

TEST_F(DiskCheckOfABlock, EndsTheClaimOfAVariantWhereNobodyKnowsOfWhichItIs) {
  put_block();
  NewRecord variant = record_of(RecordKind::object, key_for("what a selector makes of the URL"));
  variant.header.claimable_until = 0;
  ASSERT_TRUE(disk_.append(variant));
  ASSERT_TRUE(disk_.append(record_of(RecordKind::selector, key_for(url))));
  ASSERT_NE(claimed(), 0U);
  flip(url);  // of the block, which comes first
  EXPECT_EQ(check(block_key(key_for(url), 3, 0)).error(), Error::corrupt);
  ASSERT_TRUE(disk_->queue().settle(kPatience));
  EXPECT_EQ(claimed(), 0U);
}

}  // namespace
}  // namespace proxy::cache::disk
