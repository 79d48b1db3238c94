// How long the origins take to the first byte, as far as one thread has seen.
#pragma once

#include <chrono>
#include <cstddef>

#include "config/expiring_table.hpp"
#include "peers/first_byte.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy {

// Not thread-safe.
class OriginTimes {
 public:
  using Clock = std::chrono::steady_clock;
  // An estimate that is older than this counts as none.
  static constexpr std::chrono::minutes kFades{5};

  explicit OriginTimes(std::size_t capacity = 1024) : known_(capacity) {}

  [[nodiscard]] peers::FirstByte find(const upstream::Endpoint& origin,
                                      Clock::time_point now) const {
    const auto* const estimate = known_.find(origin, now);
    return estimate ? *estimate : peers::FirstByte();
  }
  // Records that the origin answered, or timed out, after this time.
  void note(const upstream::Endpoint& origin, std::chrono::microseconds took,
            Clock::time_point now) {
    known_.put(origin, find(origin, now).with(took), now + kFades);
  }

 private:
  config::ExpiringTable<upstream::Endpoint, peers::FirstByte> known_;
};

}  // namespace proxy
