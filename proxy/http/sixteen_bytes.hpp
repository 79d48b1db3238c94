// Sixteen bytes of a text, compared at once. The compiler has one instruction for each operation of
// these types where the machine has one.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace proxy::http {

using SixteenBytes = unsigned char __attribute__((vector_size(16)));
// The result of a comparison: each byte is 0 or 255.
using SixteenAnswers = decltype(SixteenBytes() == SixteenBytes());

// The caller makes sure that there are sixteen.
inline SixteenBytes sixteen_bytes_at(const char* text) {
  SixteenBytes bytes;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

// The position of the first "yes"; 16 if there is none.
inline std::size_t first_yes(SixteenAnswers answers) {
#ifdef __SSE2__
  const auto yes = static_cast<unsigned>(_mm_movemask_epi8(std::bit_cast<__m128i>(answers)));
  return static_cast<std::size_t>(std::countr_zero(yes | 1U << 16));
#else
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2> >(answers);
  const auto position = [](std::uint64_t half) {
    const bool is_little = std::endian::native == std::endian::little;
    return static_cast<std::size_t>(is_little ? std::countr_zero(half) : std::countl_zero(half)) /
           8;
  };
  return halves[0] != 0 ? position(halves[0]) : 8 + position(halves[1]);
#endif
}

// The position of the first byte of a text to which `asked` says yes; the size if there is none.
// `asked` answers for sixteen bytes at once. Bytes that it sees after the end are zero.
template <class Asked>
std::size_t find_first(std::string_view text, const Asked& asked) {
  std::size_t at = 0;
  for (; at + 16 <= text.size(); at += 16) {
    const auto yes = first_yes(asked(sixteen_bytes_at(text.data() + at)));
    if (yes < 16) return at + yes;
  }
  if (at == text.size()) return at;
  std::array<char, 16> rest{};
  std::memcpy(rest.data(), text.data() + at, text.size() - at);
  return std::min(at + first_yes(asked(sixteen_bytes_at(rest.data()))), text.size());
}

}  // namespace proxy::http
