#include "proxy/upstream/origin_health.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace proxy::upstream {
namespace {

using Clock = RangeRefusals::Clock;
const Clock::time_point kRefused{std::chrono::hours(5)};

TEST(RangeRefusals, KnowsAnOriginOnceItHasGrantedWhatItsClientAsked) {
  RangeRefusals refusals;
  refusals.record_granted("a.test", kRefused);
  EXPECT_FALSE(refusals.has("a.test", kRefused)) << "it has refused nothing";
  refusals.note_refused("a.test", kRefused);
  EXPECT_FALSE(refusals.has("a.test", kRefused)) << "it may refuse all";
  refusals.record_granted("a.test", kRefused);
  EXPECT_TRUE(refusals.has("a.test", kRefused));
  refusals.note_refused("a.test", kRefused);
  EXPECT_TRUE(refusals.has("a.test", kRefused));
  EXPECT_FALSE(refusals.has("b.test", kRefused));
}

TEST(RangeRefusals, ForgetsAnOriginAfterAWhile) {
  RangeRefusals refusals;
  refusals.note_refused("a.test", kRefused);
  refusals.record_granted("a.test", kRefused);
  EXPECT_TRUE(refusals.has("a.test", kRefused + RangeRefusals::kKept - std::chrono::minutes(1)));
  EXPECT_FALSE(refusals.has("a.test", kRefused + RangeRefusals::kKept));
  refusals.record_granted("a.test", kRefused + RangeRefusals::kKept);
  EXPECT_FALSE(refusals.has("a.test", kRefused + RangeRefusals::kKept)) << "the refusal is too old";
}

TEST(RangeRefusals, AreOfNoMoreOriginsThanItsTableHas) {
  RangeRefusals refusals;
  const auto name = [](std::size_t number) { return std::to_string(number) + ".test"; };
  for (std::size_t i = 0; i < 4 * RangeRefusals::kMost; ++i) {
    refusals.note_refused(name(i), kRefused);
    refusals.record_granted(name(i), kRefused);
    EXPECT_TRUE(refusals.has(name(i), kRefused));
  }
  std::size_t known = 0;
  for (std::size_t i = 0; i < 4 * RangeRefusals::kMost; ++i)
    known += refusals.has(name(i), kRefused);
  EXPECT_LE(known, RangeRefusals::kMost);
}

}  // namespace
}  // namespace proxy::upstream
