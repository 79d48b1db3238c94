// Whether the name servers answer, for the operator.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy::upstream {

// The name servers are silent if no question of the last kSilence has got a reply, and are of no
// use if they fail all names that they were asked for lately. The names of one domain that fail
// tell nothing: the servers of that domain may be the ones that fail. So while a question has no
// good answer, probes ask for the root's address, which every name server answers soon. Any thread.
// Only questions to name servers cost anything here, and requests for known names ask none.
class NameHealth {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  static constexpr std::chrono::milliseconds kSilence{2500};
  static constexpr std::chrono::minutes kLately{1};
  // Names of this many domains must fail in a row for a trouble; fewer suffice if the root fails,
  // too. Names whose last two labels are the same are of one domain.
  static constexpr std::size_t kMostDomains = 3;
  static constexpr std::size_t kMostDomainsWithRoot = 1;
  // How long after a trouble a failure that it has caused may stay known.
  static constexpr std::chrono::seconds kAftermath{10};

  enum class Probed { good, failure, silence };

  // The addresses of the name servers, and the file that names them; empty: none does.
  void set_servers(const std::vector<std::string>& servers, std::string source) EXCLUDES(mutex_);

  // A question for a name leaves.
  void asked(Time now) EXCLUDES(mutex_);
  // The name servers have answered a question, if only that there is no such name.
  void answered(Time now) EXCLUDES(mutex_);
  // Records that the name servers have refused or failed the question, or have not replied.
  void failed(std::string_view name, Time now) EXCLUDES(mutex_);
  // Records that the name servers have not replied to a question that was asked at that time. The
  // question counts as failed, unless the servers were silent then and have replied since.
  void timed_out(std::string_view name, Time asked, Time now) EXCLUDES(mutex_);
  // A probe that was sent after a question has ended so.
  void probed(Probed how, Time now) EXCLUDES(mutex_);
  // Whether a question has got neither a good answer nor a probe's reply, so that a probe is due.
  [[nodiscard]] bool is_in_doubt() const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return unanswered_.has_value();
  }

  struct Trouble {
    std::string text;  // "name resolution: 10.0.0.53 does not answer (/etc/resolv.conf)"
    std::string_view advice;
    Time since;
    Time last;  // of the questions that failed
  };
  [[nodiscard]] std::optional<Trouble> trouble(Time now) const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return found(now);
  }
  // Whether there is trouble, or was in the last kAftermath. Then the host is not to blame if its
  // name was not resolved.
  [[nodiscard]] bool fails_lately(Time now) const EXCLUDES(mutex_);
  // Whether no name server has replied for kSilence, not even to a probe. No client can cause that
  // by the names that it asks for.
  [[nodiscard]] bool are_silent(Time now) const EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    return is_silent(now);
  }
  // The text for a client whose request failed because its name was not resolved.
  [[nodiscard]] std::string text_for_client(Time now) const EXCLUDES(mutex_);
  // Writes to the log when the trouble begins, and when it is over. Call this about once a second.
  void say(Time now) EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool is_silent(Time now) const REQUIRES(mutex_) {
    return unanswered_ && now - *unanswered_ >= kSilence;
  }
  [[nodiscard]] bool is_useless(Time now) const REQUIRES(mutex_);
  [[nodiscard]] std::string text_with(std::string_view what) const REQUIRES(mutex_);
  [[nodiscard]] std::optional<Trouble> found(Time now) const REQUIRES(mutex_);
  void record_failure(std::string_view name, Time now) REQUIRES(mutex_);
  void replied(Time now) REQUIRES(mutex_);

  // The name servers as texts about trouble name them.
  struct Servers {
    std::string names = "the name server";
    bool several = false;
    std::string source;  // the file that names them; empty: none
  };

  mutable threads::Mutex mutex_;
  Servers servers_ GUARDED_BY(mutex_);
  std::optional<Time> unanswered_ GUARDED_BY(mutex_);  // the first question since a reply
  Time last_asked_ GUARDED_BY(mutex_);
  std::vector<std::string> failed_ GUARDED_BY(mutex_);  // different domains, since a good answer
  bool root_fails_ GUARDED_BY(mutex_) = false;
  Time first_failure_ GUARDED_BY(mutex_);
  Time last_failure_ GUARDED_BY(mutex_);
  Time silence_ended_ GUARDED_BY(mutex_) = Time::min();
  std::optional<Time> last_trouble_ GUARDED_BY(mutex_);  // when a reply came during one
  std::optional<Time> said_ GUARDED_BY(mutex_);          // since when, in the log
};

}  // namespace proxy::upstream
