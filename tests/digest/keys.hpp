// Keys for tests: one per number, distributed like the keys of real URLs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/positions.hpp"

namespace digest {

inline constexpr std::uint64_t kMillion = 1'000'000;

inline Key key_number(std::uint64_t number) {
  return key_of(Method::get, "http://test.example/" + std::to_string(number));
}

// Keys at a hundredth of the cost, for tests with millions of keys (Steele, Lea, Flood 2014).
inline Key quick_key(std::uint64_t number) {
  Key key;
  for (std::uint64_t half = 0; half < 2; ++half) {
    std::uint64_t x = (2 * number + half + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    store64(&key.bytes[8 * half], x ^ x >> 31);
  }
  return key;
}

// A key with these four big-endian words, which squid_words takes as positions.
inline Key key_of_words(const std::array<std::uint32_t, 4>& words) {
  Key key;
  for (std::size_t i = 0; i < 16; ++i) {
    key.bytes[i] = static_cast<std::uint8_t>(words[i / 4] >> (24 - 8 * (i % 4)));
  }
  return key;
}

inline std::vector<std::uint64_t> bits_of(const Positions& positions, const Key& key) {
  std::vector<std::uint64_t> bits;
  positions.every(key, [&bits](std::uint64_t bit) {
    bits.push_back(bit);
    return true;
  });
  return bits;
}

}  // namespace digest
