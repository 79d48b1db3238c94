// Checks passwords away from the threads that serve clients, and remembers the results.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/machine/clock.hpp"
#include "proxy/net/wait_list.hpp"
#include "proxy/users/check_rules.hpp"
#include "proxy/users/credentials.hpp"
#include "proxy/users/password_file.hpp"

namespace proxy::users {

// Any thread. A quarter of the machine's cores, at least one, may check at the same time; their
// threads begin with the first check.
class PasswordChecks {
 public:
  // How long a check may wait. Turns says how many may.
  static constexpr std::chrono::seconds kPatience{10};

  explicit PasswordChecks(const machine::Clock& clock) : clock_(clock) {}

  // Answers at once if it knows the result. Else waits for a check; the same question that several
  // ask meanwhile is checked once. A result `wrong` comes only after a hash of each cost in the
  // file was checked, whether the file has the name or not. So the time does not tell which names
  // there are. `client`: whom wrong passwords count for; right ones cost nothing. `wakeup`: of the
  // caller; a notify() by the caller ends the wait with `busy`.
  net::Task<PasswordResult> check(const PasswordFile& file, const Credentials& given,
                                  const Guesser& client, net::Wakeup& wakeup);

  // How many checks have been made.
  [[nodiscard]] std::uint64_t made();

 private:
  // One check of credentials against a hash, for all requests that have the same ones.
  struct Check {
    std::string password;
    std::optional<std::string> hash;  // nothing: there is no such user
    std::vector<std::string> decoys;  // of the other costs
    Guesser client{};
    digest::Key key{};
    net::WaitList waiting{};
    std::optional<PasswordResult> result;  // guarded by mutex_
  };

  static std::shared_ptr<Check> check_of(const PasswordFile& file, const Credentials& given,
                                         const Guesser& client, const digest::Key& key);
  // Takes the same time for every wrong password.
  static PasswordResult compare(const Check& check);
  // The check under way, or a new one. Null: too many wait.
  std::shared_ptr<Check> begin(std::shared_ptr<Check> check) REQUIRES(mutex_);
  void run(const std::stop_token& stop);
  void finish(Check& check, PasswordResult result) REQUIRES(mutex_);

  const machine::Clock& clock_;
  threads::Mutex mutex_;
  threads::StoppableCondition queued_;
  PasswordResults results_ GUARDED_BY(mutex_);
  GuessLimit guesses_ GUARDED_BY(mutex_);
  std::unordered_map<digest::Key, std::shared_ptr<Check>, digest::KeyHash> under_way_
      GUARDED_BY(mutex_);
  Turns<std::shared_ptr<Check>> turns_ GUARDED_BY(mutex_);
  std::uint64_t made_ GUARDED_BY(mutex_) = 0;
  std::vector<std::jthread> threads_ GUARDED_BY(mutex_);
};

}  // namespace proxy::users
