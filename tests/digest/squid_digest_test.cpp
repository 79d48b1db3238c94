#include "digest/squid_digest.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "keys.hpp"

namespace digest {
namespace {

using Body = std::vector<std::uint8_t>;

SquidDigest digest_of(std::uint32_t capacity, std::uint8_t bits_per_entry, std::uint64_t entries) {
  auto digest = SquidDigest::empty(capacity, bits_per_entry);
  EXPECT_TRUE(digest.has_value());
  for (std::uint64_t i = 0; i < entries; ++i) digest->insert(key_number(i));
  return std::move(*digest);
}

Body body_of(const SquidDigest& digest) {
  auto body = encode(digest);
  EXPECT_TRUE(body.has_value());
  return std::move(*body);
}

void put(Body& body, std::size_t at, std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) body[at++] = static_cast<std::uint8_t>(byte);
}

TEST(SquidDigest, ComesBackTheSame) {
  for (const std::uint8_t bits : std::initializer_list<std::uint8_t>{4, 5, 10, 16, 127}) {
    const SquidDigest digest = digest_of(1000, bits, 900);
    const auto again = decode(body_of(digest));
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, digest);
    EXPECT_EQ(again->count, 900U);
    EXPECT_TRUE(again->mask_fits_capacity());
  }
}

TEST(SquidDigest, OfNothingIsValid) {
  const auto again = decode(body_of(digest_of(2, 5, 0)));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->filter.bits_set(), 0U);
  EXPECT_EQ(again->filter.bytes().size(), 2U);  // (2 * 5 + 7) / 8
}

struct Damage {
  const char* name;
  std::function<void(Body&)> done;
  SquidDigestError expected;
};

class DamagedSquidDigest : public testing::TestWithParam<Damage> {};

TEST_P(DamagedSquidDigest, IsRefusedWithTheCause) {
  Body body = body_of(digest_of(16, 5, 5));
  GetParam().done(body);
  const auto read = decode(body);
  ASSERT_TRUE(read.has_error());
  EXPECT_EQ(read.error(), GetParam().expected);
}

using Error = SquidDigestError;
const Damage kDamages[] = {
    {"Empty", [](Body& b) { b.clear(); }, Error::too_short},
    {"CutInControlBlock", [](Body& b) { b.resize(127); }, Error::too_short},
    {"VersionTwo",
     [](Body& b) {
       put(b, 0, {0, 2});
     },
     Error::version_too_old},
    {"VersionNegative",
     [](Body& b) {
       put(b, 0, {0xff, 0xff});
     },
     Error::version_too_old},
    {"NeedsReaderSix",
     [](Body& b) {
       put(b, 2, {0, 6});
     },
     Error::version_too_new},
    {"NoCapacity",
     [](Body& b) {
       put(b, 4, {0, 0, 0, 0});
     },
     Error::bad_capacity},
    {"NegativeCapacity",
     [](Body& b) {
       put(b, 4, {0x80, 0, 0, 0});
     },
     Error::bad_capacity},
    {"NoMask",
     [](Body& b) {
       put(b, 16, {0, 0, 0, 0});
     },
     Error::bad_mask_size},
    {"NegativeMask",
     [](Body& b) {
       put(b, 16, {0xff, 0xff, 0xff, 0xff});
     },
     Error::bad_mask_size},
    {"HugeMask",
     [](Body& b) {
       put(b, 16, {0x7f, 0xff, 0xff, 0xff});
     },
     Error::mask_too_large},
    {"MaskOverLimit",
     [](Body& b) {
       put(b, 16, {4, 0, 0, 1});
     },
     Error::mask_too_large},
    {"MaskAtLimitButAbsent",
     [](Body& b) {
       put(b, 16, {4, 0, 0, 0});
     },
     Error::truncated},
    {"NoBitsPerEntry", [](Body& b) { put(b, 20, {0}); }, Error::bad_bits_per_entry},
    {"BitsPerEntry128", [](Body& b) { put(b, 20, {128}); }, Error::bad_bits_per_entry},
    {"ThreeHashes", [](Body& b) { put(b, 21, {3}); }, Error::bad_hash_count},
    {"NoHashes", [](Body& b) { put(b, 21, {0}); }, Error::bad_hash_count},
    {"NoMaskBytes", [](Body& b) { b.resize(128); }, Error::truncated},
    {"OneByteShort", [](Body& b) { b.pop_back(); }, Error::truncated},
    {"OneByteOver", [](Body& b) { b.push_back(0); }, Error::trailing_bytes},
    {"AllBitsSet", [](Body& b) { std::fill(b.begin() + 128, b.end(), std::uint8_t{255}); },
     Error::too_full},
};

INSTANTIATE_TEST_SUITE_P(Damages, DamagedSquidDigest, testing::ValuesIn(kDamages),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(SquidDigest, CutAnywhereIsRefused) {
  const Body body = body_of(digest_of(100, 10, 80));
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_TRUE(decode(std::span(body).first(length)).has_error()) << length;
  }
}

TEST(SquidDigest, IsReadInTheVersionsThatStayCompatible) {
  Body body = body_of(digest_of(16, 5, 5));
  put(body, 0, {0, 3, 0, 5});
  EXPECT_TRUE(decode(body).has_value());
  put(body, 0, {0, 9, 0, 3});
  EXPECT_TRUE(decode(body).has_value());
}

// A Squid sizes its mask for all entries that its cache has room for, however few it has.
TEST(SquidDigest, OfALargeCacheThatIsNearlyEmptyIsRead) {
  const SquidDigest digest = digest_of(2'000'000, 5, 51);
  const auto read = decode(body_of(digest));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->filter, digest.filter);
}

TEST(SquidDigest, MayHaveTheMostBitsPerEntryOfASquid) {
  Body body = body_of(digest_of(16, 127, 5));
  EXPECT_TRUE(decode(body).has_value());
  put(body, 4, {0, 0, 0, 15});
  EXPECT_EQ(decode(body).error(), SquidDigestError::bad_mask_size);
}

// Squid refuses above 65.0 %: of 80 bits, 52 pass and 53 do not.
TEST(SquidDigest, IsRefusedOnceItIsTooFull) {
  Body body = body_of(digest_of(16, 5, 0));
  put(body, 128, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f});
  EXPECT_TRUE(decode(body).has_value());
  put(body, 134, {0x1f});
  EXPECT_EQ(decode(body).error(), SquidDigestError::too_full);

  const SquidDigest crowded = digest_of(16, 5, 200);
  EXPECT_EQ(encode(crowded).error(), SquidDigestError::too_full);
}

TEST(SquidDigest, OfAReconfiguredSquidIsReadByItsMask) {
  const SquidDigest built = digest_of(1000, 5, 900);
  Body body = body_of(built);
  put(body, 20, {10});
  const auto read = decode(body);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->mask_fits_capacity());
  EXPECT_EQ(read->filter, built.filter);
  EXPECT_EQ(encode(*read).error(), SquidDigestError::mask_mismatch);
}

TEST(SquidDigest, IsNotWrittenFromAFilterThatIsNotSquids) {
  SquidDigest digest = digest_of(16, 5, 0);
  digest.filter = *BloomFilter::create({80, 4, Derivation::double_hashing});
  EXPECT_EQ(encode(digest).error(), SquidDigestError::mask_mismatch);
}

TEST(SquidDigest, IsHeldToTheReadersOwnLimit) {
  const Body body = body_of(digest_of(16, 5, 5));
  EXPECT_TRUE(decode(body, 10).has_value());
  EXPECT_EQ(decode(body, 9).error(), SquidDigestError::mask_too_large);
}

TEST(SquidMaskBytes, AreWhatSquidAsksForAndNeverWhatAbortsIt) {
  EXPECT_EQ(*squid_mask_bytes(51, 5), 32U);
  EXPECT_EQ(*squid_mask_bytes(1000, 5), 625U);
  EXPECT_EQ(*squid_mask_bytes(1, 1), 1U);
  constexpr std::uint32_t kMost = (std::uint32_t{1} << 31) - 9;
  EXPECT_EQ(*squid_mask_bytes(kMost, 1), (std::uint32_t{1} << 28) - 1);
  EXPECT_EQ(squid_mask_bytes(kMost + 1, 1).error(), SquidDigestError::mask_too_large);
  EXPECT_TRUE(squid_mask_bytes(kMost / 127, 127).has_value());
  EXPECT_EQ(squid_mask_bytes(kMost / 127 + 1, 127).error(), SquidDigestError::mask_too_large);
  EXPECT_EQ(squid_mask_bytes(0xffffffff, 127).error(), SquidDigestError::mask_too_large);
  EXPECT_EQ(squid_mask_bytes(0, 5).error(), SquidDigestError::bad_capacity);
  EXPECT_EQ(squid_mask_bytes(10, 0).error(), SquidDigestError::bad_bits_per_entry);
  EXPECT_EQ(squid_mask_bytes(10, 128).error(), SquidDigestError::bad_bits_per_entry);
}

}  // namespace
}  // namespace digest
