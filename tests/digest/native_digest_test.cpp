#include "digest/native_digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <string_view>

#include "digest/counting_filter.hpp"
#include "digest/gap_code.hpp"
#include "digest/little_endian.hpp"
#include "keys.hpp"

namespace digest {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kRoom = std::size_t{1} << 22;

Salt some_salt() {
  Salt salt;
  std::iota(salt.begin(), salt.end(), std::uint8_t{1});
  return salt;
}

Shape shape_of(std::uint64_t bits, std::uint32_t hashes = 8) {
  return {.bits = bits,
          .hashes = hashes,
          .derivation = Derivation::salted,
          .layout = Layout::plain,
          .salt = some_salt()};
}

NativeDigest generation_of(const BloomFilter& filter, std::uint64_t generation) {
  return {.epoch = 0x1122334455667788,
          .generation = generation,
          .capacity = filter.shape().bits / 12,
          .entries = 3,
          .checksum = checksum_of(filter.bytes()),
          .filter = filter};
}

NativeDigest digest_of(int first, int last, std::uint64_t generation = 1,
                       std::uint64_t bits = 1200) {
  auto filter = *BloomFilter::create(shape_of(bits));
  for (int i = first; i < last; ++i) filter.insert(key_number(static_cast<std::uint64_t>(i)));
  return generation_of(filter, generation);
}

Bytes delta_of(const NativeDigest& from, const NativeDigest& to) {
  return encode_delta(head_of(to), from.generation, flips_between(from.filter, to.filter));
}

std::string hex_of(const Bytes& bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

NativeError error_of(const Bytes& message, const NativeDigest* held = nullptr,
                     std::size_t room = kRoom) {
  return decode_native(message, held, room).error();
}

BloomFilter filter_of_urls(std::initializer_list<std::string_view> urls) {
  auto filter = *BloomFilter::create(shape_of(100, 3));
  for (const auto url : urls) filter.insert(key_of(Method::get, url));
  return filter;
}

// The expected bytes of this test and the next two were composed by hand, in Python, from the
// header of native_digest.hpp.
TEST(NativeDigest, IsPinned) {
  const std::string expected =
      "485344470101030388776655443322110102030405060708090a0b0c0d0e0f10"
      "0700000000000000000000000000000064000000000000000800000000000000"
      "0300000000000000020000000000000002000000000000005ac8237defc3bdb7"
      "de2460911779fe233f01";
  const auto filter = filter_of_urls({"http://example.com/"});
  EXPECT_EQ(hex_of(encode_snapshot(generation_of(filter, 7))), expected);
}

TEST(NativeDigest, ADeltaIsPinned) {
  const std::string expected =
      "485344470101030388776655443322110102030405060708090a0b0c0d0e0f10"
      "0800000000000000070000000000000064000000000000000800000000000000"
      "0300000000000000050000000000000006000000000000002b0a1c84c4f263c7"
      "8ec829f536a96d5b580a1cbf00";
  const auto before = filter_of_urls({"http://example.com/", "http://example.com/a"});
  const auto after = filter_of_urls({"http://example.com/", "http://example.com/b"});
  EXPECT_EQ(hex_of(delta_of(generation_of(before, 7), generation_of(after, 8))), expected);
}

TEST(NativeDigest, AsBitsIsPinned) {
  const std::string expected =
      "485344470100030088776655443322110102030405060708090a0b0c0d0e0f10"
      "0700000000000000000000000000000064000000000000000800000000000000"
      "030000000000000008000000000000000000000000000000fffd2b257ed19a7b"
      "b33d1f8379ce498d1040000300004c000000000001";
  const auto filter =
      filter_of_urls({"http://example.com/", "http://example.com/a", "http://example.com/b"});
  EXPECT_EQ(hex_of(encode_snapshot(generation_of(filter, 7))), expected);
}

TEST(NativeDigest, SaysBeforehandAboutHowLongASnapshotIs) {
  for (const int keys : {0, 1, 3, 8, 9, 50, 150}) {
    const NativeDigest digest = digest_of(0, keys, 1, 12'000);
    const auto real = static_cast<double>(encode_snapshot(digest).size());
    EXPECT_NEAR(static_cast<double>(snapshot_bytes(head_of(digest))), real, 4 + 0.05 * real)
        << keys;
  }
}

TEST(NativeDigest, ComesBackWholeHoweverFull) {
  for (const int keys : {0, 1, 5, 40, 150}) {
    const NativeDigest digest = digest_of(0, keys);
    const auto decoded = decode_native(encode_snapshot(digest), nullptr, kRoom);
    ASSERT_TRUE(decoded) << keys;
    EXPECT_EQ(*decoded, digest) << keys;
  }
}

TEST(NativeDigest, ADeltaMakesTheNewGenerationAndLeavesTheOld) {
  const NativeDigest before = digest_of(0, 100, 4);
  const NativeDigest after = digest_of(20, 130, 9);
  const NativeDigest held = before;
  const auto decoded = decode_native(delta_of(held, after), &held, kRoom);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, after);
  EXPECT_EQ(held, before);
}

TEST(NativeDigest, ChecksumFollowsFlips) {
  const NativeDigest before = digest_of(0, 100, 1, 1203);
  const NativeDigest after = digest_of(50, 150, 2, 1203);
  const auto flips = flips_between(before.filter, after.filter);
  Bytes bits(before.filter.bytes().begin(), before.filter.bytes().end());
  EXPECT_EQ(flip_bits(bits, flips, before.checksum), after.checksum);
  EXPECT_EQ(*BloomFilter::from_bytes(after.filter.shape(), bits), after.filter);
  EXPECT_EQ(flip_bits(bits, {}, after.checksum), after.checksum);
  EXPECT_NE(before.checksum, after.checksum);
}

// The reader's filter was damaged without notice, as by a memory fault.
TEST(NativeDigest, ADeltaOnAnythingButItsBaseIsSeen) {
  const NativeDigest after = digest_of(0, 60, 5);
  const Bytes delta = delta_of(digest_of(0, 50, 4), after);
  EXPECT_EQ(error_of(delta), NativeError::other_base);
  NativeDigest held = digest_of(0, 50, 3);
  EXPECT_EQ(error_of(delta, &held), NativeError::other_base);
  held.generation = 4;
  EXPECT_TRUE(decode_native(delta, &held, kRoom));
  held.epoch ^= 1;
  EXPECT_EQ(error_of(delta, &held), NativeError::other_base);
  held = digest_of(0, 49, 4);
  EXPECT_EQ(error_of(delta, &held), NativeError::checksum_mismatch);
}

TEST(NativeDigest, EveryFlippedBitAndEveryCutIsAnError) {
  const NativeDigest held = digest_of(0, 50, 4);
  for (const Bytes& good : {encode_snapshot(digest_of(0, 3)), encode_snapshot(digest_of(0, 90)),
                            delta_of(held, digest_of(0, 60, 5))}) {
    ASSERT_TRUE(decode_native(good, &held, kRoom));
    Bytes bad = good;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
      EXPECT_FALSE(decode_native(bad, &held, kRoom)) << bit;
      bad[bit / 8] = good[bit / 8];
    }
    for (std::size_t length = 0; length < good.size(); ++length) {
      EXPECT_FALSE(decode_native({good.data(), length}, &held, kRoom)) << length;
    }
    bad.push_back(0);
    EXPECT_FALSE(decode_native(bad, &held, kRoom));
  }
}

TEST(NativeDigest, IsRefusedWithTheReason) {
  const Bytes good = encode_snapshot(digest_of(0, 90));
  EXPECT_EQ(error_of({}), NativeError::not_native);
  EXPECT_EQ(error_of(Bytes(500, 'x')), NativeError::not_native);
  EXPECT_EQ(error_of(Bytes(good.begin(), good.begin() + 103)), NativeError::truncated);
  EXPECT_EQ(error_of(good, nullptr, 149), NativeError::too_large);
  EXPECT_TRUE(decode_native(good, nullptr, 150));
  Bytes later = good;
  later[4] = 2;
  EXPECT_EQ(error_of(later), NativeError::unknown_version);
  later[4] = 1;
  later[9] = static_cast<std::uint8_t>(later[9] + 1);
  EXPECT_EQ(error_of(later), NativeError::damaged_header);
  EXPECT_EQ(error_of(encode_delta(head_of(digest_of(0, 9, 5)), 6, {})), NativeError::bad_header);
  EXPECT_EQ(error_of(encode_snapshot(digest_of(0, 9, 0))), NativeError::bad_header);
  EXPECT_EQ(error_of(encode_snapshot(digest_of(0, 1000))), NativeError::too_full);
}

// The message with another number, of 1 or 8 bytes, and a checksum of the header that fits.
Bytes forged(Bytes message, std::size_t at, std::uint64_t value) {
  if (at < 8) {
    message[at] = static_cast<std::uint8_t>(value);
  } else {
    store64(message.data() + at, value);
  }
  store64(message.data() + 96, checksum_of(std::span(message).first(96)));
  return message;
}

constexpr std::size_t kRiceAt = 7;
constexpr std::size_t kBitsSetAt = 72;
constexpr std::size_t kPositionsAt = 80;

TEST(NativeDigest, IsJudgedByItsHeaderBeforeAnythingIsDecoded) {
  const Bytes snapshot = encode_snapshot(digest_of(0, 3));
  const std::uint64_t set = head_of(digest_of(0, 3)).bits_set;
  ASSERT_TRUE(decode_native(forged(snapshot, kBitsSetAt, set), nullptr, kRoom));
  EXPECT_EQ(error_of(forged(snapshot, kBitsSetAt, 1201)), NativeError::bad_header);
  EXPECT_EQ(error_of(forged(snapshot, kBitsSetAt, set - 1)), NativeError::bad_header);
  EXPECT_EQ(error_of(forged(snapshot, kPositionsAt, 0)), NativeError::bad_header);
  const Bytes bits = encode_snapshot(digest_of(0, 90));
  EXPECT_EQ(error_of(forged(bits, kBitsSetAt, 1200)), NativeError::too_full);
  const NativeDigest held = digest_of(0, 50, 4);
  const NativeDigest next = digest_of(0, 60, 5);
  const std::uint64_t most = held.filter.bits_set() + next.filter.bits_set();
  const Bytes delta = delta_of(held, next);
  EXPECT_EQ(error_of(forged(delta, kPositionsAt, most), &held), NativeError::bad_content);
  EXPECT_EQ(error_of(forged(delta, kPositionsAt, most + 1), &held), NativeError::checksum_mismatch);
}

// Sound gaps, but with a parameter that makes the code longer than the filter.
TEST(NativeDigest, ThatIsLongerThanItsFilterIsRefused) {
  const NativeDigest held = digest_of(0, 50, 4);
  const NativeDigest next = digest_of(0, 60, 5);
  const auto flips = flips_between(held.filter, next.filter);
  for (const unsigned rice : {5U, 25U}) {
    Bytes message = delta_of(held, next);
    message.resize(kNativeHeaderBytes);
    append_gaps(message, flips, rice);
    message = forged(message, kRiceAt, rice);
    const bool longer = message.size() > kNativeHeaderBytes + held.filter.bytes().size();
    EXPECT_EQ(longer, rice == 25);
    EXPECT_EQ(decode_native(message, &held, kRoom).has_value(), !longer);
    if (longer) {
      EXPECT_EQ(error_of(message, &held), NativeError::bad_content);
    }
  }
}

TEST(NativeDigest, TellsItsHeadAlone) {
  const NativeDigest digest = digest_of(0, 90);
  Bytes message = encode_snapshot(digest);
  message.resize(kNativeHeaderBytes);
  const auto head = read_native_head(message);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->shape, digest.filter.shape());
  EXPECT_EQ(head->epoch, digest.epoch);
  EXPECT_EQ(head->generation, digest.generation);
  EXPECT_EQ(head->capacity, digest.capacity);
  EXPECT_EQ(head->entries, digest.entries);
  EXPECT_EQ(head->bits_set, digest.filter.bits_set());
  EXPECT_EQ(head->checksum, digest.checksum);
  message.pop_back();
  EXPECT_EQ(read_native_head(message).error(), NativeError::truncated);
}

// The filter that the format was made for: a million entries, 12 bits each.
class WireSize : public testing::Test {
 protected:
  void store(std::uint64_t first, std::uint64_t last) {
    for (auto i = first; i < last; ++i) filter_.add(spread(i));
  }
  void drop(std::uint64_t first, std::uint64_t last) {
    for (auto i = first; i < last; ++i) filter_.remove(spread(i));
  }
  // The length of a delta with all changes since the last call.
  std::size_t delta() {
    const NativeDigest next = generation_of(filter_.projection(), held_.generation + 1);
    const Bytes message = delta_of(held_, next);
    const auto decoded = decode_native(message, &held_, kRoom);
    EXPECT_TRUE(decoded && *decoded == next);
    held_ = next;
    return message.size();
  }

 private:
  // A substitute for the MD5 of a URL.
  static Key spread(std::uint64_t number) {
    std::mt19937_64 random(number);
    Key key;
    const std::uint64_t words[] = {random(), random()};
    std::memcpy(key.bytes.data(), words, sizeof words);
    return key;
  }

  CountingFilter filter_ = *CountingFilter::create(shape_of(12'000'000));
  NativeDigest held_ = generation_of(filter_.projection(), 1);
};

TEST_F(WireSize, OfAThousandInsertsIsUnder13000BytesAtAnyLoad) {
  std::uint64_t held = 0;
  for (const std::uint64_t load : {0U, 250'000U, 500'000U, 750'000U, 1'000'000U}) {
    store(held, load);
    delta();
    store(load, held = load + 1000);
    EXPECT_LT(delta(), 13'000U) << load;
  }
  drop(0, 500);
  store(held, held + 500);
  EXPECT_LT(delta(), 8'000U) << "500 stored and 500 removed when full";
  EXPECT_EQ(delta(), kNativeHeaderBytes) << "nothing";
  drop(500, 600);
  store(held + 500, held + 600);
  constexpr std::size_t kHeads = 700;  // bytes of both heads, more than we send
  constexpr double kPollsEach = 0.9;   // seconds between polls, with the most jitter
  EXPECT_LT(8 * static_cast<double>(delta() + kHeads) / kPollsEach, 40'000) << "bit/s";
}

int clear_bits(const BloomFilter& filter, const Key& key) {
  int clear = 0;
  Positions(filter.shape()).every(key, [&](std::uint64_t position) {
    clear += (filter.bytes()[position >> 3] >> (position & 7) & 1) == 0;
    return true;
  });
  return clear;
}

double share_claimed(const BloomFilter& filter) {
  int claimed = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    claimed += filter.contains(key_number(i + (1U << 30)));
  return claimed / 200'000.0;
}

// The attack of Gerbet, Kumar and Lauradoux (DSN 2015): choose those of many URLs that set the most
// new bits. The attackers know everything but the salt.
TEST(Salt, LeavesChosenUrlsNoWorseThanRandomOnes) {
  constexpr int kUrls = 100'000;
  Shape shape = shape_of(12 * kUrls);
  auto guess = *BloomFilter::create(shape);
  shape.salt.fill(0x5a);
  auto crafted = *BloomFilter::create(shape);
  auto random = *BloomFilter::create(shape);
  std::uint64_t next = 0;
  for (int url = 0; url < kUrls; ++url) {
    random.insert(key_number((1U << 29) + static_cast<unsigned>(url)));
    Key best = key_number(next++);
    for (int tries = 1; tries < 8; ++tries) {
      const Key other = key_number(next++);
      if (clear_bits(guess, other) > clear_bits(guess, best)) best = other;
    }
    guess.insert(best);
    crafted.insert(best);
  }
  EXPECT_GT(share_claimed(guess), 2 * share_claimed(random));
  EXPECT_LT(share_claimed(crafted), 1.1 * share_claimed(random));
}

}  // namespace
}  // namespace digest
