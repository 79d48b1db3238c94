#include "digest/crc32c.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace digest {
namespace {

using Checksum = std::uint32_t (*)(std::span<const std::uint8_t>, std::uint32_t);

class Crc32c : public testing::TestWithParam<Checksum> {};

// RFC 3720 appendix B.4, and the check value of the catalogues.
TEST_P(Crc32c, GivesThePublishedChecksums) {
  const auto crc = [](const std::vector<std::uint8_t>& all) { return GetParam()(all, 0); };
  std::vector<std::uint8_t> bytes(32);
  EXPECT_EQ(crc(bytes), 0x8a9136aaU);
  bytes.assign(32, 0xff);
  EXPECT_EQ(crc(bytes), 0x62a8ab43U);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  EXPECT_EQ(crc(bytes), 0x46dd794eU);
  std::iota(bytes.rbegin(), bytes.rend(), std::uint8_t{0});
  EXPECT_EQ(crc(bytes), 0x113fdb5cU);
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc({kDigits.begin(), kDigits.end()}), 0xe3069283U);
  EXPECT_EQ(crc({}), 0U);
}

// The read command of RFC 3720 appendix B.4.
TEST_P(Crc32c, GivesThePublishedChecksumOfACommand) {
  std::vector<std::uint8_t> command(48);
  command[0] = 0x01;
  command[1] = 0xc0;
  command[16] = 0x14;
  command[22] = 0x04;
  command[27] = 0x14;
  command[31] = 0x18;
  command[32] = 0x28;
  command[40] = 0x02;
  EXPECT_EQ(GetParam()(command, 0), 0xd9963a56U);
}

TEST_P(Crc32c, GoesOnFromWhatCameBefore) {
  std::vector<std::uint8_t> bytes(100);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const std::span<const std::uint8_t> all = bytes;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    EXPECT_EQ(GetParam()(all.subspan(i), GetParam()(all.first(i), 0)), crc32c_portable(all)) << i;
  }
}

// Long enough to be read in lanes, with remainders of every length.
TEST_P(Crc32c, IsTheSameForLongBytesAsBitByBit) {
  std::vector<std::uint8_t> bytes(10'000);
  std::uint32_t random = 1;
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>((random = random * 1664525 + 1) >> 24);
  const std::span<const std::uint8_t> all = bytes;
  std::uint32_t bit_by_bit = ~0U;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bit_by_bit ^= all[i];
    for (int bit = 0; bit < 8; ++bit) {
      bit_by_bit = bit_by_bit >> 1 ^ ((bit_by_bit & 1) != 0 ? 0x82f63b78 : 0);
    }
    if (i < 3000) continue;
    EXPECT_EQ(GetParam()(all.first(i + 1), 0), ~bit_by_bit) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Crc32c, testing::Values(&crc32c, &crc32c_portable),
                         [](const auto& way) { return way.index == 0 ? "here" : "portable"; });

}  // namespace
}  // namespace digest
