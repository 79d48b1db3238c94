// Numbers of any size to and from bytes, least significant first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace proxy::cache::disk {

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

}  // namespace proxy::cache::disk
