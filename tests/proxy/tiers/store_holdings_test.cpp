#include "proxy/tiers/store_holdings.hpp"

#include <gtest/gtest.h>

#include "peers/publisher.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::tiers {
namespace {

using namespace std::chrono_literals;
using FirstList = StoreHoldings::FirstList;

class HoldingsOfAStore : public testing::Test {
 protected:
  HoldingsOfAStore() {
    const cache::Stock stock;
    store_.put(cache::key_of(stock.url), {cache::entry_of(budget_, stock)}, cache::kStart);
  }

  std::uint64_t published() const { return publisher_->current()->live.entries; }

  cache::Budget budget_{1 << 20};
  cache::Store store_{budget_, {}};
  std::optional<StoreHoldings> holdings_;
  std::optional<peers::Publisher> publisher_;
};

TEST_F(HoldingsOfAStore, AreListedAtOnce) {
  holdings_.emplace(store_);
  publisher_.emplace(*holdings_, config::DigestSettings{}, cache::kStart, digest::unpredictable());
  EXPECT_EQ(published(), 1U);
  EXPECT_FALSE(publisher_->tick(cache::kStart));
}

TEST_F(HoldingsOfAStore, AreAllPublishedByTheFirstTickIfThatIsPutOff) {
  holdings_.emplace(store_, FirstList::put_off);
  publisher_.emplace(*holdings_, config::DigestSettings{}, cache::kStart, digest::unpredictable());
  EXPECT_EQ(published(), 0U);
  const auto epoch = publisher_->epoch();
  EXPECT_TRUE(publisher_->tick(cache::kStart));
  EXPECT_EQ(published(), 1U);
  EXPECT_NE(publisher_->epoch(), epoch);
  EXPECT_FALSE(publisher_->tick(cache::kStart)) << "changes are followed from then on";
}

}  // namespace
}  // namespace proxy::tiers
