// The optional instructions that this machine supports.
#pragma once

#include <cstdint>

namespace digest {

enum class Instructions : std::uint8_t { portable, avx2, avx512 };

#ifdef __x86_64__
// `portable` until static initialization has set it, before main().
inline const Instructions kBestInstructions = [] {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") != 0) return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") != 0) return Instructions::avx2;
  return Instructions::portable;
}();
#else
inline constexpr Instructions kBestInstructions = Instructions::portable;
#endif

}  // namespace digest
