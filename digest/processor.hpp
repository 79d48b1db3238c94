// What this machine's processor can do beyond what every one of its kind can.
#pragma once

namespace digest {

// Before main(), while they are not worked out yet, both say no.
#ifdef __x86_64__
inline const bool kHasAvx2 = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}();
inline const bool kHasAvx512 = [] {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0;
}();
#else
inline constexpr bool kHasAvx2 = false;
inline constexpr bool kHasAvx512 = false;
#endif

}  // namespace digest
