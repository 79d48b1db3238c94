#include "digest/keyed_hash.hpp"

#include <random>

#include "digest/little_endian.hpp"

namespace digest {

Salt random_salt() {
  std::random_device source;
  Salt salt;
  for (std::size_t at = 0; at < salt.size(); at += sizeof(std::uint32_t)) {
    store(salt.data() + at, std::uint32_t{source()});
  }
  return salt;
}

}  // namespace digest
