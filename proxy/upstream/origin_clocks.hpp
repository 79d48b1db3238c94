// Whether our clock is wrong: the Dates of several origins agree with each other, against it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/expiring_table.hpp"
#include "digest/keyed_hash.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::upstream {

// The median of `ahead` (negative: behind our clock), if it exceeds kWrong, and if at least
// OriginClocks::kWitnesses of the clocks, and more than half of them, are within kAgree of it.
// Nothing: no reason to doubt our clock. Pure.
std::optional<std::chrono::seconds> agreed_skew(std::span<const std::chrono::seconds> ahead);

// Remembers how far each origin's clock is ahead of ours, for kKept, of the kMost hosts that were
// noted last. In each second, a host counts once, and again when its clock turns out to be wrong,
// or right. Any thread. While all Dates agree with our clock, most calls of record() cost two
// comparisons; otherwise most cost a lock and a hash of the host.
class OriginClocks {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kWitnesses = 3;
  static constexpr std::chrono::minutes kWrong{10};
  static constexpr std::chrono::minutes kAgree{3};
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::minutes kKept{10};
  // How often an origin is remembered that agrees with us, while all do.
  static constexpr std::chrono::milliseconds kSample{100};

  // An origin, not a cache on the way, sent a response with a Date that is `ahead` of our clock.
  // Says so in the log when the clocks begin to agree that ours is wrong, and when that is over.
  void record(std::string_view host, std::chrono::seconds ahead, Clock::time_point now);
  // Our clock has stepped, so what was noted before says nothing about it.
  void forget();
  // How far the origins' clocks are ahead of ours. Nothing: ours is right, as far as is known.
  [[nodiscard]] std::optional<std::chrono::seconds> skew(Clock::time_point now) const;

 private:
  struct Seen {
    std::chrono::seconds ahead;
    Clock::time_point at;
  };

  bool is_due(Clock::time_point now);
  // Returns false if the host was recorded in this second already, and its clock was right then and
  // is right now, or was wrong then and is wrong now.
  bool record(std::string_view host, Seen seen) REQUIRES(mutex_);
  [[nodiscard]] std::optional<std::chrono::seconds> skew_of_recent(Clock::time_point now) const
      REQUIRES(mutex_);

  std::atomic<Clock::duration::rep> sampled_{0};
  std::atomic<bool> any_wrong_{false};  // the table has a host whose clock disagrees with ours
  mutable threads::Mutex mutex_;
  config::ExpiringTable<std::string, Seen, digest::TextHash> hosts_ GUARDED_BY(mutex_){kMost};
  bool said_ GUARDED_BY(mutex_) = false;
};

}  // namespace proxy::upstream
