// What the answers of one peer have cost us, and when it may be polled again. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "peers/accuracy.hpp"

namespace peers {

// Over time, a peer may take kShare of one core. It may take the share of kAdvance at once. A good
// answer does not settle the debt of a costly one: only time does, at the rate of the share. (A
// leaky bucket; ITU-T I.371 calls it the generic cell rate algorithm.)
//
// The share is 20 ms a second. The changes of a digest of a million entries cost 1 to 3 ms.
class WorkAccount {
 public:
  static constexpr int kShare = 50;  // one part in 50
  static constexpr std::chrono::seconds kAdvance{100};
  // What a byte costs on its way to us, which the clock of the thread that decodes does not show.
  static constexpr std::chrono::nanoseconds kPerByte{1};

  // `work`: processor time; `bytes`: received.
  void charge(std::chrono::nanoseconds work, std::size_t bytes, SteadyTime now) {
    const auto cost = work + kPerByte * static_cast<std::int64_t>(bytes);
    paid_until_ = std::max(paid_until_, now) + kShare * cost;
  }

  // When the peer may be polled again. In the past if it may be polled at any time.
  [[nodiscard]] SteadyTime free_at() const { return paid_until_ - kAdvance; }

 private:
  SteadyTime paid_until_{};
};

}  // namespace peers
