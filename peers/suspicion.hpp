// What the checks of one neighbour have found lately, and when that is enough to distrust it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "config/threads/mutex.hpp"
#include "peers/accuracy.hpp"

namespace peers {

// One contradicted URL does not convict a neighbour: an origin may consist of servers that
// disagree, and a load balancer may lead us to one of them and the neighbour to another, each time.
// An origin that was seen to disagree with itself is no witness for a while. Memory and the doubts
// under way are bounded. Any thread.
class Suspicion {
 public:
  // So many different URLs within this time convict.
  static constexpr std::size_t kUrls = 3;
  static constexpr std::chrono::hours kWindow{1};
  // How many origins that disagree with themselves are remembered.
  static constexpr std::size_t kMostOrigins = 64;
  // More doubts are not followed up at the same time: each keeps the response that it is about.
  static constexpr std::size_t kMostDoubts = 4;

  // A check whose first answer contradicts the neighbour, until its last question is answered.
  class Doubt {
   public:
    explicit Doubt(Suspicion& suspicion)
        : suspicion_(suspicion.begin_doubt() ? &suspicion : nullptr) {}
    ~Doubt() {
      if (suspicion_) suspicion_->end_doubt();
    }
    Doubt(const Doubt&) = delete;
    Doubt& operator=(const Doubt&) = delete;

    // Whether there is room for it.
    [[nodiscard]] bool is_followed_up() const { return suspicion_ != nullptr; }

   private:
    Suspicion* const suspicion_;
  };

  // All answers of the URL's origin contradict what the neighbour gave. Returns whether the
  // neighbour is to be distrusted now. Then only this URL goes on counting: a neighbour that lies
  // again is found sooner.
  [[nodiscard]] bool contradicted(std::string_view url, SteadyTime now) EXCLUDES(mutex_);
  // The answers of the URL's origin do not agree: its URLs do not count for the time of kWindow,
  // neither those before nor those to come.
  void origin_varies(std::string_view url, SteadyTime now) EXCLUDES(mutex_);
  // Whether a URL counts against the neighbour.
  [[nodiscard]] bool exists(SteadyTime now) const EXCLUDES(mutex_);

 private:
  struct Noted {
    std::string what;  // a URL, or an origin
    SteadyTime when;
  };
  using Notes = std::deque<Noted>;  // oldest first

  bool begin_doubt() EXCLUDES(mutex_);
  void end_doubt() EXCLUDES(mutex_);
  static void note(Notes& notes, std::string_view what, SteadyTime now);

  mutable threads::Mutex mutex_;
  Notes urls_ GUARDED_BY(mutex_);
  Notes varying_ GUARDED_BY(mutex_);
  std::size_t doubts_ GUARDED_BY(mutex_) = 0;
};

}  // namespace peers
