// Numbers to and from bytes, least significant first, whatever the machine's own order.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace digest {

inline std::uint64_t in_little_endian(std::uint64_t number) {
  return std::endian::native == std::endian::big ? __builtin_bswap64(number) : number;
}

// Reads, or writes, as many bytes as the number has.
template <std::unsigned_integral Number>
Number load(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) number = number << 8 | bytes[i];
  return static_cast<Number>(number);
}

template <std::unsigned_integral Number>
void store(std::uint8_t* bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::uint64_t{number} >> (8 * i));
  }
}

// The same for 8 bytes, in one access: for inner loops.
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
