#include "digest/bloom_filter.hpp"

#include <gtest/gtest.h>

#include "keys.hpp"

namespace digest {
namespace {

StrictFilter filter_for(std::uint64_t capacity) {
  return StrictFilter(*BloomFilter::create({10'000, 7}), capacity);
}

TEST(StrictFilter, RefusesTheKeyBeyondItsCapacity) {
  StrictFilter filter = filter_for(3);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(*filter.insert(key_number(i)));
  const BloomFilter full = filter.filter();
  EXPECT_EQ(filter.insert(key_number(3)).error(), StrictError::full);
  EXPECT_FALSE(*filter.insert(key_number(2))) << "is in already";
  EXPECT_EQ(filter.filter(), full);
  EXPECT_EQ(filter.inserted(), 3U);
}

TEST(StrictFilter, TakesAsManyOfARowAsFit) {
  StrictFilter filter = filter_for(3);
  const std::vector<Key> keys = {key_number(1), key_number(1), key_number(2), key_number(3),
                                 key_number(4)};
  EXPECT_EQ(*filter.insert(std::span(keys).first(3)), 2U);
  EXPECT_EQ(filter.insert(keys).error(), StrictError::full);
  EXPECT_TRUE(filter.contains(key_number(3)));
  EXPECT_FALSE(filter.contains(key_number(4)));
}

}  // namespace
}  // namespace digest
