#include "digest/message_filter.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

MessageFilter message_of(MessageShape shape, std::uint64_t first, std::uint64_t count) {
  MessageFilter filter(shape);
  for (std::uint64_t i = 0; i < count; ++i) filter.insert(quick_key(first + i));
  return filter;
}

TEST(MessageFilter, ForgetsNothingInAnyShape) {
  for (unsigned size = 0; size < kMessageSizes; ++size) {
    const auto filter = message_of({size, 16}, 0, 50);
    for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(filter.contains(quick_key(i))) << size;
  }
}

TEST(MessageFilter, HasTheSmallestShapeThatKeepsTheRate) {
  struct Case {
    std::uint64_t entries;
    double rate;
    std::uint64_t bits;
  };
  for (const auto& [entries, rate, bits] :
       {Case{1, 0.001, 64}, Case{4, 0.01, 64}, Case{8, 0.001, 128}, Case{100, 0.01, 1024},
        Case{400, 0.001, 8192}}) {
    const auto shape = *message_shape_for(entries, rate);
    EXPECT_EQ(shape.bits(), bits) << entries;
    EXPECT_LE(*false_positive_rate(shape.bits(), entries, shape.hashes), rate);
  }
  EXPECT_EQ(message_shape_for(1'000, 0.001).error(), SizingError::too_large);
  EXPECT_EQ(message_shape_for(0, 0.1).error(), SizingError::no_entries);
  EXPECT_EQ(message_shape_for(1, 1).error(), SizingError::rate_out_of_range);
}

// Over many filters with few keys each: of one filter chance decides.
TEST(MessageFilter, IsWrongAsOftenAsTheorySays) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto shape = *message_shape_for(16, 0.05);
    std::uint64_t wrong = 0;
    for (std::uint64_t n = 0; n < 10'000; ++n) {
      const std::uint64_t first = (seed << 40) + n * 1'000;
      const auto filter = message_of(shape, first, 16);
      for (std::uint64_t i = 100; i < 200; ++i) wrong += filter.contains(quick_key(first + i));
    }
    const double theory = *false_positive_rate(shape.bits(), 16, shape.hashes);
    EXPECT_NEAR(static_cast<double>(wrong) / kMillion, theory, 0.05 * theory) << seed;
  }
}

TEST(MessageFilter, TellsItsRateFromItsBits) {
  const auto filter = message_of({2, 4}, 0, 20);
  const double fill = static_cast<double>(filter.bits_set()) / 256;
  EXPECT_DOUBLE_EQ(filter.false_positive_rate(), fill * fill * fill * fill);
}

TEST(MessageFilter, ComesBackFromTextAndFile) {
  const auto filter = message_of({1, 5}, 0, 6);
  EXPECT_EQ(MessageFilter::from_text(filter.to_text()), filter);
  EXPECT_EQ(filter.to_text().size(), 24U);  // 17 bytes
  EXPECT_EQ(*MessageFilter::load(filter.save()), filter);
  EXPECT_FALSE(MessageFilter::from_text(""));
  EXPECT_FALSE(MessageFilter::from_text("AA"));
  EXPECT_FALSE(MessageFilter::from_text("gAAAAAAAAAAA"));  // no such size
}

// Produced independently of this code, in Python.
TEST(MessageFilter, HasAPinnedForm) {
  EXPECT_EQ(message_of({1, 5}, 0, 6).to_text(), "FIAjRELiIAACAAQCYIGaACA=");
}

TEST(MessageFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<MessageFilter>(message_of({0, 3}, 0, 5).save());
}

TEST(MessageFilter, IsSafelyLoadedFromAnything) {
  const auto file = message_of({0, 3}, 0, 5).save();
  expect_safe_on_any_payload<MessageFilter>(FilterKind::message, file);
  const auto changed = [&file](std::uint8_t value) {
    return load_changed<MessageFilter>(FilterKind::message, file, 0, value).error();
  };
  EXPECT_EQ(changed(0x80), FileError::bad_shape);
  EXPECT_EQ(changed(0x10), FileError::wrong_length);
}

}  // namespace
}  // namespace digest
