// The rules for checks of passwords: how many wrong passwords each client may try, whose check is
// next, and which results are known. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "config/expiring_table.hpp"
#include "config/networks.hpp"
#include "digest/key.hpp"
#include "digest/keyed_hash.hpp"

namespace proxy::users {

// Whom guesses are charged to.
struct Guesser {
  config::Address client{};
  std::optional<config::Address> network;  // one host may have all its addresses
};

// Each client has kGuesses, and regains one every kPause. Each network has kOfNetwork times as
// many, and regains them as many times as fast. Time never goes back.
class GuessLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kGuesses = 10;
  static constexpr std::chrono::seconds kPause{6};
  static constexpr int kOfNetwork = 10;
  // While more clients than these have guessed lately, new clients may not guess. The same holds of
  // networks.
  static constexpr std::size_t kMostClients = 4096;

  // Whether a password of the client may be checked.
  bool may_guess(const Guesser& who, Time now) {
    return clients_.have_room(who.client, now) &&
           (!who.network || networks_.have_room(*who.network, now));
  }
  // Charges the client, and its network, for a wrong password.
  void charge(const Guesser& who, Time now) {
    clients_.charge(who.client, now);
    if (who.network) networks_.charge(*who.network, now);
  }

 private:
  class Charges {
   public:
    Charges(int most, std::chrono::milliseconds pause) : most_(most), pause_(pause) {}

    bool have_room(const config::Address& address, Time now) {
      const auto* const found = whole_at_.find(address, now);
      return found ? *found + pause_ <= now + most_ * pause_ : whole_at_.make_room(now);
    }
    void charge(const config::Address& address, Time now) {
      const auto* const found = whole_at_.find(address, now);
      const auto whole_at = (found ? *found : now) + pause_;
      whole_at_.put(address, whole_at, whole_at);
    }

   private:
    struct Hash {
      std::size_t operator()(const config::Address& address) const {
        return digest::keyed_hash(address);
      }
    };

    const int most_;
    const std::chrono::milliseconds pause_;
    // When each address has all guesses again.
    config::ExpiringTable<config::Address, Time, Hash> whole_at_{kMostClients};
  };

  Charges clients_{kGuesses, kPause};
  Charges networks_{kGuesses * kOfNetwork, std::chrono::milliseconds(kPause) / kOfNetwork};
};

// Decides whose check is next: addresses take turns. Each address has a line of its own. So the
// first piece of each line waits for at most one piece of each other address, however much work
// the others have.
template <class Work>
class Turns {
 public:
  // How much may wait, in all and of one address.
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostOfOne = 16;
  // How much of one address may be under way at the same time.
  static constexpr int kMostUnderWay = 2;

  // Whether the work may wait; if so, it does.
  bool add(const config::Address& address, Work work) {
    if (waiting_ == kMost) return false;
    const auto found = find(address);
    auto& line = found == lines_.end() ? lines_.emplace_back(Line{address, {}, 0}) : *found;
    if (line.waiting.size() == kMostOfOne) return false;
    line.waiting.push_back(std::move(work));
    ++waiting_;
    return true;
  }
  [[nodiscard]] bool may_begin_one() const {
    return std::any_of(lines_.begin(), lines_.end(), may_go);
  }
  // Takes the work whose turn it is. Call done() once it is done.
  std::optional<Work> next() {
    const auto first = std::find_if(lines_.begin(), lines_.end(), may_go);
    if (first == lines_.end()) return std::nullopt;
    auto line = std::move(*first);
    lines_.erase(first);
    std::optional work(std::move(line.waiting.front()));
    line.waiting.pop_front();
    --waiting_;
    ++line.under_way;
    lines_.push_back(std::move(line));
    return work;
  }
  void done(const config::Address& address) {
    const auto line = find(address);
    if (--line->under_way == 0 && line->waiting.empty()) lines_.erase(line);
  }

 private:
  struct Line {
    config::Address address;
    std::deque<Work> waiting;
    int under_way;
  };

  static bool may_go(const Line& line) {
    return !line.waiting.empty() && line.under_way < kMostUnderWay;
  }
  auto find(const config::Address& address) {
    return std::find_if(lines_.begin(), lines_.end(),
                        [&](const Line& line) { return line.address == address; });
  }

  std::deque<Line> lines_;  // the one that has waited longest first
  std::size_t waiting_ = 0;
};

enum class PasswordResult {
  right,
  wrong,
  guessed_too_often,  // see GuessLimit
  busy,               // too many checks wait, or this one took too long
};

// The results, right or wrong, on credentials that were checked lately. Keyed by a hash of the
// credentials and of the stored hash. A result can never become wrong, since all that it depends
// on is in its key. So it is kept for kKept after its last use, and of each kind the kMost used
// last.
class PasswordResults {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kKept{5};
  static constexpr std::size_t kMost = 10'000;

  // Finds the result of these credentials. Nothing: it is not known.
  std::optional<PasswordResult> find(const digest::Key& key, Time now) {
    for (const PasswordResult result : {PasswordResult::right, PasswordResult::wrong}) {
      if (!table_of(result).find(key, now)) continue;
      store(key, result, now);
      return result;
    }
    return std::nullopt;
  }
  void store(const digest::Key& key, PasswordResult result, Time now) {
    table_of(result).put(key, {}, now + kKept);
  }

 private:
  using Table = config::ExpiringTable<digest::Key, std::monostate, digest::KeyHash>;

  Table& table_of(PasswordResult result) {
    return result == PasswordResult::right ? right_ : wrong_;
  }

  // Two tables, so that many wrong guesses do not evict the results of right passwords.
  Table right_{kMost};
  Table wrong_{kMost};
};

}  // namespace proxy::users
