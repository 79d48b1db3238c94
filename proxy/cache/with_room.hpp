// Shared objects with room behind them, so that an object and its text are one allocation.
#pragma once

#include <cstddef>
#include <memory>

namespace proxy::cache {

// For std::allocate_shared(): takes `room` more bytes than a T needs. They begin right behind the
// object, at `this + 1` of whoever is made so. `Memory` is the allocator that supplies the bytes.
template <class T, template <class> class Memory = std::allocator>
class WithRoom {
 public:
  using value_type = T;
  template <class U>
  struct rebind {
    using other = WithRoom<U, Memory>;
  };

  explicit WithRoom(std::size_t room) : room_(room) {}
  template <class U>
  WithRoom(const WithRoom<U, Memory>& other) : room_(other.room()) {}

  T* allocate(std::size_t n) { return reinterpret_cast<T*>(Memory<Unit>().allocate(units_for(n))); }
  void deallocate(T* memory, std::size_t n) noexcept {
    Memory<Unit>().deallocate(reinterpret_cast<Unit*>(memory), units_for(n));
  }

  [[nodiscard]] std::size_t room() const { return room_; }
  friend bool operator==(const WithRoom& a, const WithRoom& b) { return a.room_ == b.room_; }

  // What std::allocate_shared() adds to the object: its two counts, its virtual functions, and a
  // copy of this allocator.
  static constexpr std::size_t kBesides = 24;

 private:
  struct alignas(std::max_align_t) Unit {
    std::byte bytes[alignof(std::max_align_t)];
  };
  [[nodiscard]] std::size_t units_for(std::size_t n) const {
    return (n * sizeof(T) + room_ + sizeof(Unit) - 1) / sizeof(Unit);
  }

  const std::size_t room_;
};

}  // namespace proxy::cache
