#include "digest/keyed_hash.hpp"

#include <random>

#include "digest/little_endian.hpp"

namespace digest {

RandomWords unpredictable() {
  return [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  };
}

Salt random_salt(const RandomWords& random) {
  Salt salt;
  for (std::size_t at = 0; at < salt.size(); at += sizeof(std::uint64_t)) {
    store(salt.data() + at, random());
  }
  return salt;
}

}  // namespace digest
