// The keys that left the digest recently. If a neighbour asks for one of them, its digest is old,
// and the filter made no error.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "proxy/cache/budget.hpp"
#include "proxy/cache/freshness.hpp"

namespace proxy::cache {

// When a key left the digest, as far as that is remembered.
struct Departed {
  static constexpr Time kNever = Time::min();

  Time left = kNever;
  // Until then other keys left that are not remembered any more: the key may have been among them.
  Time forgotten = kNever;
};

// Whether a key has left a digest that was closed at `closed`.
enum class Departure : std::uint8_t { none, lately, unknown };
inline Departure departure(const Departed& departed, Time closed) {
  const auto since = std::chrono::floor<std::chrono::seconds>(closed);
  if (departed.left >= since) return Departure::lately;
  return departed.forgotten >= since ? Departure::unknown : Departure::none;
}
// Says whether the key has left a digest about which nothing is known, as far as can be told.
inline Departure departure(const Departed& departed) {
  if (departed.left != Departed::kNever) return Departure::lately;
  return departed.forgotten != Departed::kNever ? Departure::unknown : Departure::none;
}

// A direct-mapped table of fixed size, charged to the budget. A key may displace another, and is
// recognized by 24 of its bits. Remembers for at most 254 s. Not thread-safe: the lock of the shard
// guards it.
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
    Latest& last = table_[place_of(key)];
    auto forgotten = forgotten_at(last);
    if (last.fragment != fragment_of(key)) forgotten = std::max(forgotten, last.when);
    const auto when = seconds_of(now);
    const auto age = std::min(when - std::min(when, forgotten), kNoAge);
    last.fragment = fragment_of(key) & kFragment;
    last.age = age & kNoAge;
    last.when = when;
  }
  // The keys that left before `now` are not known, because an earlier run of this proxy knew them.
  void lose_earlier(Time now) { lost_ = seconds_of(now); }

  [[nodiscard]] Departed of(const digest::Key& key, Time now) const {
    const Latest& last = table_[place_of(key)];
    const bool is_it = last.when != 0 && last.fragment == fragment_of(key);
    return {remembered(is_it ? last.when : 0, now),
            remembered(std::max(lost_, forgotten_at(last)), now)};
  }

 private:
  static constexpr int kFragmentBits = 24;
  static constexpr std::uint32_t kFragment = (1U << kFragmentBits) - 1;
  // How long before another key left: longer than anything is remembered, or none did.
  static constexpr std::uint32_t kNoAge = 255;
  // The latest key that left the digest at this place of the table.
  struct Latest {
    std::uint32_t fragment : kFragmentBits = 0;
    std::uint32_t age : 8 = kNoAge;  // how long before another one left, which is not remembered
    std::uint32_t when = 0;          // seconds; 0: never
  };
  static_assert(sizeof(Latest) == kBytesEach);

  // The shard was selected by other bits of the hash.
  [[nodiscard]] std::size_t place_of(const digest::Key& key) const {
    return (digest::KeyHash{}(key) >> 32) % table_.size();
  }
  static std::uint32_t fragment_of(const digest::Key& key) {
    return digest::load<std::uint32_t>(key.bytes.data()) >> (32 - kFragmentBits);
  }
  static std::uint32_t seconds_of(Time time) {
    const auto since = time.time_since_epoch();
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(since).count());
  }

  static std::uint32_t forgotten_at(const Latest& place) {
    return place.age == kNoAge ? 0 : place.when - place.age;
  }
  [[nodiscard]] Time remembered(std::uint32_t when, Time now) const {
    if (when == 0 || std::chrono::seconds(seconds_of(now) - when) > remembered_) {
      return Departed::kNever;
    }
    return Time(std::chrono::seconds(when));
  }

  const std::chrono::seconds remembered_;
  std::vector<Latest> table_;
  std::uint32_t lost_ = 0;
  const Charge charge_;
};

}  // namespace proxy::cache
