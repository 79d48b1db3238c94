#include "proxy/cache/disk_tier/checked_bodies.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

using Check = CheckedBodies::Check;

const CheckedBodies::Time kNoon{std::chrono::hours(5)};

TEST(CheckedBodies, AreReliedUponForATime) {
  CheckedBodies bodies;
  const disk::Position at{3, 160};
  EXPECT_EQ(bodies.last_check(at, kNoon), Check::none);
  bodies.record(at, kNoon);
  EXPECT_EQ(bodies.last_check(at, kNoon), Check::lately);
  const auto end = kNoon + CheckedBodies::kReliedUpon;
  EXPECT_EQ(bodies.last_check(at, end - std::chrono::milliseconds(1)), Check::lately);
  EXPECT_EQ(bodies.last_check(at, end), Check::before);
  bodies.record(at, end);
  EXPECT_EQ(bodies.last_check(at, end), Check::lately);
}

TEST(CheckedBodies, AreToldApart) {
  CheckedBodies bodies;
  for (std::uint32_t offset = 0; offset < (1U << 20); offset += 16)
    bodies.record({1, offset}, kNoon);
  EXPECT_EQ(bodies.last_check({2, 16}, kNoon), Check::none);
  EXPECT_EQ(bodies.last_check({1, 1U << 20}, kNoon), Check::none);
}

TEST(CheckedBodies, AreForgottenAlone) {
  CheckedBodies bodies;
  bodies.forget({1, 16});
  bodies.record({1, 16}, kNoon);
  bodies.record({1, 32}, kNoon);
  bodies.forget({1, 16});
  EXPECT_EQ(bodies.last_check({1, 16}, kNoon), Check::none);
  EXPECT_EQ(bodies.last_check({1, 32}, kNoon), Check::lately);
}

}  // namespace
}  // namespace proxy::cache
