// What the store counts when it gives something up.
#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/store.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

const std::string kNobodys = "http://a/nobodys";
const std::string kNeighbours = "http://a/neighbours";
const std::string kDisks = "http://a/disks";
const std::string kBlocks = "http://a/blocks";

TEST(TotalsOfTheStore, CountAsLostWhatNobodyElseHas) {
  Budget budget(8 << 20);
  StoreLimits limits;
  limits.kept_elsewhere = [](const digest::Claim& claim) {
    return claim.key == key_of(kNeighbours);
  };
  Store store(budget, limits);
  const auto entry = [&](const std::string& url) { return entry_of(budget, {.url = url}); };
  const auto on_disk = std::make_shared<OnDisk>();
  on_disk->set(key_of(kDisks), 1, 1);
  const auto lost = [&](const std::string& url, Kept kept) {
    const auto before = store.totals().lost.load();
    store.put(key_of(url), std::move(kept), kStart);
    const Charge elsewhere(budget, budget.limit());
    EXPECT_FALSE(store.make_room());
    EXPECT_EQ(store.entries(), 0U);
    return store.totals().lost.load() - before;
  };
  EXPECT_EQ(lost(kNobodys, {entry(kNobodys)}), 1U);
  EXPECT_EQ(lost(kNeighbours, {entry(kNeighbours)}), 0U);
  EXPECT_EQ(lost(kDisks, {entry(kDisks), on_disk}), 0U);
  EXPECT_EQ(lost(kBlocks, {block_entry(budget, *entry(kBlocks), {})}), 0U);
}

}  // namespace
}  // namespace proxy::cache
