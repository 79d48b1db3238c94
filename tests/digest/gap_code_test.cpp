#include "digest/gap_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace digest {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kAll = std::uint64_t{1} << 32;

Bytes coded(const Numbers& rising, unsigned rice) {
  Bytes bytes;
  append_gaps(bytes, rising, rice);
  EXPECT_EQ(bytes.size(), gap_bytes(rising, rice));
  return bytes;
}

Numbers read_back(const Bytes& bytes, std::size_t count, unsigned rice) {
  GapReader reader(bytes, rice, kAll);
  Numbers numbers(count);
  for (std::uint32_t& number : numbers) EXPECT_TRUE(reader.next(number));
  EXPECT_TRUE(reader.at_end());
  return numbers;
}

Numbers random_rising(std::size_t count, std::uint32_t limit) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> any(0, limit - 1);
  Numbers numbers(count);
  for (std::uint32_t& number : numbers) number = any(random);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Written by hand from the header: gaps 0, 1, 5, 6 of 0, 2, 8, 15.
TEST(GapCode, IsPinned) {
  EXPECT_EQ(coded({0, 2, 8, 15}, 0), (Bytes{0b1111'1010, 0b0111'1110}));
  EXPECT_EQ(coded({0, 2, 8, 15}, 2), (Bytes{0b0101'0000, 0b0010'0101}));
  EXPECT_EQ(coded({}, 5), Bytes{});
}

TEST(GapCode, ComesBackWithEveryParameter) {
  for (unsigned rice = 0; rice <= kMaxRice; ++rice) {
    const Numbers numbers = random_rising(300, 100'000);
    EXPECT_EQ(read_back(coded(numbers, rice), numbers.size(), rice), numbers) << rice;
  }
  const Numbers ends{0, 0xfffffffeU, 0xffffffffU};
  EXPECT_EQ(read_back(coded(ends, 28), 3, 28), ends);
}

TEST(GapCode, ChoosesTheShortest) {
  for (const std::size_t count : {1U, 10U, 1000U, 50'000U}) {
    const Numbers numbers = random_rising(count, 12'000'000);
    const std::size_t chosen = gap_bytes(numbers, rice_for(numbers));
    for (unsigned rice = 4; rice <= kMaxRice; ++rice) {
      EXPECT_LE(chosen, gap_bytes(numbers, rice)) << count << ' ' << rice;
    }
  }
}

// For random positions a Rice code is within a twentieth of the entropy.
TEST(GapCode, IsNearTheEntropy) {
  const Numbers numbers = random_rising(8000, 12'000'000);
  const double share = static_cast<double>(numbers.size()) / 12e6;
  const double bits = -12e6 * (share * std::log2(share) + (1 - share) * std::log2(1 - share));
  const auto bytes = static_cast<double>(gap_bytes(numbers, rice_for(numbers)));
  EXPECT_LT(bytes, 1.05 * bits / 8);
}

TEST(GapReader, RefusesWhatEndsEarlyOrPassesTheLimit) {
  const Bytes good = coded({3, 700, 701}, 4);
  std::uint32_t number = 0;
  for (std::size_t length = 0; length < good.size(); ++length) {
    GapReader reader({good.data(), length}, 4, kAll);
    EXPECT_FALSE(reader.next(number) && reader.next(number) && reader.next(number)) << length;
  }
  GapReader limited(good, 4, 701);
  EXPECT_TRUE(limited.next(number) && limited.next(number));
  EXPECT_FALSE(limited.next(number));
  EXPECT_EQ(number, 700U);
}

TEST(GapReader, SeesTrailingBitsAndBytes) {
  Bytes bytes = coded({3}, 0);  // 111 0
  std::uint32_t number = 0;
  bytes[0] = static_cast<std::uint8_t>(bytes[0] | 0x80U);
  GapReader stray(bytes, 0, kAll);
  EXPECT_TRUE(stray.next(number));
  EXPECT_FALSE(stray.at_end());
  const Bytes longer{0b0000'0111, 0};
  GapReader trailing(longer, 0, kAll);
  EXPECT_TRUE(trailing.next(number));
  EXPECT_FALSE(trailing.at_end());
}

}  // namespace
}  // namespace digest
