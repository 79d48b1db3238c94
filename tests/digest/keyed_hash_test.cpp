#include "digest/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>
#include <string>

namespace digest {
namespace {

TEST(KeyedHash, IsUnderASaltThatEachProcessDraws) {
  EXPECT_NE(random_salt(), random_salt());
  EXPECT_EQ(process_salt(), process_salt());
  EXPECT_NE(process_salt(), Salt{});
  const Salt bytes{1, 2, 3};
  EXPECT_EQ(keyed_hash(bytes), (SipHash<1, 3>(process_salt(), bytes).low()));
}

TEST(KeyedHash, OfTextIsThatOfItsBytes) {
  const std::string text = "name.test";
  EXPECT_EQ(TextHash{}(text), TextHash{}(std::string_view(text)));
  EXPECT_NE(TextHash{}(text), TextHash{}("name.tesu"));
  EXPECT_NE(TextHash{}(text), std::hash<std::string>{}(text)) << "which anybody can compute";
  EXPECT_EQ(TextHash{}(""), keyed_hash({}));
}

TEST(KeyedHash, OfSpreadBytesDependsOnEachBitAndFillsEachBucket) {
  const Salt bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Salt other = bytes;
    other[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_NE(keyed_hash_of_spread(bytes), keyed_hash_of_spread(other)) << bit;
  }
  constexpr std::size_t kBuckets = 64;
  constexpr int kEach = 1000;
  std::array<int, kBuckets> low{}, high{};
  for (std::uint64_t i = 0; i < kBuckets * kEach; ++i) {
    const auto number = std::bit_cast<std::array<std::uint8_t, 8>>(i);
    const SipHash128 spread({}, number);
    const auto hash = keyed_hash_of_spread(
        std::bit_cast<Salt>(std::array<std::uint64_t, 2>{spread.low(), spread.high()}));
    ++low[hash % kBuckets];
    ++high[hash / (~std::uint64_t{0} / kBuckets + 1)];
  }
  for (std::size_t i = 0; i < kBuckets; ++i) {
    EXPECT_NEAR(low[i], kEach, 200) << i;
    EXPECT_NEAR(high[i], kEach, 200) << i;
  }
}

}  // namespace
}  // namespace digest
