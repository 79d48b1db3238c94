// Short answers of servers that many requests need: tokens of registries, and what tags name. In
// memory alone. Neighbours and logs are never told a token.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <optional>
#include <set>
#include <string>

#include "config/expiring_table.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/wait_list.hpp"

namespace proxy::upstream {

// Bounded: forgets the answer first whose time is over first. So answers that are kept for minutes
// and answers that are kept for days each have a table of their own. Any thread.
class KnownAnswers {
 public:
  using Time = machine::Clock::SteadyTime;
  static constexpr std::size_t kMost = 8192;

  struct Answer {
    std::string text;           // empty: the server gave none
    Time asked;                 // when the question was sent
    Time failed = Time::min();  // when a later question has got no answer

    [[nodiscard]] bool has_failed() const { return failed != Time::min(); }
  };
  // Finds the answer to the question. Nothing: it is not known.
  [[nodiscard]] std::optional<Answer> find(const std::string& question, Time now) const
      EXCLUDES(mutex_);

  // A request that asks the question, so that others may wait. Its destructor wakes them.
  class Asking : boost::noncopyable {
   public:
    Asking(KnownAnswers& all, std::string question);
    ~Asking();

    // Returns whether this request is to ask now. If not, another request is asking.
    [[nodiscard]] bool begin();
    void record(Answer answer, Time until);

   private:
    KnownAnswers& all_;
    const std::string question_;
    bool begun_ = false;
  };
  // Records the answer to a question that was not sent to a server by way of Asking.
  void record(const std::string& question, Answer answer, Time until) EXCLUDES(mutex_);
  // The requests that wait for the end of another request's question, whichever it is.
  [[nodiscard]] net::WaitList& line() { return line_; }

 private:
  mutable threads::Mutex mutex_;
  config::ExpiringTable<std::string, Answer> known_ GUARDED_BY(mutex_){kMost};
  std::set<std::string, std::less<>> asked_ GUARDED_BY(mutex_);
  net::WaitList line_;
};

}  // namespace proxy::upstream
