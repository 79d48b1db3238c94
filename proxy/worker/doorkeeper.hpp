// Makes room for new connections: closes connections that wait for a request.
#pragma once

#include <chrono>
#include <cstddef>

#include "proxy/crowd/whom_to_close.hpp"

namespace proxy {

struct Worker;

// Looks after the connections of one worker, on its thread. Waits no time itself: what it closes is
// gone soon after.
class Doorkeeper {
 public:
  explicit Doorkeeper(Worker& worker) : worker_(worker) {}

  // Closes connections, of another thread if this one has none to close, so that the newcomer can
  // enter. Searches the connections of a thread at most every kPause, so some calls do nothing.
  void make_room(const Newcomer& newcomer);

  // Descriptors are running out: warns, closes the idle connections to origins, and as for a
  // newcomer those of clients.
  void free_descriptors();

  // How many newcomers of this worker wait for room.
  std::size_t newcomers = 0;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{4};

  enum class Closed { no, yes };
  Closed close_some(const Newcomer& newcomer);

  Worker& worker_;
  Clock::time_point asked_ = Clock::time_point::min();   // all threads
  Clock::time_point looked_ = Clock::time_point::min();  // at this worker's connections
};

}  // namespace proxy
