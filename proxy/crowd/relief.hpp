// Makes room in memory while it is short: cuts connections whose clients keep it waiting.
#pragma once

#include <chrono>

#include "proxy/crowd/pressure.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/net/task.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy::crowd {

struct CrowdOfThread;

// Looks after the connections of one thread, on that thread. A look while memory is not short costs
// a few loads. See Need for whose responses are cut.
class Relief final : private net::Watched {
 public:
  struct Needs {
    net::Deadlines& deadlines;  // of the thread
    const machine::Clock& clock;
    const policy::PinnedPolicy& policy;  // in force for the thread
    cache::Budget& transit;              // of bodies that are passed on unstored
    const LastTime& found_no_room;       // when the cache could store nothing more
  };
  Relief(CrowdOfThread& crowd, const Needs& needs);

  // From now on looks at each tick of the thread's deadlines, or twice a second while less than
  // an eighth of the memory is used.
  void start();
  // Waits until memory has room for a body that is to pass through it, while memory is critical.
  // Looks at once, on all threads. If memory is full, goes on looking until it is not, up to a
  // second. Returns whether memory has room. `executor`: of the thread.
  net::Task<bool> await_room(net::Executor executor);
  // Cuts requests on all threads until all counted heads take less than limits.heads. Each time the
  // client that holds most loses a request. Requests whose heads have arrived in part go first, and
  // then those that wait for an answer. Of each kind the oldest request goes first.
  void cut_heads_everywhere();

 private:
  // The least time between two looks at the same connections. Meanwhile the connections that were
  // cut give back their memory.
  static constexpr std::chrono::milliseconds kPause{10};
  using Time = machine::Clock::SteadyTime;
  struct Pause {
    // Whether the pause since the last time is over; if so, the next one begins.
    bool is_over(Time now);
    Time since = Time::min();
  };

  void on_expiry() override;
  void look_everywhere();
  void look();
  void cut_heads();

  CrowdOfThread& crowd_;
  const Needs needs_;
  Pause look_;
  Pause look_elsewhere_;
  Pause cut_heads_;
  Pause cut_heads_elsewhere_;
};

}  // namespace proxy::crowd
