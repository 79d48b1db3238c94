// Makes room for new connections: closes connections that wait for a request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "proxy/crowd/whom_to_close.hpp"

namespace proxy {

struct Worker;

// Looks after the connections of one worker, on its thread. Waits no time itself: what it closes is
// gone soon after.
class Doorkeeper {
 public:
  explicit Doorkeeper(Worker& worker) : worker_(worker) {}

  // Closes connections, of another thread if this one has none to close, so that the newcomer can
  // enter. Spares clients that have less than half as many as the client that has most on all
  // threads; after kInVain searches in a row that have closed nothing, spares nobody. Searches the
  // connections of a thread at most every kPause, so some calls do nothing.
  void make_room(Newcomer newcomer);

  // Descriptors are running out: warns, closes the idle connections to origins, and as for a
  // newcomer those of clients.
  void free_descriptors();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{4};
  static constexpr std::chrono::milliseconds kCounted{50};  // how old a count of all clients may be
  static constexpr std::chrono::milliseconds kInARow{100};  // the longest time between two searches
  static constexpr int kInVain = 4;

  enum class Closed { no, yes, not_looked };
  Closed close_some(const Newcomer& newcomer);
  [[nodiscard]] std::size_t half_of_most(Clock::time_point now);

  Worker& worker_;
  Clock::time_point asked_ = Clock::time_point::min();  // all threads
  std::shared_ptr<std::atomic<bool>> useful_;           // whether the last search was not in vain
  int in_vain_ = 0;                                     // how many in a row have not
  Clock::time_point counted_ = Clock::time_point::min();
  std::size_t half_of_most_ = 0;  // of the connections of one client, as of that time
  Clock::time_point looked_ = Clock::time_point::min();  // at this worker's connections
};

}  // namespace proxy
