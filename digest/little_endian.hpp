// Numbers to and from bytes, least significant first, whatever the machine's own order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace digest {

inline std::uint64_t in_little_endian(std::uint64_t number) {
  return std::endian::native == std::endian::big ? __builtin_bswap64(number) : number;
}

// Read and write 8 bytes.
inline std::uint64_t load64(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return in_little_endian(number);
}

inline void store64(std::uint8_t* bytes, std::uint64_t number) {
  number = in_little_endian(number);
  std::memcpy(bytes, &number, sizeof number);
}

}  // namespace digest
