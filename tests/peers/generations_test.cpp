#include "peers/publisher.hpp"

#include <gtest/gtest.h>

#include "digest/counting_filter.hpp"
#include "tests/peers/samples.hpp"

namespace peers {
namespace {

constexpr std::uint64_t kEpoch = 0xab;
constexpr std::size_t kRoom = std::size_t{1} << 20;

class GenerationsTest : public testing::Test {
 protected:
  // Closes the next generation, which holds the numbers from `first` to `last`.
  void close(int first, int last, std::uint64_t epoch = kEpoch) {
    auto filter = *digest::BloomFilter::create(
        {.bits = 12'000, .hashes = 8, .derivation = digest::Derivation::salted});
    for (int i = first; i < last; ++i) filter.insert(samples::key(std::to_string(i)));
    const bool begins = epoch != epoch_;
    generation_ = begins ? 1 : generation_ + 1;
    epoch_ = epoch;
    const digest::NativeHead head{.shape = filter.shape(),
                                  .epoch = epoch,
                                  .generation = generation_,
                                  .bits_set = filter.bits_set()};
    if (begins) {
      generations_.begin(head, {filter.bytes().begin(), filter.bytes().end()});
    } else {
      generations_.close(head, digest::flips_between(last_, filter));
    }
    last_ = std::move(filter);
  }
  digest::NativeDigest whole() const {
    return *digest::decode_native(generations_.since(0, 0)->body, nullptr, kRoom);
  }
  bool leads_to_newest(const digest::NativeDigest& held) const {
    const auto form = generations_.since(held.epoch, held.generation);
    const auto decoded = digest::decode_native(form->body, &held, kRoom);
    return decoded && *decoded == whole();
  }
  std::size_t bytes_since(std::uint64_t since, std::uint64_t epoch = kEpoch) const {
    return generations_.since(epoch, since)->body.size();
  }

  Generations generations_;

 private:
  digest::BloomFilter last_ = *digest::BloomFilter::create({.bits = 1, .hashes = 1});
  std::uint64_t epoch_ = 0;
  std::uint64_t generation_ = 0;
};

TEST_F(GenerationsTest, LeadFromAnyRecentOneToTheNewest) {
  std::vector<digest::NativeDigest> all;
  for (int i = 0; i < 6; ++i) {
    close(3 * i, 3 * i + 200);  // some bits change twice on the way
    all.push_back(whole());
    for (const auto& held : all) EXPECT_TRUE(leads_to_newest(held)) << held.generation;
  }
  EXPECT_LT(bytes_since(5), 250U);
  EXPECT_LT(bytes_since(1), 700U);
}

TEST_F(GenerationsTest, TakeWhatTurnedOverInAnyOrderAndAsOftenAsItDid) {
  close(0, 100);
  const auto before = whole();
  const digest::Key added = samples::key("added");
  auto counting = *digest::CountingFilter::create(before.filter.shape());
  for (int i = 0; i < 100; ++i) counting.add(samples::key(std::to_string(i)));
  digest::CountingFilter::Turned turned;
  for (int i = 0; i < 3; ++i) {
    counting.add(added, &turned);
    counting.remove(added, &turned);
  }
  counting.add(added, &turned);
  digest::NativeHead head = digest::head_of(before);
  head.generation = 2;
  head.bits_set = counting.bits_set();
  generations_.close(head, turned);
  EXPECT_EQ(whole().filter, counting.projection());
  EXPECT_TRUE(leads_to_newest(before));
  EXPECT_LT(bytes_since(1), digest::kNativeHeaderBytes + 20);
}

TEST_F(GenerationsTest, GiveTheHeaderAloneToWhoHoldsTheNewest) {
  close(0, 100);
  EXPECT_EQ(bytes_since(1), digest::kNativeHeaderBytes);
  EXPECT_TRUE(leads_to_newest(whole()));
}

TEST_F(GenerationsTest, GiveASnapshotToWhoHoldsNothingThatIsKnown) {
  close(0, 200);
  close(0, 201);
  const auto snapshot = generations_.since(0, 0);
  for (const std::uint64_t since : {0ULL, 3ULL, ~0ULL}) {
    EXPECT_EQ(generations_.since(kEpoch, since), snapshot) << since;
  }
  EXPECT_EQ(generations_.since(kEpoch + 1, 1), snapshot);
}

TEST_F(GenerationsTest, GiveASnapshotWhereThatIsShorter) {
  close(0, 600);
  const auto before = whole();
  close(600, 1200);
  EXPECT_LE(bytes_since(1), digest::kNativeHeaderBytes + 1500);
  EXPECT_TRUE(leads_to_newest(before));
}

// Most keys were removed, so what is left has a shorter code than what changed.
TEST_F(GenerationsTest, GiveASnapshotWhereThatIsShorterAsGaps) {
  close(0, 200);
  const auto before = whole();
  close(0, 10);
  EXPECT_EQ(generations_.since(kEpoch, 1), generations_.since(0, 0));
  EXPECT_LT(bytes_since(1), digest::kNativeHeaderBytes + 150);
  EXPECT_TRUE(leads_to_newest(before));
}

TEST_F(GenerationsTest, DropWhatWasInAnotherEpoch) {
  close(0, 100);
  const auto before = whole();
  close(0, 100, kEpoch + 1);
  close(0, 101, kEpoch + 1);
  EXPECT_EQ(whole().epoch, kEpoch + 1);
  EXPECT_TRUE(leads_to_newest(before));
}

TEST_F(GenerationsTest, KeepNoMoreThanTheFilterTakesAndSoManySteps) {
  close(0, 100);
  for (int i = 1; i < 50; ++i) close(100 * i, 100 * i + 100);
  EXPECT_EQ(generations_.since(kEpoch, 1), generations_.since(0, 0));
  EXPECT_TRUE(leads_to_newest(whole()));
  for (std::size_t i = 0; i < Generations::kMaxSteps; ++i) close(0, 1);
  EXPECT_EQ(bytes_since(51), digest::kNativeHeaderBytes);
  EXPECT_EQ(generations_.since(kEpoch, 49), generations_.since(0, 0));
}

TEST_F(GenerationsTest, MakeAMessageOnceForAll) {
  close(0, 10);
  close(0, 11);
  EXPECT_EQ(generations_.since(kEpoch, 1), generations_.since(kEpoch, 1));
  EXPECT_EQ(generations_.since(kEpoch, 1)->etag, "\"00000000000000ab-2\"");
}

}  // namespace
}  // namespace peers
