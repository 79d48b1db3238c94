#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "proxy/cache/store.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

constexpr int kKeys = 200;
constexpr int kRounds = 3000;

std::string url_of(std::size_t number) {
  return "http://a/" + std::to_string(number);
}

// One thread's use of a cache. Every body found must be that of its URL.
void use(Budget& budget, Store& store, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < kRounds; ++i) {
    const std::size_t number = random() % kKeys;
    Stock stock;
    stock.url = url_of(number);
    stock.body = static_cast<std::uint32_t>(number + 1) * 100;
    const digest::Key key = key_of(stock.url);
    const auto found = store.find(key, stock.url, http::Fields{}).entry;
    if (found) {
      ASSERT_EQ(found->body.size, stock.body);
      if (random() % 20 == 0) store.invalidate(key, stock.url);
    } else {
      store.put(key, {entry_of(budget, stock)}, kStart);
    }
  }
}

TEST(StoreThreads, CollectorFollowsWhatOthersDo) {
  Budget budget(600000);  // about a quarter of what they try to store
  Store store(budget);
  std::atomic<bool> done = false;
  std::set<digest::Claim> followed;
  const auto follow = [&] {
    std::vector<KeyChange> changes;
    ASSERT_EQ(store.collect(kStart, changes), Collected::complete);
    for (const auto& [key, what, rule] : changes) {
      if (what == KeyChange::What::added) {
        EXPECT_TRUE((followed.insert({key, rule}).second));
      } else {
        EXPECT_EQ((followed.erase({key, rule})), 1U);
      }
    }
  };
  std::thread collector([&] {
    while (!done) follow();
  });
  std::vector<std::thread> users;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    users.emplace_back([&, seed] { use(budget, store, seed); });
  }
  for (auto& user : users) user.join();
  done = true;
  collector.join();

  follow();
  std::vector<digest::Claim> listed;
  store.list_claimed(kStart, listed);
  EXPECT_EQ(followed, std::set<digest::Claim>(listed.begin(), listed.end()));
  EXPECT_EQ(store.entries(), listed.size());
  EXPECT_LE(budget.used(), budget.limit());
}

TEST(StoreThreads, BudgetReturnsToZero) {
  Budget budget(600000);
  {
    Store store(budget);
    std::vector<std::thread> users;
    for (unsigned seed = 1; seed <= 3; ++seed) {
      users.emplace_back([&, seed] { use(budget, store, seed); });
    }
    for (auto& user : users) user.join();
  }
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace proxy::cache
