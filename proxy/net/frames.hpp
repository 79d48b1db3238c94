// The memory of coroutine frames. Each request is a stack of a dozen coroutines, so their memory is
// kept for reuse. Asio's own reuse ends at frames of 1020 bytes, and searches them one by one.
#pragma once

#include <cstddef>
#include <utility>

// Whether AddressSanitizer is in the build: gcc and clang say so by different names.
#if defined(__SANITIZE_ADDRESS__)
#define HEARSAY_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEARSAY_ADDRESS_SANITIZER
#endif
#endif

namespace proxy::net {

// Each thread keeps the memory that it frees, up to kKept bytes. Any thread may free what another
// one took. Builds with AddressSanitizer keep nothing, so that it sees each use after the end.
struct FrameMemory {
  static constexpr std::size_t kKept = std::size_t{1} << 20;
#if defined(HEARSAY_ADDRESS_SANITIZER)
  static constexpr bool kKeeps = false;
#else
  static constexpr bool kKeeps = true;
#endif

  static void* take(std::size_t size);
  static void give_back(void* memory, std::size_t size) noexcept;
  // How many bytes this thread keeps.
  static std::size_t kept();
};

// A base for classes of which each request makes an object or a few: their objects take the memory
// of frames.
struct InFrameMemory {
  static void* operator new(std::size_t size) { return FrameMemory::take(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    FrameMemory::give_back(memory, size);
  }
};

}  // namespace proxy::net
