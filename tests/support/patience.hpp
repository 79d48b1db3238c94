// How long tests wait, and how slow the program under test may be.
#pragma once

#include <chrono>
#include <cstdlib>

namespace support {

// Whether the program under test is built with a sanitizer: the program of this build, or the one
// that the environment names (see hearsay_program()).
#if defined(HEARSAY_SANITIZED)
inline const bool kSanitized = true;
#else
inline const bool kSanitized = std::getenv("HEARSAY_SANITIZED") != nullptr;
#endif

// A sanitizer slows the program several times, the more so on a machine that other work keeps busy.
inline const int kSlowdown = kSanitized ? 5 : 1;

// A test that waits for what never comes fails after this time.
inline const std::chrono::seconds kPatience{10 * kSlowdown};

// The time that a program built like this test may take for what takes the released program `limit`
// at most.
template <class Rep, class Period>
auto allowed(std::chrono::duration<Rep, Period> limit) {
  return limit * kSlowdown;
}

}  // namespace support
