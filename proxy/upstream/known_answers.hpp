// Short answers of servers that many requests need: tokens of registries, and what tags name. Only
// in memory, and never told to neighbours or logs.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "config/expiring_table.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/wait_list.hpp"

namespace proxy::upstream {

// Bounded. Any thread.
class KnownAnswers {
 public:
  using Time = machine::Clock::SteadyTime;
  static constexpr std::size_t kMost = 8192;

  struct Answer {
    std::string text;  // empty: the server gave none
    Time asked;        // when the question was sent
  };
  // Nothing: not known.
  [[nodiscard]] std::optional<Answer> find(const std::string& question, Time now) const
      EXCLUDES(mutex_);

  // One who asks, so that others may wait. Wakes them when it is destroyed.
  class Asking {
   public:
    Asking(KnownAnswers& all, std::string question);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

    // Returns whether this one is to ask now. If not, another one is asking.
    [[nodiscard]] bool begin();
    void record(Answer answer, Time until);

   private:
    KnownAnswers& all_;
    const std::string question_;
    bool begun_ = false;
  };
  // Those who wait for the end of somebody's question, of whichever it is.
  [[nodiscard]] net::WaitList& line() { return line_; }

 private:
  mutable threads::Mutex mutex_;
  config::ExpiringTable<std::string, Answer> known_ GUARDED_BY(mutex_){kMost};
  std::set<std::string, std::less<>> asked_ GUARDED_BY(mutex_);
  net::WaitList line_;
};

}  // namespace proxy::upstream
