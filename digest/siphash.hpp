// SipHash with 128 bits of output: a hash that nobody can predict without its key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "digest/little_endian.hpp"

namespace digest {

// 128 secret bits. Without them, nobody can find keys that share bits.
using Salt = std::array<std::uint8_t, 16>;

// Aumasson and Bernstein 2012, with the 128-bit output of the reference code, whose vectors for
// SipHash-2-4 the tests contain. kRounds per word, and kFinalRounds for each half of the output.
// The rounds of the second half run only when high() is called.
template <int kRounds, int kFinalRounds>
class SipHash {
 public:
  SipHash(const Salt& salt, std::span<const std::uint8_t> bytes) {
    const std::uint64_t k0 = load64(&salt[0]);
    const std::uint64_t k1 = load64(&salt[8]);
    v0_ = k0 ^ 0x736f6d6570736575U;
    v1_ = k1 ^ 0x646f72616e646f6dU ^ 0xee;
    v2_ = k0 ^ 0x6c7967656e657261U;
    v3_ = k1 ^ 0x7465646279746573U;
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t at = 0; at < whole; at += 8) absorb(load64(bytes.data() + at));
    std::array<std::uint8_t, 8> rest{};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end(), rest.begin());
    absorb(load64(rest.data()) | std::uint64_t{bytes.size()} << 56);
    v2_ ^= 0xee;
    for (int i = 0; i < kFinalRounds; ++i) round();
  }

  // Output bytes 0 to 7 as a little-endian number.
  std::uint64_t low() const { return v0_ ^ v1_ ^ v2_ ^ v3_; }

  // Output bytes 8 to 15, likewise.
  std::uint64_t high() const {
    SipHash last = *this;
    last.v1_ ^= 0xdd;
    for (int i = 0; i < kFinalRounds; ++i) last.round();
    return last.low();
  }

 private:
  void absorb(std::uint64_t message) {
    v3_ ^= message;
    for (int i = 0; i < kRounds; ++i) round();
    v0_ ^= message;
  }

  void round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

using SipHash128 = SipHash<2, 4>;

}  // namespace digest
