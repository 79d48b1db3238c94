// Makes room in memory while it is short: cuts connections whose clients keep it waiting.
#pragma once

#include <chrono>

#include "proxy/net/deadlines.hpp"

namespace proxy {

struct Worker;

// Looks after the connections of one worker, on its thread. A look while memory is not short costs
// a few loads. See Need for whose responses are cut.
class Relief final : private net::Watched {
 public:
  explicit Relief(Worker& worker);

  // From now on looks at each tick of the worker's deadlines.
  void start();
  // Looks at once, on all threads, so that a request that waits for memory need not wait for a
  // tick.
  void look_everywhere();
  // Cuts requests on all threads until all counted heads take less than limits.heads: of the client
  // that holds most, first those whose heads have arrived in part, then those that wait for an
  // answer, each in the order of their beginning.
  void cut_heads_everywhere();

 private:
  // The least time between two looks at the same connections, in which the memory of those that
  // were cut comes back.
  static constexpr std::chrono::milliseconds kPause{10};
  struct Pause {
    // Whether the pause since the last time is over; if so, the next one begins.
    bool is_over();
    Clock::time_point since = Clock::time_point::min();
  };

  void on_expiry() override;
  void look();
  void cut_heads();

  Worker& worker_;
  Pause look_;
  Pause look_elsewhere_;
  Pause cut_heads_;
  Pause cut_heads_elsewhere_;
};

}  // namespace proxy
