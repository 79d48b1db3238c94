// Keys that digests hold under a mark (digest/rule.hpp).
#include <gtest/gtest.h>

#include "peers/directory.hpp"
#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::key;
using samples::report_of;

// A Squid knows no marks: what its digest says of a marked key is an error of its filter.
TEST(MarkedKeys, AreLookedUpInDigestsOfHearsaysAlone) {
  constexpr SteadyTime kNow{1000s};
  const std::vector<config::PeerSettings> settings{samples::peer("b", 1), samples::peer("c", 2)};
  PeerDirectory directory(settings);
  const auto x = key("x");
  const auto part = digest::under_rule(x, digest::kOfPart);
  auto native = samples::native_of({});
  native.filter.insert(part);
  auto squid = *digest::SquidDigest::empty(1000, 10);
  squid.insert(part);
  auto of_hearsay = report_of({}, kNow);
  of_hearsay.claims = Claims(std::move(native));
  auto of_squid = report_of({}, kNow);
  of_squid.claims = Claims(std::move(squid));
  ASSERT_TRUE(of_squid.claims.filter->contains(part));
  directory.update(0, of_hearsay);
  directory.update(1, of_squid);
  EXPECT_TRUE(directory.claimants(x, kNow).empty()) << "not of the whole";
  const auto claimants = directory.claimants(x, kNow, digest::kOfPart);
  ASSERT_EQ(claimants.size(), 1U);
  EXPECT_EQ(claimants[0]->name, "b");
  const auto claims = directory.claims_of(x, kNow, digest::kOfPart);
  EXPECT_EQ(claims[0].claims, true);
  EXPECT_EQ(claims[1].claims, false);
  directory.record(directory.peers()[0], {ClaimOutcome::true_hit, 1ms, 100}, kNow);
  Epoch ours = 1;
  while (bid_for(x, ours) >= bid_for(x, 0xab)) ++ours;
  EXPECT_FALSE(directory.is_kept_elsewhere(x, ours, kNow, digest::kOfPart))
      << "perhaps another part";
}

}  // namespace
}  // namespace peers
