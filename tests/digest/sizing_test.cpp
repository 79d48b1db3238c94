#include "digest/sizing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace digest {
namespace {

// Bits per entry, hashes, rate: the table of Fan, Cao, Almeida and Broder (2000).
TEST(Sizing, GivesThePublishedRates) {
  struct Case {
    std::uint64_t bits_per_entry;
    std::uint32_t hashes;
    double rate;
  };
  constexpr Case kCases[] = {
      {8, 4, 0.024},      {8, 6, 0.0216},    {12, 8, 0.00314},
      {16, 11, 0.000459}, {20, 10, 8.89e-5}, {22, 17, 2.67e-5},
      {24, 17, 9.84e-6},  {27, 19, 2.33e-6}, {32, 22, 2.1e-7},
  };
  for (const Case& c : kCases) {
    const double exact = *false_positive_rate(c.bits_per_entry * 100'000, 100'000, c.hashes);
    const double approximate =
        *approximate_false_positive_rate(c.bits_per_entry * 100'000, 100'000, c.hashes);
    EXPECT_NEAR(exact, c.rate, c.rate * 0.01) << c.bits_per_entry << ' ' << c.hashes;
    EXPECT_NEAR(approximate, exact, exact * 0.001);
  }
}

// The false-hit rates of Squid's digests at capacity, by bits per entry.
TEST(Sizing, GivesSquidsRates) {
  const std::pair<std::uint64_t, double> cases[] = {{4, 0.16},  {5, 0.092},   {6, 0.056},
                                                    {8, 0.024}, {10, 0.0118}, {16, 0.0024}};
  for (const auto& [bits, rate] : cases) {
    EXPECT_NEAR(*false_positive_rate(bits * 10'000, 10'000, 4), rate, rate * 0.02) << bits;
  }
}

TEST(Sizing, IsExactWhereTheApproximationIsNot) {
  EXPECT_EQ(*false_positive_rate(1, 1, 1), 1);
  EXPECT_NEAR(*false_positive_rate(2, 1, 1), 0.5, 1e-12);
  EXPECT_NEAR(*approximate_false_positive_rate(2, 1, 1), 1 - std::exp(-0.5), 1e-12);
  EXPECT_EQ(*false_positive_rate(1, 0, 1), 0);
  EXPECT_EQ(*approximate_false_positive_rate(1, 0, 1), 0);
}

TEST(Sizing, TakesTheNumberOfHashesWithTheLowestRate) {
  for (std::uint64_t bits = 1; bits < 40; ++bits) {
    const std::uint32_t best = *optimal_hashes(bits * 1000, 1000);
    const double rate = *approximate_false_positive_rate(bits * 1000, 1000, best);
    for (std::uint32_t other = 1; other <= kMaxHashes; ++other) {
      const double others = *approximate_false_positive_rate(bits * 1000, 1000, other);
      EXPECT_TRUE(other < best ? rate < others : rate <= others) << bits << ' ' << other;
    }
  }
}

TEST(Sizing, KeepsTheNumberOfHashesInBounds) {
  EXPECT_EQ(*optimal_hashes(1, 1'000'000), 1U);
  EXPECT_EQ(*optimal_hashes(kMaxBits, 1), kMaxHashes);
  EXPECT_EQ(*optimal_hashes(12'000, 1000), 8U);
}

TEST(Sizing, NeedsThePublishedBitsPerEntry) {
  const std::pair<double, double> cases[] = {
      {0.1, 4.79}, {0.01, 9.58}, {0.001, 14.37}, {0.0001, 19.17}};
  for (const auto& [rate, bits_per_entry] : cases) {
    const auto bits = static_cast<double>(*bits_for(1'000'000, rate));
    EXPECT_NEAR(bits / 1'000'000, bits_per_entry, 0.0151) << rate;
  }
}

TEST(Sizing, GetsTheEntriesBackFromTheBits) {
  for (const double rate : {0.9, 0.5, 0.1, 0.01, 0.003, 1e-6, 1e-12}) {
    for (const std::uint64_t entries : {1U, 2U, 10U, 999U, 65'536U, 7'000'000U}) {
      const std::uint64_t bits = *bits_for(entries, rate);
      EXPECT_GE(*capacity_for(bits, rate), entries) << rate;
      EXPECT_LE(*bits_for(*capacity_for(bits, rate), rate), bits) << rate;
    }
  }
}

// Rate, best number of hashes, bits per entry with it.
TEST(Sizing, GivesThePublishedOptimum) {
  struct Case {
    double rate;
    double hashes;
    double bits_per_entry;
  };
  constexpr Case kCases[] = {
      {0.1, 3.32, 4.79}, {0.01, 6.64, 9.58}, {0.001, 9.97, 14.37}, {0.0001, 13.29, 19.17}};
  for (const Case& c : kCases) {
    EXPECT_NEAR(*ideal_hashes_for(c.rate), c.hashes, 0.005) << c.rate;
    // The table was made with 1.44 for log2(e).
    EXPECT_NEAR(*bits_per_entry_for(c.rate), c.bits_per_entry, c.bits_per_entry * 0.001) << c.rate;
    EXPECT_NEAR(*ideal_hashes(*bits_per_entry_for(c.rate)), *ideal_hashes_for(c.rate), 1e-9);
    EXPECT_NEAR(*best_rate_at(*bits_per_entry_for(c.rate)), c.rate, c.rate * 1e-9);
  }
  EXPECT_NEAR(*best_rate_at(1), 0.6185, 5e-5);
}

TEST(Sizing, GivesThePublishedBitsByTheShortForm) {
  EXPECT_NEAR(*short_bits_per_entry_for(0.1, 3), 5.2458, 1e-4);
  EXPECT_NEAR(*short_bits_per_entry_for(0.01, 3), 12.5706, 5e-5);
  EXPECT_NEAR(*short_bits_per_entry_for(0.001, 4), 20.657, 5e-4);
}

TEST(Sizing, NeedsAboutAHundredBitsForOnePercentWithOneHash) {
  EXPECT_NEAR(*bits_per_entry_for(0.01, 1), 99.5, 0.01);
  EXPECT_NEAR(static_cast<double>(*bits_for(1'000'000, 0.01, 1)) / 1e6, 99.5, 0.01);
}

TEST(Sizing, TakesBackEachFormulaByItsInverse) {
  for (const double rate : {0.2, 0.01, 1e-4, 1e-9}) {
    for (const std::uint32_t hashes : {1U, 3U, 4U, 8U, 13U}) {
      EXPECT_NEAR(*rate_at(*bits_per_entry_for(rate, hashes), hashes), rate, rate * 1e-6);
      const double by_short_form = *short_bits_per_entry_for(rate, hashes);
      EXPECT_NEAR(*short_rate_at(by_short_form, hashes), rate, rate * 1e-6);
      EXPECT_GE(by_short_form, *bits_per_entry_for(rate, hashes));
    }
  }
  for (const std::uint32_t hashes : {1U, 7U, 32U}) {
    EXPECT_NEAR(*ideal_hashes(*ideal_bits_per_entry(hashes)), hashes, 1e-9);
    EXPECT_NEAR(*ideal_hashes_for(*ideal_rate(hashes)), hashes, 1e-9);
  }
  EXPECT_NEAR(*least_rate(*least_bits_for(1'000'000, 0.003), 1'000'000), 0.003, 1e-8);
  EXPECT_EQ(*counters_for_overflow(*overflow_bound(12'000'000)), 12'000'000U);
}

TEST(Sizing, KeepsTheRateWithAFixedNumberOfHashes) {
  for (const double rate : {0.5, 0.1, 0.01, 1e-4}) {
    for (const std::uint32_t hashes : {1U, 4U, 8U}) {
      for (const std::uint64_t entries : {1U, 10U, 999U, 65'536U}) {
        const std::uint64_t bits = *bits_for(entries, rate, hashes);
        const double reached = *false_positive_rate(bits, entries, hashes);
        EXPECT_LE(reached, rate * (1 + 1e-9));
        if (bits > 1) {
          EXPECT_GT(*false_positive_rate(bits - 1, entries, hashes), rate * (1 - 1e-9));
        }
        const std::uint64_t capacity = *capacity_for(bits, rate, hashes);
        EXPECT_GE(capacity + 1, entries);  // rounding may cost one
        EXPECT_LE(*false_positive_rate(bits, capacity, hashes), rate * (1 + 1e-9));
      }
    }
  }
}

TEST(Sizing, NeedsLog2eTimesTheLeastPossible) {
  const auto least = static_cast<double>(*least_bits_for(1'000'000, 0.01));
  EXPECT_NEAR(least, 1e6 * std::log2(100), 1);
  EXPECT_NEAR(static_cast<double>(*bits_for(1'000'000, 0.01)) / least, kBloomOverhead, 1e-6);
  EXPECT_NEAR(kBloomOverhead, 1.44, 0.005);
}

TEST(Sizing, BoundsTheOverflowOfCounters) {
  EXPECT_DOUBLE_EQ(*overflow_bound(1'000'000), 1.37e-9);
}

TEST(Sizing, RefusesArgumentsOutOfRange) {
  EXPECT_EQ(false_positive_rate(0, 1, 1).error(), SizingError::no_bits);
  EXPECT_EQ(false_positive_rate(kMaxBits + 1, 1, 1).error(), SizingError::too_large);
  EXPECT_EQ(false_positive_rate(8, 1, 0).error(), SizingError::no_hashes);
  EXPECT_EQ(false_positive_rate(8, 1, kMaxHashes + 1).error(), SizingError::too_large);
  EXPECT_EQ(approximate_false_positive_rate(0, 1, 1).error(), SizingError::no_bits);
  EXPECT_EQ(optimal_hashes(0, 1).error(), SizingError::no_bits);
  EXPECT_EQ(optimal_hashes(8, 0).error(), SizingError::no_entries);
  EXPECT_EQ(bits_for(0, 0.01).error(), SizingError::no_entries);
  EXPECT_EQ(bits_for(kMaxBits, 0.01).error(), SizingError::too_large);
  EXPECT_EQ(capacity_for(0, 0.01).error(), SizingError::no_bits);
  EXPECT_EQ(capacity_for(kMaxBits + 1, 0.01).error(), SizingError::too_large);
  EXPECT_EQ(bits_for(0, 0.01, 4).error(), SizingError::no_entries);
  EXPECT_EQ(bits_for(10, 0.01, 0).error(), SizingError::no_hashes);
  EXPECT_EQ(bits_for(kMaxBits, 1e-9, 4).error(), SizingError::too_large);
  EXPECT_EQ(capacity_for(10, 0.01, kMaxHashes + 1).error(), SizingError::too_large);
  EXPECT_EQ(rate_at(0, 4).error(), SizingError::no_bits);
  EXPECT_EQ(rate_at(std::numeric_limits<double>::infinity(), 4).error(), SizingError::too_large);
  EXPECT_EQ(ideal_hashes(std::nan("")).error(), SizingError::no_bits);
  EXPECT_EQ(best_rate_at(-1).error(), SizingError::no_bits);
  EXPECT_EQ(ideal_bits_per_entry(0).error(), SizingError::no_hashes);
  EXPECT_EQ(ideal_rate(kMaxHashes + 1).error(), SizingError::too_large);
  EXPECT_EQ(short_rate_at(1, 4).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(least_bits_for(0, 0.1).error(), SizingError::no_entries);
  EXPECT_EQ(least_rate(8, 0).error(), SizingError::no_entries);
  EXPECT_EQ(overflow_bound(0).error(), SizingError::no_bits);
  for (const double rate : {0.0, 1.0, -0.5, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(bits_for(10, rate, 4).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(capacity_for(10, rate, 4).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(bits_per_entry_for(rate).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(bits_per_entry_for(rate, 4).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(short_bits_per_entry_for(rate, 4).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(ideal_hashes_for(rate).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(least_bits_for(10, rate).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(counters_for_overflow(rate).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(bits_for(10, rate).error(), SizingError::rate_out_of_range) << rate;
    EXPECT_EQ(capacity_for(10, rate).error(), SizingError::rate_out_of_range) << rate;
  }
}

TEST(Sizing, HoldsAnyNumberAtARateNextToOne) {
  EXPECT_GT(*capacity_for(kMaxBits, std::nextafter(1.0, 0.0)), kMaxBits);
}

}  // namespace
}  // namespace digest
