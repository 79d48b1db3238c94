// The origins that may not testify against one neighbour. The checks of this neighbour that have
// found a contradiction and go on.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "peers/accuracy.hpp"
#include "peers/threads/mutex.hpp"

namespace peers {

// An origin may consist of servers that disagree, and a load balancer may lead us to one of them
// and the neighbour to another. So an origin that was seen to disagree with itself is no witness
// for a while. Memory and the doubts under way are bounded. Any thread.
class Suspicion {
 public:
  static constexpr std::chrono::hours kWhile{1};
  // How many origins that disagree with themselves are remembered.
  static constexpr std::size_t kMostOrigins = 64;
  // More doubts are not followed up at the same time: each keeps the response that it is about.
  static constexpr std::size_t kMostDoubts = 4;

  // A check whose first answer contradicts the neighbour, until its last question is answered.
  class Doubt {
   public:
    Doubt(Suspicion& suspicion, std::string_view url);
    ~Doubt();
    Doubt(const Doubt&) = delete;
    Doubt& operator=(const Doubt&) = delete;

    // Whether there is room for it: each origin has one doubt at a time, so that an origin that
    // does not answer leaves room for others.
    [[nodiscard]] bool is_followed_up() const { return followed_up_; }

   private:
    Suspicion& suspicion_;
    const std::string origin_;
    const bool followed_up_;
  };

  // The answers of the URL's origin do not agree.
  void origin_varies(std::string_view url, SteadyTime now) EXCLUDES(mutex_);
  // Whether the URL's origin was not seen to vary within kWhile.
  [[nodiscard]] bool may_testify(std::string_view url, SteadyTime now) const EXCLUDES(mutex_);

 private:
  struct Varying {
    std::string origin;
    SteadyTime seen;
  };

  bool begin_doubt(const std::string& origin) EXCLUDES(mutex_);
  void end_doubt(const std::string& origin) EXCLUDES(mutex_);

  mutable threads::Mutex mutex_;
  std::deque<Varying> varying_ GUARDED_BY(mutex_);        // in the order in which they were seen
  std::vector<std::string> in_doubt_ GUARDED_BY(mutex_);  // origins
};

}  // namespace peers
