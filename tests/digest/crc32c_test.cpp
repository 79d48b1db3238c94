#include "digest/crc32c.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

namespace digest {
namespace {

// RFC 3720 appendix B.4, and the check value of the catalogues.
TEST(Crc32c, GivesThePublishedChecksums) {
  std::vector<std::uint8_t> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  bytes.assign(32, 0xff);
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  EXPECT_EQ(crc32c(bytes), 0x46dd794eU);
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32c(std::vector<std::uint8_t>(kDigits.begin(), kDigits.end())), 0xe3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
  std::vector<std::uint8_t> bytes(100);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const std::span<const std::uint8_t> all = bytes;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    EXPECT_EQ(crc32c(all.subspan(i), crc32c(all.first(i))), crc32c(all)) << i;
  }
}

}  // namespace
}  // namespace digest
