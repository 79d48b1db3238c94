#include "proxy/users/password_checks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "digest/siphash.hpp"

namespace proxy::users {
namespace {

// Nobody can compute it without the secret of this process, so it tells nothing of the password.
// `hash`: empty if there is no such user.
digest::Key key_of(std::string_view hash, const Credentials& given) {
  // None of the three has a NUL, so that no other credentials have the same text.
  constexpr std::string_view kEnd("", 1);
  std::string text;
  text.reserve(hash.size() + given.name.size() + given.password.size() + 2);
  text.append(hash).append(kEnd).append(given.name).append(kEnd).append(given.password);
  const digest::SipHash128 keyed(digest::process_salt(),
                                 {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const std::uint64_t halves[] = {keyed.low(), keyed.high()};
  digest::Key key;
  std::memcpy(key.bytes.data(), halves, sizeof halves);
  return key;
}

}  // namespace

// A copy of all that the thread needs: the file may be replaced while the check waits.
std::shared_ptr<PasswordChecks::Check> PasswordChecks::check_of(const PasswordFile& file,
                                                                const Credentials& given,
                                                                const Guesser& client,
                                                                const digest::Key& key) {
  const auto* const known = file.hash_of(given.name);
  auto check = std::make_shared<Check>();
  check->password = given.password;
  if (known) check->hash = *known;
  const auto own_cost = known ? cost_of(*known) : std::string();
  for (const auto& [cost, hash] : file.hash_by_cost()) {
    if (cost != own_cost) check->decoys.push_back(hash);
  }
  check->client = client;
  check->key = key;
  return check;
}

net::Task<PasswordResult> PasswordChecks::check(const PasswordFile& file, const Credentials& given,
                                                const Guesser& client, net::Wakeup& wakeup) {
  const auto* const hash = file.hash_of(given.name);
  const auto key = key_of(hash ? std::string_view(*hash) : std::string_view(), given);
  std::shared_ptr<Check> check;
  std::optional<net::WaitList::Waiting> waiting;
  {
    const threads::MutexLock lock(mutex_);
    const auto now = clock_.steady();
    if (const auto known = results_.find(key, now)) co_return *known;
    if (!guesses_.may_guess(client, now)) co_return PasswordResult::guessed_too_often;
    check = begin(check_of(file, given, client, key));
    if (!check) co_return PasswordResult::busy;
    waiting.emplace(check->waiting, wakeup);
  }
  co_await wakeup.wait(kPatience);
  const threads::MutexLock lock(mutex_);
  co_return check->result.value_or(PasswordResult::busy);
}

PasswordResult PasswordChecks::compare(const Check& check) {
  if (check.hash && has_hash(check.password, *check.hash)) return PasswordResult::right;
  // Else a name of a dear hash would be told from one of a cheap hash, or from none, by the time.
  for (const auto& decoy : check.decoys) (void)has_hash(check.password, decoy);
  return PasswordResult::wrong;
}

std::shared_ptr<PasswordChecks::Check> PasswordChecks::begin(std::shared_ptr<Check> check) {
  // A page of many parts signs in with each request: all of them wait for one check.
  const auto same = under_way_.find(check->key);
  if (same != under_way_.end()) return same->second;
  if (!turns_.add(check->client.client, check)) return nullptr;
  under_way_.emplace(check->key, check);
  // A hash takes a core for up to two seconds, and most proxies have no users at all: so the
  // threads begin late, and leave most cores to the clients.
  const auto most = std::max(1U, std::thread::hardware_concurrency() / 4);
  while (threads_.size() < most) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
  queued_.notify_all();
  return check;
}

void PasswordChecks::run(const std::stop_token& stop) {
  // The condition has no wait without an end; waking for nothing once an hour costs nothing.
  constexpr std::chrono::hours kLong{1};
  threads::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    queued_.wait_for(lock, stop, kLong,
                     [this]() REQUIRES(mutex_) { return turns_.may_begin_one(); });
    if (stop.stop_requested()) continue;
    const auto check = turns_.next().value_or(nullptr);
    if (!check) continue;
    // The client may have guessed while the check waited.
    auto result = PasswordResult::guessed_too_often;
    if (guesses_.may_guess(check->client, clock_.steady())) {
      lock.unlock();
      result = compare(*check);
      lock.lock();
      const auto now = clock_.steady();
      ++made_;
      results_.store(check->key, result, now);
      if (result == PasswordResult::wrong) guesses_.charge(check->client, now);
    }
    finish(*check, result);
  }
}

// The result is stored under the lock before anybody is woken, or a waiter would find none.
void PasswordChecks::finish(Check& check, PasswordResult result) {
  turns_.done(check.client.client);
  under_way_.erase(check.key);
  check.result = result;
  check.waiting.wake_all();
}

std::uint64_t PasswordChecks::made() {
  const threads::MutexLock lock(mutex_);
  return made_;
}

}  // namespace proxy::users
