// Numbers to and from bytes, least significant first, whatever the machine's own order.
#pragma once

#include <boost/endian/conversion.hpp>
#include <concepts>
#include <cstdint>

namespace digest {

// Reads, or writes, as many bytes as the number has, in one access.
template <std::unsigned_integral Number>
Number load(const std::uint8_t* bytes) {
  return boost::endian::endian_load<Number, sizeof(Number), boost::endian::order::little>(bytes);
}

template <std::unsigned_integral Number>
void store(std::uint8_t* bytes, Number number) {
  boost::endian::endian_store<Number, sizeof(Number), boost::endian::order::little>(bytes, number);
}

inline std::uint64_t load64(const std::uint8_t* bytes) {
  return load<std::uint64_t>(bytes);
}
inline void store64(std::uint8_t* bytes, std::uint64_t number) {
  store(bytes, number);
}

}  // namespace digest
