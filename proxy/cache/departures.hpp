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

// Whether a key left the digest within the remembered time.
enum class Departure : std::uint8_t {
  none,
  lately,
  unknown,          // the table has lost keys, and this one may have been among them
  before_this_run,  // likewise, but this one did not leave since the proxy was started
};

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
    Departed& last = table_[place_of(key)];
    const bool is_other = last.fragment != fragment_of(key);
    const bool displaces = is_remembered(last, now) && (is_other || last.displaced != 0);
    last = {fragment_of(key) & kFragment, displaces ? 1U : 0U, seconds_of(now)};
  }
  // The keys that left before `now` are not known, because an earlier run of this proxy knew them.
  void lose_earlier(Time now) { lost_ = {0, 1, seconds_of(now)}; }

  [[nodiscard]] Departure of(const digest::Key& key, Time now) const {
    const Departed& last = table_[place_of(key)];
    const bool counts = is_remembered(last, now);
    if (counts && last.fragment == fragment_of(key)) return Departure::lately;
    if (counts && last.displaced != 0) return Departure::unknown;
    return is_remembered(lost_, now) ? Departure::before_this_run : Departure::none;
  }

 private:
  static constexpr std::uint32_t kFragment = (1U << 31) - 1;
  struct Departed {
    std::uint32_t fragment : 31 = 0;
    std::uint32_t displaced : 1 = 0;  // a key that still had to be remembered
    std::uint32_t when = 0;           // 0: never
  };
  static_assert(sizeof(Departed) == kBytesEach);

  // By other bits of the hash than those that select the shard.
  [[nodiscard]] std::size_t place_of(const digest::Key& key) const {
    return (digest::KeyHash{}(key) >> 32) % table_.size();
  }
  static std::uint32_t fragment_of(const digest::Key& key) {
    return digest::load<std::uint32_t>(key.bytes.data()) & kFragment;
  }
  static std::uint32_t seconds_of(Time time) {
    const auto since = time.time_since_epoch();
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since).count());
  }

  [[nodiscard]] bool is_remembered(const Departed& departed, Time now) const {
    if (departed.when == 0) return false;
    return std::chrono::seconds(seconds_of(now) - departed.when) <= remembered_;
  }

  const std::chrono::seconds remembered_;
  std::vector<Departed> table_;
  Departed lost_{};
  const Charge charge_;
};

}  // namespace proxy::cache
