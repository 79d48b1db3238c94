// Keys for tests: one per number, spread like the keys of real URLs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "digest/key.hpp"
#include "digest/positions.hpp"

namespace digest {

inline Key key_number(std::uint64_t number) {
  return key_of(Method::get, "http://test.example/" + std::to_string(number));
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
