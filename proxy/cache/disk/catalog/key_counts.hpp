// How many operations of some kind are under way for a key.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "digest/key.hpp"

namespace proxy::cache::disk {

// Several keys share one counter. So a key without operations may seem to have some, but a key with
// operations never seems to have none. Any thread.
class KeyCounts {
 public:
  static std::size_t slot_of(const digest::Key& key) {
    return static_cast<std::size_t>(key.bytes[0] | key.bytes[1] << 8) % kSlots;
  }

  void add(const digest::Key& key) { counts_[slot_of(key)].fetch_add(1); }
  void subtract(std::size_t slot) { counts_[slot].fetch_sub(1); }
  bool any(const digest::Key& key) const { return counts_[slot_of(key)].load() > 0; }

 private:
  static constexpr std::size_t kSlots = 4096;

  std::array<std::atomic<std::uint32_t>, kSlots> counts_{};
};

}  // namespace proxy::cache::disk
