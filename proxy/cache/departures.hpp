// The keys that left the digest recently. If a neighbour asks for one of them, its digest is old,
// and the filter made no error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/freshness.hpp"

namespace proxy::cache {

// A direct-mapped table of fixed size, charged to the budget. A key may displace another, and is
// recognized by 31 of its bits. Not thread-safe: the lock of the shard guards it.
class Departures {
 public:
  // The memory for one key. The table has room for at least one.
  static constexpr std::uint64_t kBytesEach = 8;

  Departures(Budget& budget, std::uint64_t bytes, std::chrono::seconds remembered)
      : remembered_(remembered),
        table_(bytes / kBytesEach + 1),
        charge_(budget, table_.size() * kBytesEach) {}

  // Times are rounded down to seconds.
  void remember(const digest::Key& key, Time now) {
    table_[place_of(key)] = {fragment_of(key), seconds_of(now)};
  }
  // Whether the key left within the remembered time.
  [[nodiscard]] bool holds(const digest::Key& key, Time now) const {
    const Departed& last = table_[place_of(key)];
    return last.fragment == fragment_of(key) &&
           std::chrono::seconds(seconds_of(now) - last.when) <= remembered_;
  }

 private:
  struct Departed {
    std::uint32_t fragment = 0;  // never 0 in a used entry
    std::uint32_t when = 0;
  };
  static_assert(sizeof(Departed) == kBytesEach);

  // By other bits of the hash than those that select the shard.
  [[nodiscard]] std::size_t place_of(const digest::Key& key) const {
    return (digest::KeyHash{}(key) >> 32) % table_.size();
  }
  static std::uint32_t fragment_of(const digest::Key& key) {
    return digest::load<std::uint32_t>(key.bytes.data()) | 1;
  }
  static std::uint32_t seconds_of(Time time) {
    const auto since = time.time_since_epoch();
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since).count());
  }

  const std::chrono::seconds remembered_;
  std::vector<Departed> table_;
  const Charge charge_;
};

}  // namespace proxy::cache
