// The work of each second: follows steps of the clock, adds a sample to the history, asks the name
// servers for neighbours whose names were not resolved, finds the busiest clients, sends the news
// to the watchers of the dashboard, passes the time to the log of events, and returns freed memory
// to the system. If a neighbour goes down, the watchers learn it at once.
#pragma once

#include "proxy/pages/pages_access.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy::pages {

class Pulse {
 public:
  // Has an I/O thread that has time ask the name servers for the host. Returns at once.
  using AskForName = std::function<void(const std::string& host)>;
  // `pages` outlives this object.
  Pulse(const PagesAccess& pages, AskForName ask) : pages_(pages), ask_(std::move(ask)) {}

  // From now on the news are about this policy. Any thread.
  void follow(policy::PinnedPolicy policy);
  // Beats for ever. For a coroutine on Cache::aside, since much is formatted for watchers; while
  // nobody watches, a beat sums some counters and the requests that were kept. Call this after the
  // first follow().
  net::Task<void> run();
  // Sends the news to the watchers at once. Call this after run() has begun. Any thread may call
  // it.
  void hurry();

 private:
  void beat();
  void follow_clock();
  void look_at_troubles();
  void ask_for_neighbours(const peers::PeerDirectory& neighbours,
                          std::chrono::steady_clock::time_point now);
  policy::PinnedPolicy policy();
  void tell_requests();

  const PagesAccess& pages_;
  const AskForName ask_;
  bool doubts_ages_ = false;              // since a step of the clock, in the log
  observe::RecentRequests::Known known_;  // by the watchers, and by Observed::busiest
  threads::Mutex mutex_;
  policy::PinnedPolicy policy_ GUARDED_BY(mutex_);
};

}  // namespace proxy::pages
