// Checks passwords away from the threads that serve clients, and remembers the verdicts.
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/users/credentials.hpp"
#include "proxy/users/guess_limit.hpp"
#include "proxy/users/password_file.hpp"
#include "proxy/users/verdicts.hpp"

namespace proxy::users {

enum class Verdict {
  right,
  wrong,
  guessed_too_often,  // see GuessLimit
  busy,               // too many checks wait, or this one took too long
};

// Any thread. A quarter of the machine's cores, at least one, may check at the same time; their
// threads begin with the first check.
class PasswordChecks {
 public:
  // How many checks may wait, and for how long.
  static constexpr std::size_t kMostWaiting = 64;
  static constexpr std::chrono::seconds kPatience{10};

  PasswordChecks() = default;
  PasswordChecks(const PasswordChecks&) = delete;
  PasswordChecks& operator=(const PasswordChecks&) = delete;

  // Answers at once if it knows the verdict. Else waits for a check; the same question that several
  // ask meanwhile is checked once. A name that the file lacks is checked like another, so that the
  // time does not tell which names there are. `client`: the address that guesses count for.
  // `wakeup`: of the caller; a notify() by the caller ends the wait with `busy`.
  net::Task<Verdict> verdict(const PasswordFile& file, const Credentials& given,
                             const config::Address& client, Wakeup& wakeup);

  // How many checks have been made.
  [[nodiscard]] std::uint64_t made();

 private:
  // The same credentials checked against the same hash.
  struct Check {
    std::string password;
    std::string hash;
    bool may_be_right = false;  // there is such a user
    config::Address client{};
    digest::Key key{};
    std::vector<Wakeup*> waiting;  // guarded by mutex_
    std::optional<bool> right;     // likewise
  };
  class Waiting;

  static Check check_of(const PasswordFile& file, const Credentials& given,
                        const config::Address& client);
  // The check under way, or a new one. Null: `refused` says why there is none.
  std::shared_ptr<Check> begin(Check check, Verdict& refused) REQUIRES(mutex_);
  void start() REQUIRES(mutex_);
  void run(const std::stop_token& stop);
  void finish(Check& check, bool right) REQUIRES(mutex_);

  threads::Mutex mutex_;
  threads::StoppableCondition queued_;
  Verdicts verdicts_ GUARDED_BY(mutex_);
  GuessLimit guesses_ GUARDED_BY(mutex_);
  std::unordered_map<digest::Key, std::shared_ptr<Check>, digest::KeyHash> under_way_
      GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Check>> queue_ GUARDED_BY(mutex_);
  std::uint64_t made_ GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> threads_ GUARDED_BY(mutex_);
};

}  // namespace proxy::users
