// How long the origins take to the first byte, as far as one thread has seen.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <unordered_map>

#include "peers/first_byte.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy {

// Bounded: forgets the origin first that was first measured. Not thread-safe.
class OriginTimes {
 public:
  using Clock = std::chrono::steady_clock;
  // An estimate that is older than this counts as none.
  static constexpr std::chrono::minutes kFades{5};

  explicit OriginTimes(std::size_t capacity = 1024) : capacity_(capacity) {}

  [[nodiscard]] peers::FirstByte find(const upstream::Endpoint& origin,
                                      Clock::time_point now) const;
  // Records that the origin answered, or timed out, after this time.
  void note(const upstream::Endpoint& origin, std::chrono::microseconds took,
            Clock::time_point now);

 private:
  struct Known {
    peers::FirstByte estimate;
    Clock::time_point measured;
  };

  using All = std::unordered_map<upstream::Endpoint, Known>;

  [[nodiscard]] const Known* look_up(const upstream::Endpoint& origin) const;

  const std::size_t capacity_;
  All known_;
  // What look_up() has found; mostly, the next call wants it, too.
  mutable const All::value_type* last_ = nullptr;
  std::deque<upstream::Endpoint> order_;  // oldest first
};

}  // namespace proxy
