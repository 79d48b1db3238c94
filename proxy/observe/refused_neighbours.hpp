// The neighbours that may read our digest, but whose questions we refuse.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::observe {

// The neighbours that this proxy refused, by their addresses. Bounded: the one that has been silent
// for longest is forgotten first. Any thread may call any function.
class RefusedNeighbours {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A neighbour that we refuse asks again after a minute at most, if it has something to ask.
  static constexpr std::chrono::minutes kLately{5};
  static constexpr std::size_t kMost = 16;
  // The reason, for the log and /health.
  static constexpr std::string_view kWhy =
      "it is refused here: it may read our digest (peers, access.peers), but it is not in our "
      "access.clients, so it gets nothing that the digest claims; add its address there";

  struct Refused {
    config::Address address;
    std::string text;  // of the address
    Time last;
  };

  // We have refused a question. Writes to the log if we had not refused one lately.
  void record(Refused neighbour) EXCLUDES(mutex_);
  // Writes to the log which were not refused for kLately, and forgets them. Call it now and then.
  void say_ended(Time now) EXCLUDES(mutex_);
  // The neighbours that were refused within kLately.
  [[nodiscard]] std::vector<Refused> lately(Time now) const EXCLUDES(mutex_);

 private:
  mutable threads::Mutex mutex_;
  std::vector<Refused> all_ GUARDED_BY(mutex_);
};

}  // namespace proxy::observe
