// Shared objects and texts in the memory of frames, which each thread keeps for reuse.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "proxy/net/frames.hpp"

namespace proxy {

// For what each miss makes anew and gives up soon. Any thread may free it (net::FrameMemory).
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

}  // namespace proxy
