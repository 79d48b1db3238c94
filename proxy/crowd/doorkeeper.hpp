// Makes room for new connections: closes connections that wait for a request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "proxy/crowd/whom_to_end.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/upstream/pool.hpp"

namespace proxy::crowd {

struct CrowdOfThread;

// Looks after the connections of one thread, on that thread. Waits no time itself: what it closes
// is gone soon after.
class Doorkeeper {
 public:
  using Time = machine::Clock::SteadyTime;

  // `pool`: the idle connections of the thread to origins and neighbours.
  Doorkeeper(CrowdOfThread& crowd, upstream::Pool& pool, const machine::Clock& clock)
      : crowd_(crowd), pool_(pool), clock_(clock) {}

  // Closes connections, of another thread if this one has none to close, so that the newcomer can
  // enter. Spares clients that have less than half as many as the client that has most on all
  // threads; after kInVain searches in a row that have closed nothing, spares nobody. Searches the
  // connections of a thread at most every kPause, so some calls do nothing.
  void make_room(Newcomer newcomer, Time now);

  // Descriptors are running out: warns, closes the idle connections to origins, and as for a
  // newcomer those of clients.
  void free_descriptors(Time now);

 private:
  static constexpr std::chrono::milliseconds kPause{4};
  static constexpr std::chrono::milliseconds kCounted{50};  // how old a count of all clients may be
  static constexpr std::chrono::milliseconds kInARow{100};  // the longest time between two searches
  static constexpr int kInVain = 4;

  enum class Closed { no, yes, not_looked };
  Closed close_some(const Newcomer& newcomer);
  [[nodiscard]] std::size_t half_of_most(Time now);

  CrowdOfThread& crowd_;
  upstream::Pool& pool_;
  const machine::Clock& clock_;
  Time asked_ = Time::min();                   // all threads
  std::shared_ptr<std::atomic<bool>> useful_;  // whether the last search was not in vain
  int in_vain_ = 0;                            // how many in a row have not
  Time counted_ = Time::min();
  std::size_t half_of_most_ = 0;  // of the connections of one client, as of that time
  Time looked_ = Time::min();     // at this thread's connections
};

}  // namespace proxy::crowd
