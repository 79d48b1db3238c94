// Compares the published keys with the responses that the store would give to neighbours.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <set>

#include "digest/native_digest.hpp"
#include "digest/squid_digest.hpp"
#include "peers/publisher.hpp"
#include "proxy/tiers/store_holdings.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

constexpr int kUrls = 1500;
constexpr int kVariants = 3;

std::string url_of(int number) {
  return "http://a/" + std::to_string(number);
}

std::string variant(int number) {
  return "X-A: " + std::to_string(number) + "\r\n";
}

// A store and the publisher that follows it, with all operations of a cache.
class Caching {
 public:
  void step() {
    now_ += std::chrono::milliseconds(random_() % 20);
    const std::string url = url_of(below(kUrls));
    switch (random_() % 40) {
      case 0:
        store_.remove(key_of(url));  // purged
        break;
      case 1:
        store_.invalidate(key_of(url), url);
        break;
      case 2:
        evict();
        break;
      default:
        put(url);  // new, another variant, or in place of one
    }
  }

  void tick() { publisher_.tick(now_); }

  // A missing key or a bit left over would be a difference.
  void expect_exactly_what_is_claimable() {
    const auto form = publisher_.native(0, 0);
    const auto published = *digest::decode_native(form->body, nullptr, 1 << 24);
    const auto squid = *digest::decode(publisher_.current()->squid->body);
    auto exact = *digest::BloomFilter::create(published.filter.shape());
    auto exact_squid = *digest::BloomFilter::create(squid.filter.shape());
    const auto keys = claimable();
    for (const digest::Key& key : keys) {
      exact.insert(key);
      exact_squid.insert(key);
    }
    EXPECT_EQ(published.filter, exact);
    EXPECT_EQ(published.entries, keys.size());
    EXPECT_EQ(squid.filter, exact_squid);
    most_ = std::max(most_, keys.size());
    epochs_.insert(published.epoch);
  }

  std::size_t most_claimed() const { return most_; }
  std::size_t epochs() const { return epochs_.size(); }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  void put(const std::string& url) {
    Stock stock;
    stock.url = url;
    stock.lines = "Cache-Control: max-age=" + std::to_string(below(60)) + "\r\nVary: X-A\r\n";
    stock.request = variant(below(kVariants));
    stock.body = static_cast<std::uint32_t>(below(2000));
    stock.times = {now_, now_};
    stock.shared = below(10) != 0;
    store_.put(key_of(url), {entry_of(budget_, stock)}, now_);
  }

  void evict() {
    const Charge burst(budget_, budget_.limit() / 16);
    store_.make_room();
  }

  // A key is claimable if one of its variants would be served now and for the next five seconds.
  std::set<digest::Key> claimable() {
    std::set<digest::Key> keys;
    for (int number = 0; number < kUrls; ++number) {
      const std::string url = url_of(number);
      const digest::Key key = key_of(url);
      for (const Request& asking : asking_) {
        const auto entry = store_.find(key, url, asking.head.fields).entry;
        if (entry && now_ + 5s < entry->claimable_until()) keys.insert(key);
      }
    }
    return keys;
  }

  // The Squid form is rebuilt at each tick, so that it can be compared, too.
  static config::DigestSettings settings() {
    config::DigestSettings settings;
    settings.squid.period = settings.period;
    return settings;
  }

  std::mt19937 random_{5};
  Time now_ = kStart;
  Budget budget_{4 << 20};
  Store store_{budget_, {.changes = 12}};
  tiers::StoreHoldings holdings_{store_};
  peers::Publisher publisher_{holdings_, settings(), kStart, digest::unpredictable()};
  const std::array<Request, kVariants> asking_{Request(variant(0)), Request(variant(1)),
                                               Request(variant(2))};
  std::size_t most_ = 0;
  std::set<std::uint64_t> epochs_;
};

TEST(PublishedKeys, AreExactlyThoseThatAreClaimableWhateverTheCacheGoesThrough) {
  Caching cache;
  for (int period = 0; period < 120 && !testing::Test::HasFailure(); ++period) {
    const bool overflows = period % 40 == 39;
    for (int i = 0; i < (overflows ? 2000 : 200); ++i) cache.step();
    cache.tick();
    cache.expect_exactly_what_is_claimable();
  }
  EXPECT_GT(cache.most_claimed(), 820U);
  EXPECT_GT(cache.epochs(), 3U) << "the filter grew, and changes were lost";
  EXPECT_LT(cache.epochs(), 40U) << "else the changes were followed";
}

}  // namespace
}  // namespace proxy::cache
