#include "digest/blocked_filter.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "instructions.hpp"
#include "keys.hpp"
#include "saved.hpp"

namespace digest {
namespace {

BlockedFilter filter_of(std::uint64_t lines, std::uint64_t entries) {
  auto filter = *BlockedFilter::create(lines);
  for (std::uint64_t i = 0; i < entries; ++i) filter.insert(quick_key(i));
  return filter;
}

TEST(BlockedFilter, NeverForgetsAnInsertedKey) {
  const BlockedFilter filter = filter_of(500, 20'000);
  for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_TRUE(filter.contains(quick_key(i)));
}

TEST(BlockedFilter, SaysWhetherAKeyWasNew) {
  BlockedFilter filter = filter_of(10, 0);
  EXPECT_FALSE(filter.contains(quick_key(1)));
  EXPECT_TRUE(filter.insert(quick_key(1)));
  EXPECT_FALSE(filter.insert(quick_key(1)));
}

// Checks the bits that the header describes one by one: every set of instructions must agree with
// it.
bool claimed_by(const std::vector<std::uint8_t>& file, const Key& key) {
  const std::uint8_t* const lines = &file[kEnvelopeBytes + 8];
  __extension__ using Wide = unsigned __int128;
  const auto line = static_cast<std::size_t>(
      (Wide{load64(key.bytes.data())} * ((file.size() - kEnvelopeBytes - 8) / 64)) >> 64);
  const std::uint64_t choice = load64(&key.bytes[8]);
  for (unsigned i = 0; i < 8; ++i) {
    const std::uint64_t word = load64(lines + 64 * line + 8 * i);
    if ((word >> (choice >> (6 * i) & 63) & 1) == 0) return false;
  }
  return true;
}

TEST(BlockedFilter, ClaimsWhatItsHeaderSays) {
  const BlockedFilter filter = filter_of(20, 1'500);
  const auto file = filter.save();
  std::uint64_t claimed = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    for (const Instructions instructions : instructions_here()) {
      ASSERT_EQ(filter.contains(quick_key(i), instructions), claimed_by(file, quick_key(i)))
          << i << ", instructions " << int(instructions);
    }
    claimed += filter.contains(quick_key(i)) ? 1 : 0;
  }
  EXPECT_GT(claimed, 2'000U);
  EXPECT_LT(claimed, 10'000U);
}

TEST(BlockedFilter, IsWrongAsOftenAsTheorySays) {
  struct Case {
    std::uint64_t entries;
    double rate;
  };
  for (const Case& c : {Case{1'000, 0.05}, Case{20'000, 0.01}, Case{100'000, 0.004}}) {
    auto filter = *BlockedFilter::for_capacity(c.entries, c.rate);
    for (std::uint64_t i = 0; i < c.entries; ++i) filter.insert(quick_key(i));
    const auto asked = static_cast<std::uint64_t>(2500 / c.rate);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < asked; ++i) wrong += filter.contains(quick_key(~i)) ? 1 : 0;
    const double observed = static_cast<double>(wrong) / static_cast<double>(asked);
    const double theory = *blocked_rate(filter.lines(), c.entries);
    EXPECT_LE(theory, c.rate);
    EXPECT_NEAR(observed, theory, theory * 0.1) << c.entries;
    EXPECT_NEAR(filter.false_positive_rate(), theory, theory * 0.1) << c.entries;
  }
}

TEST(BlockedFilter, TakesTheFewestLinesThatKeepTheRate) {
  for (const double rate : {0.5, 0.01, 1e-4, 1e-8}) {
    const std::uint64_t lines = *blocked_lines_for(100'000, rate);
    EXPECT_LE(*blocked_rate(lines, 100'000), rate);
    EXPECT_GT(*blocked_rate(lines - 1, 100'000), rate);
  }
}

TEST(BlockedFilter, CostsTheBitsItsHeaderSpeaksOf) {
  EXPECT_NEAR(*blocked_rate(12 * 1'000'000 / 512, 1'000'000), 0.0042, 0.00005);
  const double bits = static_cast<double>(*blocked_lines_for(1'000'000, 1e-4)) * 512 / 1e6;
  EXPECT_NEAR(bits / *bits_per_entry_for(1e-4), 1.2, 0.05);
}

TEST(BlockedFilter, RefusesArgumentsOutOfRange) {
  EXPECT_EQ(BlockedFilter::create(0).error(), SizingError::no_bits);
  EXPECT_EQ(BlockedFilter::create(~std::uint64_t{0}).error(), SizingError::too_large);
  EXPECT_EQ(BlockedFilter::for_capacity(0, 0.1).error(), SizingError::no_entries);
  EXPECT_EQ(BlockedFilter::for_capacity(1, 0).error(), SizingError::rate_out_of_range);
  EXPECT_EQ(BlockedFilter::for_capacity(~std::uint64_t{0}, 0.01).error(), SizingError::too_large);
  EXPECT_EQ(blocked_rate(0, 1).error(), SizingError::no_bits);
}

TEST(BlockedFilter, ComesBackFromItsFile) {
  const BlockedFilter filter = filter_of(7, 300);
  EXPECT_EQ(*BlockedFilter::load(filter.save()), filter);
}

// Produced independently of this code, in Python.
TEST(BlockedFilter, HasAPinnedFile) {
  EXPECT_EQ(to_base64(filter_of(1, 2).save()),
            "SFNZRgEEAABIAAAAAAAAAALcMsQAAAAAAQAAAAAAAAAAAAAAABAQAIAAgAAAAAAAAAFAAAAAAAAAAA"
            "gAAEAAAAAAAAACAAQAAAAAAAIEAAAABAAAQAAAAAAAAACAQAAA");
}

TEST(BlockedFilter, IsNotLoadedFromADamagedFile) {
  expect_no_damage_passes<BlockedFilter>(filter_of(2, 5).save());
}

TEST(BlockedFilter, IsSafelyLoadedFromAnything) {
  const auto file = filter_of(2, 5).save();
  expect_safe_on_any_payload<BlockedFilter>(FilterKind::blocked, file);
  EXPECT_EQ(load_changed<BlockedFilter>(FilterKind::blocked, file, 7, 1).error(),
            FileError::bad_shape);
  EXPECT_EQ(load_changed<BlockedFilter>(FilterKind::blocked, file, 0, 0).error(),
            FileError::bad_shape);
  EXPECT_EQ(load_changed<BlockedFilter>(FilterKind::blocked, file, 2, 9).error(),
            FileError::wrong_length);
}

}  // namespace
}  // namespace digest
