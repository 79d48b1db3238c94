// The memory of coroutine frames. Each request is a stack of a dozen coroutines, so their memory is
// kept for reuse. Asio's own reuse ends at frames of 1020 bytes, and searches them one by one.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
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
//
// The size of a frame is a constant, so taking and giving back kept memory is a few instructions.
class FrameMemory {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 20;
#if defined(HEARSAY_ADDRESS_SANITIZER)
  static constexpr bool kKeeps = false;
#else
  static constexpr bool kKeeps = true;
#endif

  static void* take(std::size_t size) {
    size = rounded(size);
    if (!kKeeps || size > kLargest) return ::operator new(size);
    Free*& list = lists_.of_size[size / kStep];
    if (!list) return ::operator new(size);
    lists_.room += size;
    return std::exchange(list, list->next);
  }
  static void give_back(void* memory, std::size_t size) noexcept {
    size = rounded(size);
    if (!kKeeps || size > lists_.room || size > kLargest) return give_back_slowly(memory, size);
    keep(memory, size);
  }
  // How many bytes this thread keeps.
  static std::size_t kept();

 private:
  static constexpr std::size_t kStep = 64;       // sizes are rounded up to a multiple
  static constexpr std::size_t kLargest = 8192;  // a larger frame is never kept

  struct Free {
    Free* next;
  };
  // The lists have no destructor, so they stay usable until their thread's end.
  struct Lists {
    std::array<Free*, kLargest / kStep + 1> of_size{};
    std::size_t room = 0;  // how many more bytes may be kept; zero until the first is given back
    bool begun = false;
  };
  struct AtThreadsEnd;

  static constexpr std::size_t rounded(std::size_t size) {
    return (size + kStep - 1) / kStep * kStep;
  }
  static void keep(void* memory, std::size_t size) noexcept {
    Free*& list = lists_.of_size[size / kStep];
    list = new (memory) Free{list};
    lists_.room -= size;
  }
  static void give_back_slowly(void* memory, std::size_t size) noexcept;

  static constinit thread_local Lists lists_;
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

namespace proxy::net {

// Allocates shared objects and texts from the memory of coroutine frames: those that each miss
// makes anew and gives up soon. Any thread may free them.
template <class T>
struct FrameAllocator {
  using value_type = T;

  FrameAllocator() = default;
  template <class U>
  FrameAllocator(const FrameAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) { return static_cast<T*>(net::FrameMemory::take(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) noexcept {
    net::FrameMemory::give_back(memory, n * sizeof(T));
  }
  friend bool operator==(const FrameAllocator& /*a*/, const FrameAllocator& /*b*/) { return true; }
};

// std::make_shared, but for the memory.
template <class T, class... Args>
std::shared_ptr<T> make_shared_in_frames(Args&&... args) {
  return std::allocate_shared<T>(FrameAllocator<T>(), std::forward<Args>(args)...);
}

using FrameString = std::basic_string<char, std::char_traits<char>, FrameAllocator<char>>;

}  // namespace proxy::net
