#include "digest/shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "digest/mapped_filter.hpp"
#include "digest/native_digest.hpp"
#include "digest/positions.hpp"
#include "digest/sizing.hpp"
#include "digest/squid_digest.hpp"
#include "keys.hpp"

namespace digest {
namespace {

constexpr auto kDouble = Derivation::double_hashing;
constexpr auto kSquid = Derivation::squid_words;

TEST(Shape, IsRefusedWithTheReason) {
  struct Case {
    Shape shape;
    std::optional<ShapeError> expected;
  };
  const Case cases[] = {
      {{1, 1, kDouble}, {}},
      {{kMaxBits, kMaxHashes, kDouble}, {}},
      {{8, 4, kSquid}, {}},
      {{0, 4, kDouble}, ShapeError::no_bits},
      {{kMaxBits + 1, 4, kDouble}, ShapeError::too_many_bits},
      {{~std::uint64_t{0}, 4, kDouble}, ShapeError::too_many_bits},
      {{8, 0, kDouble}, ShapeError::no_hashes},
      {{8, kMaxHashes + 1, kDouble}, ShapeError::too_many_hashes},
      {{8, 5, kSquid}, ShapeError::not_four_hashes},
      {{12, 4, kDouble, Layout::partitioned}, {}},
      {{13, 4, kDouble, Layout::partitioned}, ShapeError::uneven_slices},
      {{3, 4, kDouble, Layout::partitioned}, ShapeError::uneven_slices},
      {{8, 4, kSquid, Layout::partitioned}, ShapeError::not_partitioned},
  };
  for (const auto& [shape, expected] : cases) {
    const auto checked = check(shape);
    const auto found = checked ? std::nullopt : std::optional(checked.error());
    EXPECT_EQ(found, expected) << shape.bits << ' ' << shape.hashes;
  }
}

TEST(Shape, RoundsUpToBytes) {
  EXPECT_EQ((Shape{1, 1, kDouble}.byte_count()), 1U);
  EXPECT_EQ((Shape{8, 1, kDouble}.byte_count()), 1U);
  EXPECT_EQ((Shape{9, 1, kDouble}.byte_count()), 2U);
}

// Computed independently of this code, in Python.
TEST(Positions, OfDoubleHashingArePinned) {
  using Bits = std::vector<std::uint64_t>;
  const Key first = key_of(Method::get, "http://example.com/");
  const Key second = key_of(Method::get, "http://example.com/index.html");
  const Positions small({1000, 7, kDouble});
  const Positions large({12'000'003, 8, kDouble});
  EXPECT_EQ(bits_of(small, first), (Bits{621, 386, 152, 917, 683, 448, 214}));
  EXPECT_EQ(bits_of(small, second), (Bits{920, 222, 524, 825, 127, 429, 730}));
  EXPECT_EQ(bits_of(large, first),
            (Bits{7454612, 4640225, 1825838, 11011453, 8197066, 5382679, 2568291, 11753907}));
  EXPECT_EQ(bits_of(large, second),
            (Bits{11051079, 2670627, 6290177, 9909728, 1529276, 5148826, 8768377, 387924}));
}

// Computed independently of this code, in Python with OpenSSL's SipHash.
TEST(Positions, OfSaltedArePinned) {
  Shape shape{12'000'003, 8, Derivation::salted};
  for (std::size_t i = 0; i < 16; ++i) shape.salt[i] = static_cast<std::uint8_t>(i);
  using Bits = std::vector<std::uint64_t>;
  EXPECT_EQ(bits_of(Positions(shape), key_of(Method::get, "http://example.com/")),
            (Bits{2915294, 5940432, 8965571, 11990709, 3015844, 6040982, 9066120, 91255}));
  EXPECT_EQ(bits_of(Positions(shape), key_of(Method::get, "http://example.com/index.html")),
            (Bits{10850462, 4031877, 9213295, 2394710, 7576128, 757543, 5938962, 11120380}));
}

TEST(Positions, OfDoubleHashingMoveOnFromAKeyWithoutASecondHalf) {
  const Key key = key_of_words({0xffffffff, 0xffffffff, 0, 0});
  EXPECT_EQ(bits_of(Positions({1000, 3, kDouble}), key), (std::vector<std::uint64_t>{999, 0, 0}));
}

TEST(Positions, OfAPartitionedFilterLieInOneSliceEach) {
  const Positions positions({7'000, 7, kDouble, Layout::partitioned});
  const Key pinned = key_of(Method::get, "http://example.com/");
  // A slice has 1000 bits; the positions are those of a plain filter of that size, above.
  EXPECT_EQ(bits_of(positions, pinned),
            (std::vector<std::uint64_t>{621, 1386, 2152, 3917, 4683, 5448, 6214}));
}

TEST(Positions, OfSquidAreTheWordsModuloTheBits) {
  std::mt19937 random(1);
  const std::array<std::uint32_t, 4> edges = {0, 1, 0x7fffffff, 0xffffffff};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = 1 + random() % (i % 2 == 0 ? 100'000 : kMaxBits);
    const std::array<std::uint32_t, 4> words = {edges[i % 4U], static_cast<std::uint32_t>(bits - 1),
                                                static_cast<std::uint32_t>(bits),
                                                static_cast<std::uint32_t>(random())};
    const auto found = bits_of(Positions({bits, 4, kSquid}), key_of_words(words));
    for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(found[w], words[w] % bits) << bits;
  }
}

TEST(Positions, AreAllSetOnlyWhereEachIs) {
  for (const Shape& shape :
       {Shape{1000, 1}, Shape{1000, 4}, Shape{1000, 7}, Shape{1000, 4, kSquid},
        Shape{1000, 8, Derivation::salted}, Shape{1000, 5, kDouble, Layout::partitioned}}) {
    const Positions positions(shape);
    const auto mine = bits_of(positions, key_number(1));
    const auto held_but = [&mine](std::uint64_t missing) {
      return [&mine, missing](std::uint64_t bit) {
        return bit != missing && std::find(mine.begin(), mine.end(), bit) != mine.end();
      };
    };
    EXPECT_TRUE(positions.all(key_number(1), held_but(~std::uint64_t{0})));
    for (const auto bit : mine) EXPECT_FALSE(positions.all(key_number(1), held_but(bit))) << bit;
  }
}

TEST(Positions, StopAtTheFirstRefusal) {
  for (const auto derivation : {kDouble, kSquid}) {
    int asked = 0;
    const auto second_refused = [&asked](std::uint64_t) { return ++asked < 2; };
    EXPECT_FALSE(Positions({100, 4, derivation}).every(key_number(1), second_refused));
    EXPECT_EQ(asked, 2);
  }
}

// Each text stands at the place of its enumerator.
TEST(Texts, SayWhatIsWrong) {
  EXPECT_EQ(to_string(ShapeError::no_bits), "a filter needs at least one bit");
  EXPECT_EQ(to_string(ShapeError::stray_bits), "bits are set beyond the end of the filter");
  EXPECT_EQ(to_string(static_cast<ShapeError>(10)), "unknown error");
  EXPECT_EQ(to_string(FileError::bad_content), "no filter of this shape can have this content");
  EXPECT_EQ(to_string(NativeError::too_full), "so full that it claims every fourth key");
  EXPECT_EQ(to_string(SquidDigestError::mask_mismatch),
            "mask does not fit capacity and bits per entry");
  EXPECT_EQ(to_string(SizingError::rate_too_low),
            "so few bits per entry do not reach the rate with any number of hashes");
  EXPECT_EQ(to_string(MappedError::read_only), "the filter was opened to read");
}

}  // namespace
}  // namespace digest
