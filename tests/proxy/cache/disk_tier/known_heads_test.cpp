#include "proxy/cache/disk_tier/entry_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache {
namespace {

class HeadsOfADisk : public ::testing::Test {
 protected:
  HeadsOfADisk() {
    open(1);
    open(2);
  }

  // A segment with this number, in place of one before.
  void open(std::uint32_t number) {
    segments_.add(std::make_shared<const disk::Segment>(
        number, *disk::File::open(AT_FDCWD, (home_.path() / "a").c_str(), O_RDWR | O_CREAT)));
  }
  KnownHeads::Head head(disk::Position front, disk::Position body, const Stock& stock = {}) {
    disk::StoredBody stored;
    stored.key = key_of(stock.url);
    stored.front = front;
    stored.at = body;
    stored.size = 1000;
    stored.segment = segments_.find(body.segment);
    return std::make_shared<const KnownHead>(entry_of(budget_, stock), 0, stored,
                                             segments_.find(front.segment));
  }
  KnownHeads::Head head(disk::Position at) { return head(at, at); }
  static disk::Position nth(std::uint32_t n) { return {1, n * disk::kAlignment}; }

  const support::TemporaryDirectory home_;
  disk::Segments segments_;
  Budget budget_{1 << 20};
};

TEST_F(HeadsOfADisk, AreFoundByTheirPosition) {
  KnownHeads heads(budget_);
  const auto one = head({1, 160});
  heads.record(one);
  EXPECT_EQ(heads.find({1, 160}), one);
  EXPECT_EQ(heads.find({1, 176}), nullptr);
  EXPECT_EQ(heads.find({2, 160}), nullptr);
  const auto body = one->body(segments_);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->at, (disk::Position{1, 160}));
  EXPECT_EQ(body->segment, segments_.find(1));
}

TEST_F(HeadsOfADisk, TakeAnEighthOfTheBudgetAtMost) {
  const auto before = budget_.used();
  {
    KnownHeads heads(budget_);
    for (std::uint32_t i = 0; i < 5000; ++i) {
      heads.record(head(nth(i)));
      heads.record(head(nth(i)));  // in place of the first
      EXPECT_LE(heads.bytes(), budget_.limit() / 8);
      EXPECT_EQ(budget_.used() - before, heads.bytes());
    }
    EXPECT_GT(heads.bytes(), budget_.limit() / 16);
    budget_.set_limit(1 << 16);
    for (std::uint32_t i = 0; i < 1000; ++i) heads.record(head(nth(i)));
    EXPECT_LE(heads.bytes(), budget_.limit() / 8);
  }
  EXPECT_EQ(budget_.used(), before);
}

TEST_F(HeadsOfADisk, StayWhileTheyAreUsed) {
  KnownHeads heads(budget_);
  heads.record(head(nth(0)));
  for (std::uint32_t i = 1; i < 5000; ++i) {
    heads.record(head(nth(i)));
    ASSERT_TRUE(heads.find(nth(0))) << i;
  }
  EXPECT_FALSE(heads.find(nth(1)));
}

TEST_F(HeadsOfADisk, AreNotKeptIfTheyAreLarge) {
  KnownHeads heads(budget_);
  Stock large;
  large.lines += "X-Large: " + std::string(20'000, 'x') + "\r\n";
  heads.record(head(nth(1), nth(1), large));
  EXPECT_FALSE(heads.find(nth(1)));
}

TEST_F(HeadsOfADisk, AreKnownNoMoreOnceASegmentIsGone) {
  const auto both = head({2, 160}, {1, 160});  // a newer head
  const auto one = head({2, 160});
  EXPECT_TRUE(both->body(segments_));
  segments_.remove(1);
  EXPECT_FALSE(both->body(segments_));
  EXPECT_TRUE(one->body(segments_));
  segments_.remove(2);
  EXPECT_FALSE(one->body(segments_));
}

TEST_F(HeadsOfADisk, AreNotThoseOfAnotherDirectory) {
  const auto both = head({2, 160}, {1, 160});
  const auto kept = segments_.find(2);  // a response uses it yet
  segments_.clear();
  open(1);
  open(2);
  EXPECT_FALSE(both->body(segments_));
  EXPECT_TRUE(head({2, 160}, {1, 160})->body(segments_));
}

TEST_F(HeadsOfADisk, KeepNoFileOpen) {
  const auto one = head({1, 160});
  const std::weak_ptr<const disk::Segment> segment = segments_.find(1);
  segments_.remove(1);
  EXPECT_TRUE(segment.expired());
}

}  // namespace
}  // namespace proxy::cache
