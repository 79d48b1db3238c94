#include "digest/compact_approximator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "digest/base64.hpp"
#include "digest/sizing.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

CompactApproximator bounds_of(std::uint64_t first, std::uint64_t count, const Shape& shape) {
  auto bounds = *CompactApproximator::create(shape);
  for (std::uint64_t i = 0; i < count; ++i) {
    bounds.raise(quick_key(first + i), static_cast<std::uint16_t>(1 + i % 10));
  }
  return bounds;
}

TEST(CompactApproximator, IsNeverBelowAValue) {
  const auto bounds = bounds_of(0, 10'000, {.bits = 50'000, .hashes = 4});
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_GE(bounds.bound(quick_key(i)), 1 + i % 10);
}

TEST(CompactApproximator, KeepsTheGreatestValueOfAKey) {
  auto bounds = *CompactApproximator::create({.bits = 4096, .hashes = 4});
  EXPECT_FALSE(bounds.contains(quick_key(1)));
  bounds.raise(quick_key(1), 65535);
  bounds.raise(quick_key(1), 3);
  EXPECT_EQ(bounds.bound(quick_key(1)), 65535);
}

// A bound of at least v is as rare as a claim of a Bloom filter of the keys from v on.
TEST(CompactApproximator, IsTooHighAsOftenAsTheorySays) {
  const Shape shape{.bits = 6 * kMillion, .hashes = 4};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto bounds = bounds_of(seed << 40, kMillion, shape);
    for (const std::uint16_t value : {std::uint16_t{1}, std::uint16_t{4}}) {
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < kMillion; ++i) {
        wrong += bounds.bound(quick_key(~(i + (seed << 40)))) >= value ? 1 : 0;
      }
      const std::uint64_t greater = kMillion / 10 * (11 - value);
      const double theory = *false_positive_rate(shape.bits, greater, shape.hashes);
      EXPECT_NEAR(static_cast<double>(wrong) / kMillion, theory, 0.05 * theory) << value;
      EXPECT_NEAR(bounds.excess_rate(value), theory, 0.05 * theory) << value;
    }
  }
}

TEST(CompactApproximator, UnitesByTheGreater) {
  const Shape shape{.bits = 5'000, .hashes = 3};
  auto both = bounds_of(0, 100, shape);
  ASSERT_TRUE(both.unite(bounds_of(1'000, 100, shape)));
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_GE(both.bound(quick_key(i)), 1 + i % 10);
    EXPECT_GE(both.bound(quick_key(1'000 + i)), 1 + i % 10);
  }
  const auto before = both;
  EXPECT_EQ(both.unite(bounds_of(0, 1, {.bits = 5'001, .hashes = 3})).error(),
            ShapeError::unlike_shapes);
  EXPECT_EQ(both, before);
}

TEST(CompactApproximator, ComesBackFromItsFile) {
  const auto bounds = bounds_of(0, 100, {.bits = 1'001, .hashes = 5});
  EXPECT_EQ(*CompactApproximator::load(bounds.save()), bounds);
  EXPECT_EQ(CompactApproximator::create({.bits = 0, .hashes = 1}).error(), ShapeError::no_bits);
}

// Produced independently of this code, in Python.
TEST(CompactApproximator, HasAPinnedFile) {
  EXPECT_EQ(
      to_base64(bounds_of(0, 3, {.bits = 17, .hashes = 2}).save()),
      "SFNZRgEJAABCAAAAAAAAAGw8ALMAAAAAEQAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAMAAAAAAAAA"
      "AQAAAAMAAAAAAAAAAAAAAAAAAAABAAIA");
}

TEST(CompactApproximator, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<CompactApproximator>(bounds_of(0, 5, {.bits = 20, .hashes = 2}).save());
}

TEST(CompactApproximator, IsSafelyLoadedFromAnything) {
  const auto file = bounds_of(0, 5, {.bits = 20, .hashes = 2}).save();
  expect_safe_on_any_payload<CompactApproximator>(FilterKind::bounds, file);
  EXPECT_EQ(load_changed<CompactApproximator>(FilterKind::bounds, file, 7, 1).error(),
            FileError::bad_shape);
  EXPECT_EQ(load_changed<CompactApproximator>(FilterKind::bounds, file, 3, 1).error(),
            FileError::wrong_length);
}

}  // namespace
}  // namespace digest
