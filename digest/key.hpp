// The 16-byte key under which a response is stored and claimed: Squid's store key.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "digest/keyed_hash.hpp"

namespace digest {

struct Key {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Key&) const = default;
};

// Squid's method numbers. They are part of the hash, so the values are wire format (Squid 5.7 to
// 7).
enum class Method : std::uint8_t {
  get = 1,
  post = 2,
  put = 3,
  head = 4,
  connect = 5,
  trace = 6,
  options = 7,
  delete_ = 8,
};

// MD5 of the method byte and the canonical absolute URL, as Squid computes it. Neighbours publish
// and look up GET keys only. The URL is hashed as given: the caller makes it canonical. The key of
// a variant is that of the URL with Squid's Vary mark appended. MD5 serves as a name that
// neighbours agree on, not as protection: a cache that stores responses by key must compare the URL
// too. Any thread. Allocates nothing.
Key key_of(Method method, std::string_view canonical_url);

// 32 hex digits in lower case.
std::string to_hex(const Key& key);

// The hash of a key in hash maps. Everybody can compute a key, and so find URLs whose keys agree in
// some bits. The hash is keyed, so that such keys share a bucket no more often than others.
struct KeyHash {
  using is_avalanching = void;  // tells Boost's flat maps not to mix again

  std::size_t operator()(const Key& key) const { return keyed_hash_of_spread(key.bytes); }
};

// Which of the `parts` of a table the key belongs to. Independent of the key's place in a map
// within the part: a flat map takes the place from the lowest 8 and the highest bits of KeyHash.
inline std::size_t part_of_hash(std::size_t hash, std::size_t parts) {
  return (hash >> 8) % parts;
}
inline std::size_t part_of(const Key& key, std::size_t parts) {
  return part_of_hash(KeyHash{}(key), parts);
}

}  // namespace digest
