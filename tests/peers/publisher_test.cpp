#include "peers/publisher.hpp"

#include <gtest/gtest.h>

#include "digest/squid_digest.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::key;

const WallTime kNow{1'700'000'000s};

digest::Key numbered(int number) {
  return key(std::to_string(number));
}

class PublisherTest : public testing::Test {
 protected:
  void add(int first, int last) {
    for (int i = first; i < last; ++i) holdings_.add(numbered(i));
  }
  void remove(int first, int last) {
    for (int i = first; i < last; ++i) holdings_.remove(numbered(i));
  }
  std::shared_ptr<const Published> tick() {
    now_ += settings_.period;
    publisher_.tick(now_);
    return publisher_.current();
  }
  // Ticks long enough for the Squid form to be renewed.
  std::shared_ptr<const Published> settle() {
    for (int i = 0; i < 20; ++i) tick();
    return publisher_.current();
  }
  static digest::SquidDigest squid(const Published& published) {
    return *digest::decode(published.squid->body);
  }

  config::DigestSettings settings_;
  samples::ListedHoldings holdings_;
  WallTime now_ = kNow;
  Publisher publisher_{holdings_, settings_, kNow, digest::unpredictable()};
};

TEST_F(PublisherTest, IsValidFromTheFirstMomentAlsoWhenEmpty) {
  const auto published = publisher_.current();
  EXPECT_EQ(published->live.entries, 0U);
  EXPECT_EQ(published->live.capacity, 1024U);
  EXPECT_EQ(published->live.generation, 1U);
  EXPECT_EQ(published->live.epoch.size(), 16U);
  EXPECT_EQ(published->live.hashes, 8U);
  EXPECT_EQ(published->live.bits_per_entry, 12.0);
  EXPECT_EQ(published->live.bytes, 1536U);
  EXPECT_EQ(published->live.built_at, kNow);
  EXPECT_EQ(published->expires_after, 10s);
  EXPECT_EQ(published->squid->last_modified, kNow);
  EXPECT_EQ(published->squid->stats.bits_per_entry, 10.0);
  EXPECT_EQ(published->squid->stats.hashes, 4U);
  EXPECT_EQ(published->squid->stats.bytes, published->squid->body.size());
  EXPECT_EQ(squid(*published).count, 0U);
}

TEST_F(PublisherTest, ListsWhatWasHeldBefore) {
  samples::ListedHoldings full;
  full.add(key("x"));
  const Publisher publisher(full, settings_, kNow, digest::unpredictable());
  EXPECT_TRUE(squid(*publisher.current()).filter.contains(key("x")));
}

TEST_F(PublisherTest, FollowsWhatComesAndGoes) {
  add(0, 100);
  auto published = settle();
  EXPECT_EQ(published->live.entries, 100U);
  EXPECT_EQ(squid(*published).count, 100U);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(squid(*published).filter.contains(numbered(i)));
  remove(0, 100);
  published = settle();
  EXPECT_EQ(published->live.entries, 0U);
  EXPECT_EQ(published->live.bits_set, 0U);
  EXPECT_EQ(squid(*published).filter.bits_set(), 0U);
  EXPECT_EQ(holdings_.lists(), 1) << "the first one; changes need none";
}

TEST_F(PublisherTest, TellsOfWhatARuleKeepsOnlyThoseWhoHaveTheRule) {
  const auto claims = [&](const digest::Key& key) {
    const auto form = publisher_.native(0, 0);
    const auto whole = digest::decode_native(form->body, nullptr, 1 << 20);
    return whole->filter.contains(key);
  };
  for (const bool listed : {false, true}) {
    holdings_.add(numbered(1), 7);
    if (listed) holdings_.overflow();
    auto published = settle();
    EXPECT_EQ(published->live.entries, 1U);
    EXPECT_FALSE(claims(numbered(1)));
    EXPECT_TRUE(claims(digest::under_rule(numbered(1), 7)));
    EXPECT_FALSE(claims(digest::under_rule(numbered(1), 8)));
    EXPECT_EQ(squid(*published).count, 0U) << "a Squid has no such rule";
    holdings_.remove(numbered(1), 7);
    published = settle();
    EXPECT_EQ(published->live.bits_set, 0U);
    EXPECT_EQ(squid(*published).filter.bits_set(), 0U);
  }
}

TEST_F(PublisherTest, TakesOtherSizesInANewEpoch) {
  add(0, 10);
  const auto before = settle();
  config::DigestSettings other = settings_;
  other.poll = 7s;
  publisher_.follow(other, now_);
  EXPECT_EQ(publisher_.current(), before) << "the bits are the same";
  EXPECT_EQ(publisher_.epochs(), before->live.epoch);
  other.bits_per_entry = 8;
  other.squid.bits_per_entry = 5;
  publisher_.follow(other, now_);
  const auto after = publisher_.current();
  EXPECT_NE(after->live.epoch, before->live.epoch);
  EXPECT_EQ(publisher_.epochs(), after->live.epoch + ", " + before->live.epoch);
  EXPECT_EQ(after->live.bits_per_entry, 8.0);
  EXPECT_EQ(after->live.entries, 10U);
  EXPECT_EQ(after->squid->stats.bits_per_entry, 5.0);
  EXPECT_TRUE(squid(*after).filter.contains(numbered(3)));
  add(10, 11);
  EXPECT_EQ(tick()->live.entries, 11U);
}

TEST_F(PublisherTest, PublishesOnlyWhenSomethingChanged) {
  const auto before = publisher_.current();
  EXPECT_EQ(settle(), before);
  add(0, 1);
  const auto after = tick();
  EXPECT_EQ(after->live.generation, before->live.generation + 1);
  EXPECT_EQ(after->live.epoch, before->live.epoch);
  EXPECT_EQ(after->live.built_at, now_);
}

TEST_F(PublisherTest, ClosesTheSquidFormEachSquidPeriod) {
  settle();
  add(0, 1);
  const auto first = tick();
  EXPECT_EQ(squid(*first).count, 1U) << "nothing was closed for ten seconds: at once";
  add(1, 2);
  for (int i = 0; i < 19; ++i) EXPECT_EQ(tick()->squid, first->squid) << i;
  const auto second = tick();
  EXPECT_EQ(squid(*second).count, 2U);
  EXPECT_EQ(second->squid->stats.generation, second->live.generation);
  EXPECT_EQ(second->squid->stats.built_at, now_);
}

TEST_F(PublisherTest, EtagAndLastModifiedMoveWithTheBytesAlone) {
  add(0, 1);
  const auto first = settle();
  const WallTime changed = first->squid->last_modified;
  add(1, 2);
  remove(1, 2);
  const auto same = settle();
  EXPECT_EQ(same->squid->body, first->squid->body);
  EXPECT_EQ(same->squid->etag, first->squid->etag);
  EXPECT_EQ(same->squid->last_modified, changed);
  EXPECT_EQ(same->squid->stats.generation, same->live.generation);
  add(2, 3);
  const auto other = settle();
  EXPECT_NE(other->squid->etag, first->squid->etag);
  EXPECT_GT(other->squid->last_modified, changed);
  EXPECT_EQ(other->squid->etag,
            "\"" + other->live.epoch + "-" + std::to_string(other->live.generation) + "\"");
}

TEST_F(PublisherTest, KeepsCapacityBetweenFiveQuartersAndThreeTimesTheEntries) {
  const auto check = [this](int entries) {
    const auto published = settle();
    for (const FilterStats& stats : {published->live, published->squid->stats}) {
      ASSERT_EQ(stats.entries, static_cast<std::uint64_t>(entries));
      EXPECT_GE(4 * stats.capacity, 5 * stats.entries) << entries;
      EXPECT_LE(stats.capacity, std::max(std::uint64_t{1024}, 3 * stats.entries)) << entries;
    }
    for (int i = 0; i < entries; ++i) {
      ASSERT_TRUE(squid(*published).filter.contains(numbered(i)) || entries > 2000) << i;
    }
  };
  int entries = 0;
  for (const int more : {500, 819, 820, 1500, 3000, 5000}) {
    add(entries, more);
    check(entries = more);
  }
  for (const int fewer : {4000, 2000, 1000, 300, 0}) {
    remove(fewer, entries);
    check(entries = fewer);
  }
}

TEST_F(PublisherTest, AnOverflowRebuildsFromTheListInANewEpoch) {
  add(0, 10);
  const auto before = settle();
  add(10, 20);
  remove(0, 5);
  holdings_.overflow();
  const auto after = settle();
  EXPECT_EQ(after->live.entries, 15U);
  EXPECT_FALSE(squid(*after).filter.contains(numbered(0)));
  EXPECT_TRUE(squid(*after).filter.contains(numbered(19)));
  EXPECT_NE(after->live.epoch, before->live.epoch);
  EXPECT_EQ(after->live.generation, 1U);
}

TEST_F(PublisherTest, ClosesANativeGenerationForEachTickThatChangedSomething) {
  const auto first = digest::decode_native(publisher_.native(0, 0)->body, nullptr, 1 << 20);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->entries, 0U);
  EXPECT_EQ(first->capacity, 1024U);
  EXPECT_EQ(first->generation, 1U);
  EXPECT_EQ(tick()->live.generation, 1U);
  add(0, 50);
  const auto published = tick();
  const auto form = publisher_.native(first->epoch, first->generation);
  EXPECT_EQ(form->etag, "\"" + published->live.epoch + "-2\"");
  const auto second = digest::decode_native(form->body, &*first, 1 << 20);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->entries, 50U);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(second->filter.contains(numbered(i)));
}

TEST_F(PublisherTest, ANewEpochHasANewSalt) {
  const auto salt = [this] {
    const auto now = digest::decode_native(publisher_.native(0, 0)->body, nullptr, 1 << 20);
    return now->filter.shape().salt;
  };
  const digest::Salt before = salt();
  EXPECT_NE(before, digest::Salt{});
  add(0, 1000);
  tick();
  EXPECT_NE(salt(), before);
  const Publisher other(holdings_, settings_, kNow, digest::unpredictable());
  EXPECT_NE(digest::decode_native(other.native(0, 0)->body, nullptr, 1 << 20)->filter.shape().salt,
            salt());
}

// Squid drops a digest as useless if more than 65 % of its bits are set.
TEST(PublisherLimits, NoSquidFindsTheFormTooFull) {
  for (const unsigned bits_per_entry : {4U, 5U, 10U, 127U}) {
    config::DigestSettings settings;
    settings.squid.bits_per_entry = bits_per_entry;
    samples::ListedHoldings holdings;
    Publisher publisher(holdings, settings, kNow, digest::unpredictable());
    WallTime now = kNow;
    for (int entries = 0; entries < 3000;) {
      for (const int target = entries + 91; entries < target; ++entries) {
        holdings.add(numbered(entries));
      }
      publisher.tick(now += settings.squid.period);
      const auto squid = digest::decode(publisher.current()->squid->body);
      ASSERT_TRUE(squid) << bits_per_entry << " bits, " << entries << " entries";
      ASSERT_EQ(squid->count, static_cast<std::uint32_t>(entries));
      ASSERT_LT(squid->filter.fill_ratio(), 0.61);
    }
  }
}

TEST_F(PublisherTest, KnowsWhenItsLastGenerationsWereClosed) {
  const auto etag = [&] { return publisher_.native(0, 0)->etag; };
  const auto first = etag();
  EXPECT_EQ(publisher_.closed_at(first), kNow);
  tick();
  EXPECT_EQ(etag(), first) << "nothing has changed";
  add(0, 1);
  tick();
  EXPECT_EQ(publisher_.closed_at(etag()), now_);
  EXPECT_EQ(publisher_.closed_at(first), kNow);
  add(1, 2'000);
  tick();  // begins another epoch
  EXPECT_EQ(publisher_.closed_at(etag()), now_);
  EXPECT_EQ(publisher_.closed_at(first), kNow);
  EXPECT_EQ(publisher_.closed_at("\"0000000000000000-1\""), std::nullopt);
  EXPECT_EQ(publisher_.closed_at("x"), std::nullopt);
  for (std::size_t i = 0; i < Publisher::kKnownClosings; ++i) {
    i % 2 == 0 ? add(5'000, 5'001) : remove(5'000, 5'001);
    tick();
  }
  EXPECT_EQ(publisher_.closed_at(first), std::nullopt) << "too long ago";
}

}  // namespace
}  // namespace peers
