// Hashes for tables of this process whose keys strangers choose: URLs, names of hosts.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "digest/little_endian.hpp"
#include "digest/random_words.hpp"
#include "digest/siphash.hpp"

namespace digest {

inline Salt random_salt(const RandomWords& random = unpredictable()) {
  Salt salt;
  store64(&salt[0], random());
  store64(&salt[8], random());
  return salt;
}

// Drawn at the first call, then the same until the process ends. Any thread. `random` (of the first
// call): where it is drawn from, for a simulation; null: unpredictable().
inline const Salt& process_salt(const RandomWords* random = nullptr) {
  static const Salt salt = random ? random_salt(*random) : random_salt();
  return salt;
}

// SipHash-1-3 under process_salt(): half the rounds of SipHash-2-4, and enough for a table whose
// hashes nobody sees (Rust's and Ruby's tables use it). A stranger cannot choose keys that share a
// bucket, and so cannot make look-ups slow. Differs from process to process: never stored and never
// sent. Any thread.
inline std::uint64_t keyed_hash(std::span<const std::uint8_t> bytes) {
  return SipHash<1, 3>(process_salt(), bytes).low();
}

// The same for 16 bytes that are spread already, such as an MD5, at a tenth of the cost: the folded
// product of their halves, each offset by a half of the salt, as NH of UMAC has it (Black et al.
// 1999). Without the salt, a stranger cannot tell which values share a bucket.
inline std::uint64_t keyed_hash_of_spread(const std::array<std::uint8_t, 16>& bytes) {
  static const auto salt = std::bit_cast<std::array<std::uint64_t, 2>>(process_salt());
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
  __extension__ using Product = unsigned __int128;
  const auto product = Product{halves[0] + salt[0]} * (halves[1] + salt[1]);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The hash of a text in hash maps.
struct TextHash {
  using is_avalanching = void;  // tells Boost's flat maps not to mix again

  std::size_t operator()(std::string_view text) const {
    return keyed_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
};

}  // namespace digest
