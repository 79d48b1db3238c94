// Blocks of objects on their way into the cache and out of it; cache.hpp stores and finds them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "proxy/cache/entry.hpp"

namespace proxy::tiers {

using AskedAt = std::chrono::steady_clock::time_point;

struct StoredBlock {
  cache::Ref<const cache::Entry> block;  // its body is the block's bytes
  bool from_disk = false;                // this call read the block from disk
};

// What becomes of a block that was read from the disk.
enum class AfterRead : std::uint8_t {
  adopt,  // memory keeps it, and may evict others for it
  leave,  // memory does not: whoever reads it has read all others of the object, too
};

enum class BlockKept : std::uint8_t {
  yes,
  no,  // neither memory nor disk took the block, or the object was purged meanwhile
};
// A whole block that has arrived.
struct NewBlock {
  std::uint32_t number = 0;
  cache::Body bytes;
  cache::Giver giver = {};
  AskedAt asked = {};  // when the block was asked for; matters only if a neighbour gave it
};

// How long one response waits for the disk to write its blocks. The total is one second, plus the
// time that the response has taken without such waits: a slow disk at most doubles that time, and
// adds a second. Any thread.
class DiskPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  explicit DiskPatience(Time begun) : begun_(begun) {}

  static constexpr Duration kAtOnce{1'000};

  // How long the response may still wait.
  [[nodiscard]] Duration left(Time now) const {
    const Duration waited = waited_;
    const auto without = std::chrono::floor<Duration>(now - begun_) - waited;
    return kAtOnce + without - waited;
  }
  // Counts a wait that has ended.
  void record(Duration waited) { waited_ = waited_.load() + waited; }

 private:
  const Time begun_;
  std::atomic<Duration> waited_{Duration(0)};
};

}  // namespace proxy::tiers
