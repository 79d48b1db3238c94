#include "digest/scalable_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

ScalableFilter filter_of(const ScalablePlan& plan, std::uint64_t entries = 0) {
  auto filter = *ScalableFilter::create(plan);
  for (std::uint64_t i = 0; i < entries; ++i) EXPECT_TRUE(filter.insert(quick_key(i)).has_value());
  return filter;
}

double observed_rate(const ScalableFilter& filter, std::uint64_t asked) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < asked; ++i) wrong += filter.contains(quick_key(~i)) ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(asked);
}

TEST(ScalableFilter, KeepsTheCompoundBoundOverTwentyDoublings) {
  ScalableFilter filter = filter_of({.capacity = 1, .rate = 0.02});
  std::uint64_t keys = 0;
  while (filter.stages() < 21) {
    const std::size_t before = filter.stages();
    ASSERT_TRUE(filter.insert(quick_key(keys++)).has_value());
    if (filter.stages() == before) continue;
    // The rates are highest just before a stage is full, which is nearly the case now.
    EXPECT_LE(filter.false_positive_rate(), 0.02) << filter.stages();
    EXPECT_LE(observed_rate(filter, 20'000), 0.02) << filter.stages();
  }
  EXPECT_GE(keys, 1U << 20);
  for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(filter.contains(quick_key(i)));
  EXPECT_LE(filter.entries(), keys);
  EXPECT_GE(filter.entries(), keys - keys / 50);
}

// Stages large enough for theory to hold for each: their rates add up as planned.
TEST(ScalableFilter, IsWrongAsOftenAsItsStagesTogether) {
  for (const Growth growth : {Growth::twofold, Growth::fourfold}) {
    const ScalablePlan plan{.capacity = 2'000, .rate = 0.1, .growth = growth, .tightening = 0.5};
    const std::uint64_t full = growth == Growth::twofold ? 30'000 : 42'000;
    const ScalableFilter filter = filter_of(plan, full);
    const double theory =
        1 - (1 - 0.05) * (1 - 0.025) * (1 - 0.0125) * (growth == Growth::twofold ? 1 - 0.00625 : 1);
    EXPECT_NEAR(filter.false_positive_rate(), theory, theory * 0.1);
    EXPECT_NEAR(observed_rate(filter, 100'000), theory, theory * 0.1);
  }
}

// With few keys and a low rate the positions of a key depend on each other most.
TEST(ScalableFilter, KeepsALowBoundFromASmallStart) {
  const ScalableFilter filter = filter_of({.capacity = 100, .rate = 1e-5}, 1'500);
  EXPECT_LE(observed_rate(filter, 1'000'000), 1e-5 + 4 * std::sqrt(1e-5 / 1e6));
}

TEST(ScalableFilter, GrowsByItsFactor) {
  EXPECT_EQ(filter_of({.capacity = 100, .rate = 1e-6}, 100).stages(), 1U);
  EXPECT_EQ(filter_of({.capacity = 100, .rate = 1e-6}, 101).stages(), 2U);
  EXPECT_EQ(filter_of({.capacity = 100, .rate = 1e-6}, 301).stages(), 3U);
  const ScalablePlan fourfold{.capacity = 100, .rate = 1e-6, .growth = Growth::fourfold};
  EXPECT_EQ(filter_of(fourfold, 500).stages(), 2U);
  EXPECT_EQ(filter_of(fourfold, 501).stages(), 3U);
}

TEST(ScalableFilter, SaysWhetherAKeyWasNew) {
  ScalableFilter filter = filter_of({.capacity = 4, .rate = 1e-6}, 20);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_FALSE(*filter.insert(quick_key(i)));
  EXPECT_EQ(filter.entries(), 20U);
}

TEST(ScalableFilter, RefusesAPlanOutOfRange) {
  const std::pair<ScalablePlan, SizingError> cases[] = {
      {{.capacity = 0}, SizingError::no_entries},
      {{.capacity = ~std::uint64_t{0}}, SizingError::too_large},
      {{.capacity = kMaxBits, .rate = 1e-3}, SizingError::too_large},
      {{.rate = 0}, SizingError::rate_out_of_range},
      {{.rate = std::nan("")}, SizingError::rate_out_of_range},
      {{.tightening = 1}, SizingError::rate_out_of_range},
      {{.growth = static_cast<Growth>(3)}, SizingError::too_large},
  };
  for (const auto& [plan, error] : cases) EXPECT_EQ(ScalableFilter::create(plan).error(), error);
}

TEST(ScalableFilter, ComesBackFromItsFileAndGoesOn) {
  ScalableFilter filter = filter_of({.capacity = 16, .growth = Growth::fourfold}, 90);
  ScalableFilter again = *ScalableFilter::load(filter.save());
  EXPECT_EQ(again.plan(), filter.plan());
  for (std::uint64_t i = 90; i < 2'000; ++i) {
    ASSERT_EQ(*again.insert(quick_key(i)), *filter.insert(quick_key(i)));
  }
  EXPECT_EQ(again.save(), filter.save());
}

// Produced independently of this code, in Python.
TEST(ScalableFilter, HasAPinnedBeginningOfItsFile) {
  const auto file = filter_of({.capacity = 3}, 4).save();
  EXPECT_EQ(to_base64(std::span(file).first(kEnvelopeBytes + 40 + 8 + kShapeBytes)),
            "SFNZRgEDAAB4BAAAAAAAAM49o2MAAAAAAwAAAAAAAAB7FK5H4XqEP83MzMzMzOw/AgAAAAAAAAACAA"
            "AAAAAAAAMAAAAAAAAAABAAAAAAAAAGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
}

TEST(ScalableFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<ScalableFilter>(filter_of({.capacity = 3}, 4).save());
}

TEST(ScalableFilter, IsSafelyLoadedFromAnything) {
  const auto file = filter_of({.capacity = 3}, 4).save();
  expect_safe_on_any_payload<ScalableFilter>(FilterKind::scalable, file);
  const auto refused = [&file](std::size_t at, std::uint8_t value) {
    return load_changed<ScalableFilter>(FilterKind::scalable, file, at, value).error();
  };
  EXPECT_EQ(refused(0, 0), FileError::bad_shape) << "no capacity";
  EXPECT_EQ(refused(24, 3), FileError::bad_shape) << "growth";
  EXPECT_EQ(refused(32, 0), FileError::wrong_length) << "no stage, but more follows";
  EXPECT_EQ(refused(32, 3), FileError::bad_content) << "a stage that is not there";
  EXPECT_EQ(refused(40, 2), FileError::bad_content) << "a stage after one that is not full";
  EXPECT_EQ(refused(40, 4), FileError::bad_content) << "more held than there is room";
}

}  // namespace
}  // namespace digest
