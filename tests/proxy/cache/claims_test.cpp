#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "proxy/cache/store.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using What = KeyChange::What;

Stock stock_of(const std::string& url, int max_age, Time now = kStart) {
  Stock stock;
  stock.url = url;
  stock.lines = "Cache-Control: max-age=" + std::to_string(max_age) + "\r\nVary: X-A\r\n";
  stock.times = {now, now};
  return stock;
}

class ClaimedKeys : public ::testing::Test {
 protected:
  void put(const Stock& stock, Time now) {
    store_.put(key_of(stock.url), {entry_of(budget_, stock)}, now);
  }
  std::vector<KeyChange> collect(Time now) {
    std::vector<KeyChange> changes;
    EXPECT_EQ(store_.collect(now, changes), Collected::complete);
    return changes;
  }

  Budget budget_{1 << 20};
  Store store_{budget_, {.changes = 4}};
  const digest::Key key_ = key_of("http://a/");
};

TEST_F(ClaimedKeys, AddedOnceAndRemovedOncePerStay) {
  put(stock_of("http://a/", 100), kStart);
  Stock other = stock_of("http://a/", 200);
  other.request = "X-A: 1\r\n";
  put(other, kStart);
  put(other, kStart);  // replaced by a response of the same kind
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added}}));
  EXPECT_TRUE(collect(kStart + 100s).empty());  // the other variant is still claimable
  EXPECT_EQ(collect(kStart + 195s), (std::vector{KeyChange{key_, What::removed}}));
  EXPECT_TRUE(collect(kStart + 300s).empty());
}

TEST_F(ClaimedKeys, ClaimEndsFiveSecondsBeforeFreshness) {
  put(stock_of("http://a/", 6), kStart);
  put(stock_of("http://b/", 5), kStart);  // never claimed
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added}}));
  EXPECT_TRUE(collect(kStart + 999ms).empty());
  EXPECT_EQ(collect(kStart + 1s), (std::vector{KeyChange{key_, What::removed}}));
}

TEST_F(ClaimedKeys, UnclaimableReplacementEndsTheClaim) {
  put(stock_of("http://a/", 100), kStart);
  collect(kStart);
  put(stock_of("http://a/", 1), kStart);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::removed}}));
}

TEST_F(ClaimedKeys, APartIsClaimedUnderItsMarkFromOneMiBOn) {
  Budget budget(16 << 20);
  Store store(budget, {.changes = 8});
  const auto put_part = [&](const std::string& url, std::uint32_t bytes, bool shared = true) {
    Stock part;
    part.url = url;
    part.status = 206;
    part.lines = "Cache-Control: max-age=100\r\nETag: \"v\"\r\nContent-Range: bytes 0-" +
                 std::to_string(bytes - 1) + "/9999999\r\n";
    part.body = bytes;
    part.shared = shared;
    store.put(key_of(url), {entry_of(budget, part)}, kStart);
  };
  put_part("http://a/", 1 << 20);
  put_part("http://b/", (1 << 20) - 1);
  put_part("http://c/", 1 << 20, false);
  std::vector<KeyChange> changes;
  EXPECT_EQ(store.collect(kStart, changes), Collected::complete);
  EXPECT_EQ(changes, (std::vector{KeyChange{key_, What::added, digest::kOfPart}}));
  changes.clear();
  EXPECT_EQ(store.collect(kStart + 95s, changes), Collected::complete);
  EXPECT_EQ(changes, (std::vector{KeyChange{key_, What::removed, digest::kOfPart}}));
}

TEST_F(ClaimedKeys, WhatIsNotSharedIsNotClaimed) {
  Stock own = stock_of("http://a/", 100);
  own.shared = false;
  put(own, kStart);
  EXPECT_TRUE(collect(kStart).empty());
}

TEST_F(ClaimedKeys, OverflowLastsUntilTheKeysAreListed) {
  for (int i = 0; i < 5; ++i) {  // one shard, limit 4
    put(stock_of("http://a/", 100), kStart);
    store_.remove(key_);
  }
  put(stock_of("http://a/", 100), kStart);
  std::vector<KeyChange> changes;
  EXPECT_EQ(store_.collect(kStart, changes), Collected::overflowed);
  EXPECT_EQ(store_.collect(kStart, changes), Collected::overflowed);
  EXPECT_TRUE(changes.empty());
  std::vector<digest::Claim> keys;
  store_.list_claimed(kStart, keys);
  EXPECT_EQ(keys, std::vector{digest::Claim{key_}});
  EXPECT_TRUE(collect(kStart).empty());
  store_.remove(key_);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::removed}}));
}

TEST_F(ClaimedKeys, PassFromEverybodyToThoseWithTheRule) {
  Stock stock = stock_of("http://a/", 20);
  stock.bounds.least = 100s;
  stock.rule = 0x50007;
  put(stock, kStart);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added}}));
  EXPECT_EQ(collect(kStart + 15s),
            (std::vector{KeyChange{key_, What::removed}, KeyChange{key_, What::added, 7}}));
  EXPECT_EQ(store_.departed(key_, "http://a/").left, Departed::kNever) << "it is stored";
  EXPECT_EQ(collect(kStart + 95s), (std::vector{KeyChange{key_, What::removed, 7}}));
}

TEST_F(ClaimedKeys, OfResponsesThatOnlyARuleKeepsAreForThoseWithTheRule) {
  Stock stock = stock_of("http://a/", 100);
  stock.rule = 0x50007;
  stock.by_rule_alone = true;
  put(stock, kStart);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added, 7}}));
}

// After a change of the rules, variants of one URL may last by different ones.
TEST_F(ClaimedKeys, OfOneUrlAreByOneRuleAtATime) {
  const auto ruled = [&](const char* value, digest::RuleHash rule) {
    Stock stock = stock_of("http://a/", 0);
    stock.lines += "Vary: X-A\r\n";
    stock.request = std::string("X-A: ") + value + "\r\n";
    stock.bounds.least = 100s;
    stock.rule = rule;
    return stock;
  };
  put(ruled("1", 7), kStart);
  put(ruled("2", 8), kStart);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added, 7}}));
  put(ruled("1", 8), kStart);
  store_.remove(key_);
  const auto changes = collect(kStart);
  EXPECT_EQ(changes.back(), (KeyChange{key_, What::removed, 7}));
  put(ruled("1", 8), kStart);
  EXPECT_EQ(collect(kStart), (std::vector{KeyChange{key_, What::added, 8}}));
}

// Applies the collected changes, and compares the result with the store. A key must be claimed
// exactly if one of its variants is stored and claimable for more than five seconds.
class ClaimModel {
 public:
  void step() {
    now_ += std::chrono::milliseconds(random_() % 700);
    const std::string url = "http://a/" + std::to_string(random_() % 60);
    switch (random_() % 12) {
      case 0:
        store_.invalidate(key_of(url), url);
        break;
      case 1:
        store_.remove(key_of(url));
        break;
      case 2: {
        const Charge burst(budget_, budget_.limit() / 4);
        store_.make_room();
        break;
      }
      case 3:
        follow();
        break;
      case 4:
        restart();
        break;
      default:
        put(url);
    }
  }

  void follow() {
    std::vector<KeyChange> changes;
    if (store_.collect(now_, changes) == Collected::overflowed) return restart();
    for (const auto& [key, what, rule] : changes) {
      // The changes of a key alternate: the counting filter must see only 0 -> 1 and 1 -> 0.
      if (what == What::added) {
        EXPECT_TRUE((followed_.insert({key, rule}).second));
      } else {
        EXPECT_EQ((followed_.erase({key, rule})), 1U);
      }
    }
    EXPECT_EQ(followed_, truth());
  }

 private:
  void restart() {
    std::vector<digest::Claim> keys;
    store_.list_claimed(now_, keys);
    followed_ = {keys.begin(), keys.end()};
    EXPECT_EQ(followed_.size(), keys.size());
    EXPECT_EQ(followed_, truth());
  }

  void put(const std::string& url) {
    Stock stock = stock_of(url, static_cast<int>(random_() % 30), now_);
    stock.request = variant(static_cast<int>(random_() % 3));
    stock.body = static_cast<std::uint32_t>(random_() % 4000);
    stock.shared = random_() % 10 != 0;
    if (random_() % 3 == 0) {
      stock.bounds.least = seconds(random_() % 30);
      stock.rule = kRule;
      stock.by_rule_alone = random_() % 5 == 0;
    }
    store_.put(key_of(url), {entry_of(budget_, stock)}, now_);
  }

  static std::string variant(int number) { return "X-A: " + std::to_string(number) + "\r\n"; }

  // By the rule only once the claim for everybody has ended.
  static std::optional<digest::Claim> claim_of(const Entry& entry, Time now) {
    if (now + 5s < entry.claimable_until()) return digest::Claim{key_of(entry.url())};
    if (now + 5s >= entry.claimable_by_rule_until()) return std::nullopt;
    return digest::Claim{key_of(entry.url()), digest::mark_of(kRule)};
  }

  std::set<digest::Claim> truth() {
    std::set<digest::Claim> claimed;
    for (int i = 0; i < 60; ++i) {
      const std::string url = "http://a/" + std::to_string(i);
      for (int v = 0; v < 3; ++v) {
        const auto entry = store_.find(key_of(url), url, Request(variant(v)).head.fields).entry;
        const auto claim = entry ? claim_of(*entry, now_) : std::nullopt;
        if (claim) claimed.insert(*claim);
      }
    }
    return claimed;
  }

  static constexpr digest::RuleHash kRule = 0x1234567890abcdef;

  std::mt19937 random_{1};
  Time now_ = kStart;
  Budget budget_{200000};
  Store store_{budget_, {.changes = 16}};
  std::set<digest::Claim> followed_;
};

TEST(ClaimChanges, AddUpToExactlyWhatIsClaimed) {
  ClaimModel model;
  for (int i = 0; i < 20000 && !::testing::Test::HasFailure(); ++i) model.step();
  model.follow();
}

}  // namespace
}  // namespace proxy::cache
