#include "proxy/users/password_checks.hpp"

#include <algorithm>
#include <utility>

#include "digest/siphash.hpp"
#include "proxy/users/password_hash.hpp"

namespace proxy::users {
namespace {

using Clock = std::chrono::steady_clock;

// Nobody can compute it without the secret of this process, so it tells nothing of the password.
digest::Key key_of(const std::string& hash, const Credentials& given) {
  const std::string text = hash + '\0' + given.name + '\0' + given.password;
  const digest::SipHash128 keyed(digest::process_salt(),
                                 {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const std::uint64_t halves[] = {keyed.low(), keyed.high()};
  digest::Key key;
  std::memcpy(key.bytes.data(), halves, sizeof halves);
  return key;
}

}  // namespace

// The wake-up of one who waits for the check.
class PasswordChecks::Waiting {
 public:
  Waiting(PasswordChecks& checks, Check& check, Wakeup& wakeup)
      : checks_(checks), check_(check), wakeup_(wakeup) {}
  ~Waiting() {
    const threads::MutexLock lock(checks_.mutex_);
    std::erase(check_.waiting, &wakeup_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  PasswordChecks& checks_;
  Check& check_;
  Wakeup& wakeup_;
};

PasswordChecks::Check PasswordChecks::check_of(const PasswordFile& file, const Credentials& given,
                                               const config::Address& client) {
  const auto* const known = file.hash_of(given.name);
  Check check;
  check.password = given.password;
  check.hash = known ? *known : file.any_hash();
  check.may_be_right = known != nullptr;
  check.client = client;
  check.key = key_of(known ? *known : std::string(), given);
  return check;
}

net::Task<Verdict> PasswordChecks::verdict(const PasswordFile& file, const Credentials& given,
                                           const config::Address& client, Wakeup& wakeup) {
  auto asked = check_of(file, given, client);
  std::shared_ptr<Check> check;
  {
    const threads::MutexLock lock(mutex_);
    const auto known = verdicts_.find(asked.key, Clock::now());
    if (known) co_return *known ? Verdict::right : Verdict::wrong;
    Verdict refused = Verdict::busy;
    check = begin(std::move(asked), refused);
    if (!check) co_return refused;
    check->waiting.push_back(&wakeup);
  }
  const Waiting waiting(*this, *check, wakeup);
  co_await wakeup.wait(kPatience);
  const threads::MutexLock lock(mutex_);
  if (!check->right) co_return Verdict::busy;
  co_return *check->right ? Verdict::right : Verdict::wrong;
}

std::shared_ptr<PasswordChecks::Check> PasswordChecks::begin(Check check, Verdict& refused) {
  const auto same = under_way_.find(check.key);
  if (same != under_way_.end()) return same->second;
  if (queue_.size() >= kMostWaiting) return nullptr;
  if (!guesses_.take(check.client, Clock::now())) {
    refused = Verdict::guessed_too_often;
    return nullptr;
  }
  auto begun = std::make_shared<Check>(std::move(check));
  under_way_.emplace(begun->key, begun);
  queue_.push_back(begun);
  if (threads_.empty()) start();
  queued_.notify_all();
  return begun;
}

void PasswordChecks::start() {
  const auto most = std::max(1U, std::thread::hardware_concurrency() / 4);
  while (threads_.size() < most) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

void PasswordChecks::run(const std::stop_token& stop) {
  constexpr std::chrono::hours kLong{1};
  threads::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    queued_.wait_for(lock, stop, kLong, [this]() REQUIRES(mutex_) { return !queue_.empty(); });
    if (queue_.empty() || stop.stop_requested()) continue;
    const auto check = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const bool right = has_hash(check->password, check->hash) && check->may_be_right;
    lock.lock();
    finish(*check, right);
  }
}

void PasswordChecks::finish(Check& check, bool right) {
  ++made_;
  verdicts_.add(check.key, right, Clock::now());
  if (right) guesses_.give_back(check.client);
  under_way_.erase(check.key);
  check.right = right;
  for (auto* const waiting : check.waiting) waiting->notify();
}

std::uint64_t PasswordChecks::made() {
  const threads::MutexLock lock(mutex_);
  return made_;
}

}  // namespace proxy::users
