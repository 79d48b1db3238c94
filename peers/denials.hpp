// The keys that a peer has denied lately though its digest claims them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"

namespace peers {

// A digest that was wrong about a key stays wrong until it changes. The table is bounded: a later
// denial may take the place of an earlier one. Any thread may call anything: there are only
// atomics.
class Denials {
 public:
  static constexpr std::size_t kMost = 1024;

  // The peer has denied the key. `digest`: the number of the digest that claimed it.
  void note(const digest::Key& key, std::uint64_t digest) {
    slot(key).store(mark(key, digest), std::memory_order_relaxed);
  }
  // Whether the peer has denied the key since it published that digest.
  [[nodiscard]] bool has(const digest::Key& key, std::uint64_t digest) const {
    return slots_[place(key)].load(std::memory_order_relaxed) == mark(key, digest);
  }

 private:
  static std::size_t place(const digest::Key& key) {
    return digest::load64(key.bytes.data()) % kMost;
  }
  // Never 0, which is the mark of an empty slot.
  static std::uint64_t mark(const digest::Key& key, std::uint64_t digest) {
    return (digest::load64(key.bytes.data() + 8) + digest * 0x9E3779B97F4A7C15U) | 1U;
  }
  std::atomic<std::uint64_t>& slot(const digest::Key& key) { return slots_[place(key)]; }

  std::array<std::atomic<std::uint64_t>, kMost> slots_{};
};

}  // namespace peers
