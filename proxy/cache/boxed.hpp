// An optional value that nearly always is absent: it takes 8 bytes, and its value lies elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

namespace proxy::cache {

// Reads as a constant std::optional.
template <class T>
class Boxed {
 public:
  Boxed(const std::optional<T>& value)
      : value_(value ? std::make_unique<const T>(*value) : nullptr) {}

  explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }
  bool operator==(const Boxed& other) const {
    return value_ && other.value_ ? *value_ == *other.value_ : value_ == other.value_;
  }
  bool operator==(const T& other) const { return value_ && *value_ == other; }

  // Bytes on the heap.
  std::size_t footprint() const { return value_ ? sizeof(T) : 0; }

 private:
  std::unique_ptr<const T> value_;
};

}  // namespace proxy::cache
