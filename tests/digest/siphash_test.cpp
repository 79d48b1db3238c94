#include "digest/siphash.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "digest/key.hpp"

namespace digest {
namespace {

Salt counting_salt() {
  Salt salt;
  std::iota(salt.begin(), salt.end(), std::uint8_t{0});
  return salt;
}

std::string hex_of(const SipHash128& hash) {
  Key bytes;
  for (std::size_t i = 0; i < 16; ++i) {
    bytes.bytes[i] = static_cast<std::uint8_t>((i < 8 ? hash.low() : hash.high()) >> (8 * (i % 8)));
  }
  return to_hex(bytes);
}

// vectors_sip128 of the reference implementation: key 00 01 .. 0f, message 00 01 .. of each length.
TEST(SipHash128, GivesTheReferenceVectors) {
  struct Case {
    std::size_t length;
    const char* expected;
  };
  for (const Case& c :
       {Case{0, "a3817f04ba25a8e66df67214c7550293"}, Case{1, "da87c1d86b99af44347659119b22fc45"},
        Case{8, "3b62a9ba6258f5610f83e264f31497b4"}, Case{15, "5493e99933b0a8117e08ec0f97cfc3d9"},
        Case{16, "6ee2a4ca67b054bbfd3315bf85230577"},
        Case{63, "5150d1772f50834a503e069a973fbd7c"}}) {
    std::vector<std::uint8_t> message(c.length);
    std::iota(message.begin(), message.end(), std::uint8_t{0});
    EXPECT_EQ(hex_of(SipHash128(counting_salt(), message)), c.expected) << c.length;
  }
}

TEST(SipHash128, DependsOnEveryBitOfTheSalt) {
  const Key key;
  for (std::size_t bit = 0; bit < 128; ++bit) {
    Salt other = counting_salt();
    other[bit / 8] = static_cast<std::uint8_t>(other[bit / 8] ^ (1U << (bit % 8)));
    const SipHash128 hash(other, key.bytes);
    EXPECT_NE(hash.low(), SipHash128(counting_salt(), key.bytes).low()) << bit;
    EXPECT_NE(hash.high(), SipHash128(counting_salt(), key.bytes).high()) << bit;
  }
}

}  // namespace
}  // namespace digest
