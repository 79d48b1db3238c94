// The size of a Bloom filter, how it maps a key to bits, and what the number of set bits says.
#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "digest/siphash.hpp"

namespace digest {

// 512 MiB of bits, twice what Squid can express. Every position fits in 32 bits.
inline constexpr std::uint64_t kMaxBits = (std::uint64_t{1} << 32) - 8;
// The most hashes of a filter: the best choice for a rate of 2^-32, and no use needs a lower one.
inline constexpr std::uint32_t kMaxHashes = 32;

// How a key yields bit positions. Wire format: golden values in the tests pin each of them.
enum class Derivation : std::uint8_t {
  // a and b are the key's halves as little-endian 64-bit numbers, b made odd. Position i is the
  // upper half of the 128-bit product ((a + i * b) mod 2^64) * bits (Kirsch and Mitzenmacher 2006,
  // with a multiplication instead of the modulus).
  double_hashing,
  // The key's four big-endian 32-bit words, each modulo bits (Squid). Always four hashes.
  squid_words,
  // Like double_hashing, but a and b are the halves of SipHash-2-4-128(salt, key). Nobody can
  // choose keys that share bits, or that share none, without the salt.
  salted,
};

// Where the bit of one hash may lie. Wire format.
enum class Layout : std::uint8_t {
  plain,        // anywhere
  partitioned,  // hash i in slice i of bits / hashes bits: every key sets exactly `hashes` bits
};

struct Shape {
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  Derivation derivation = Derivation::double_hashing;
  Layout layout = Layout::plain;
  Salt salt{};  // only for Derivation::salted

  bool operator==(const Shape&) const = default;

  // The size of the bits in bytes. Unused bits of the last byte stay zero.
  std::size_t byte_count() const { return static_cast<std::size_t>((bits + 7) / 8); }
};

enum class ShapeError : std::uint8_t {
  no_bits,
  too_many_bits,  // more than kMaxBits
  no_hashes,
  too_many_hashes,  // more than kMaxHashes
  not_four_hashes,  // squid_words needs exactly four
  uneven_slices,    // partitioned, but the hashes do not divide the bits
  not_partitioned,  // squid_words has no slices
  unlike_shapes,    // a union or intersection of filters with different shapes
  wrong_length,     // not byte_count() bytes
  stray_bits,       // bits set beyond the last one
};

std::string_view to_string(ShapeError error);

// Returns the shape itself if a filter can have it. Does not allocate.
boost::system::result<Shape, ShapeError> check(const Shape& shape);

std::uint64_t count_bits(std::span<const std::uint8_t> bytes);

// Whether a bit is set beyond the last one of the shape. `bytes` must hold shape.byte_count()
// bytes.
bool has_stray_bits(const Shape& shape, std::span<const std::uint8_t> bytes);

// The probability that a filter with `bits_set` bits set claims a key that was never inserted:
// fill^hashes.
double observed_false_positive_rate(const Shape& shape, std::uint64_t bits_set);

// How many distinct keys would set `bits_set` bits: the inverse of the mean number of bits that n
// keys set (Swamidass and Baldi 2007 for plain filters; each slice counts as a filter with one
// hash). A full filter has no finite answer. For it this returns a lower bound: the answer for a
// filter with one bit clear.
double estimated_keys(const Shape& shape, std::uint64_t bits_set);

// The text for an enumerator, of texts in the order of the enumerators.
template <class Enum, std::size_t kCount>
constexpr std::string_view text_in(const std::array<std::string_view, kCount>& texts, Enum which) {
  const auto at = static_cast<std::size_t>(which);
  return at < kCount ? texts[at] : "unknown error";
}

}  // namespace digest
