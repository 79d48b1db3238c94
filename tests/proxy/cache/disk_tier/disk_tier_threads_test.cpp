// Memory and disk while several threads store, purge, read back and follow the claims.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache {
namespace {

constexpr std::size_t kUrls = 16;
constexpr int kSteps = 1500;

class SharedTiers : public ::testing::Test {
 protected:
  SharedTiers() {
    EXPECT_TRUE(disk_.start());
    disk_.sit_under(store_);
  }
  ~SharedTiers() override { (void)disk_.stop(); }

  static std::string url_of(std::size_t number) { return "http://a/" + std::to_string(number); }

  static int version_of(const Entry& entry) {
    return std::stoi(std::string(entry.quotes().etag.substr(1)));
  }

  // Stores the version that was current at the start: outdated if it is purged before it is stored.
  void put(std::size_t number) {
    const int version = current_[number];
    put(number, version, [&] { return version >= purged_[number]; });
  }
  void put(std::size_t number, int version, const std::function<bool()>& good) {
    Stock stock;
    stock.url = url_of(number);
    stock.lines = "Cache-Control: max-age=100\r\nETag: \"" + std::to_string(version) + "\"\r\n";
    stock.body = 500;
    stock.times = {now_, now_};
    const auto response = kept(entry_of(budget_, stock));
    const auto key = key_of(stock.url);
    const auto store = [&] { return good() && store_.put(key, response, now_) == Stored::yes; };
    disk_.put(key, response, {}, store);
  }
  void purge(std::size_t number) {
    const int version = ++current_[number];
    int before = purged_[number];
    while (before < version && !purged_[number].compare_exchange_weak(before, version)) {
    }
    disk_.purge(key_of(url_of(number)), {});
    store_.remove(key_of(url_of(number)));
    before = answered_[number];
    while (before < version && !answered_[number].compare_exchange_weak(before, version)) {
    }
  }
  // Reads like a request, which knows of purges since it began but not of which version its
  // response is.
  void read(std::size_t number) {
    const int answered = answered_[number];
    const int noted = purged_[number];
    const Request request;
    const auto url = url_of(number);
    const auto found = disk_.read({key_of(url), url, request.head.fields}, store_, disk::Wait::yes);
    if (!found || !found->entry) return;
    const auto held = store_.adopt(key_of(url), {found->entry, found->on_disk}, now_).entry;
    const int version = version_of(*found->entry);
    if (disk_.still_found(*found, url) && purged_[number] == noted) {
      EXPECT_GE(version, answered) << "purged before it was asked for";
      found_ += 1;
    } else if (held == found->entry) {
      store_.drop(key_of(url), *held);
    }
  }
  void step(std::mt19937& random) {
    const std::size_t number = random() % kUrls;
    switch (random() % 8) {
      case 0:
        return purge(number);
      case 1:
      case 2:
      case 3:
        return read(number);
      default:
        return put(number);
    }
  }

  const support::TemporaryDirectory home_;
  Budget budget_{64 << 10};  // room for some of them
  machine::Clock clock_;
  DiskTier disk_{budget_,
                 clock_,
                 {.path = home_.path(), .bytes = 8 << 20},
                 disk::PurgeRules::as_prefix,
                 digest::unpredictable()};
  Store store_{budget_, {}, &disk_.disk().catalog().index};
  const Time now_ = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  std::array<std::atomic<int>, kUrls> current_{};
  std::array<std::atomic<int>, kUrls> purged_{};    // noted
  std::array<std::atomic<int>, kUrls> answered_{};  // noted and carried out
  std::atomic<int> found_ = 0;
};

TEST_F(SharedTiers, HaveNothingOfBeforeAPurgeAndClaimWhatTheyHave) {
  std::set<digest::Claim> claimed;
  const auto follow = [&] {
    std::vector<KeyChange> changes;
    if (store_.collect(now_, changes) == Collected::overflowed) {
      std::vector<digest::Claim> all;
      store_.list_claimed(now_, all);
      claimed = {all.begin(), all.end()};
      return;
    }
    for (const auto& [key, what, rule] : changes) {
      const bool changed = what == KeyChange::What::added ? claimed.insert({key, rule}).second
                                                          : claimed.erase({key, rule}) > 0;
      EXPECT_TRUE(changed);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 3; ++i) {
      threads.emplace_back([this, i] {
        std::mt19937 random(i);
        // The disk's writer may need longer than these steps take.
        for (int n = 0; n < kSteps || (found_ == 0 && n < 100 * kSteps); ++n) step(random);
      });
    }
    for (int i = 0; i < 200; ++i) {
      follow();
      std::this_thread::yield();
    }
  }
  ASSERT_TRUE(disk_.disk().queue().settle(10s));
  follow();
  const Request request;
  for (std::size_t i = 0; i < kUrls; ++i) {
    const auto url = url_of(i);
    const auto on_disk =
        disk_.read({key_of(url), url, request.head.fields}, store_, disk::Wait::yes);
    const auto oldest = purged_[i].load();
    const auto above = store_.find(key_of(url), url, request.head.fields).entry;
    if (above) {
      EXPECT_GE(version_of(*above), oldest) << url;
    }
    const bool below = on_disk && on_disk->entry;
    if (below) {
      EXPECT_GE(version_of(*on_disk->entry), oldest) << url;
    }
    EXPECT_EQ(claimed.contains({key_of(url)}), above || below) << url;
  }
  EXPECT_GT(found_, 0);
}

TEST_F(SharedTiers, WhatIsStoredLastIsTheSameInBoth) {
  constexpr int kRounds = 200;
  std::atomic<int> next = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const std::size_t number = round % kUrls;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (int n = 0; n < 5; ++n) put(number, ++next, [] { return true; });
        });
      }
    }
    ASSERT_TRUE(disk_.disk().queue().settle(10s));
    const Request request;
    const auto url = url_of(number);
    const auto above = store_.find(key_of(url), url, request.head.fields).entry;
    const auto below = disk_.read({key_of(url), url, request.head.fields}, store_, disk::Wait::yes);
    ASSERT_TRUE(above && below && below->entry) << round;
    ASSERT_EQ(version_of(*above), version_of(*below->entry)) << round;
  }
}

}  // namespace
}  // namespace proxy::cache
