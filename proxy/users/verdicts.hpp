// The verdicts on credentials that were checked lately.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <variant>

#include "config/expiring_table.hpp"
#include "digest/key.hpp"

namespace proxy::users {

// Keyed by a hash of the credentials and of the stored hash. A verdict can never become wrong,
// since all that it depends on is in its key. So it is kept for kKept after its last use, and of
// each kind the kMost used last. Pure.
class Verdicts {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kKept{5};
  static constexpr std::size_t kMost = 10'000;

  // Whether the credentials are right. Nothing: not known.
  std::optional<bool> find(const digest::Key& key, Time now) {
    if (right_.use(key, now)) return true;
    if (wrong_.use(key, now)) return false;
    return std::nullopt;
  }
  void add(const digest::Key& key, bool right, Time now) {
    (right ? right_ : wrong_).add(key, now);
  }

 private:
  // Those of one kind.
  class Recent {
   public:
    bool use(const digest::Key& key, Time now) {
      if (!used_.find(key, now)) return false;
      add(key, now);
      return true;
    }
    void add(const digest::Key& key, Time now) { used_.put(key, {}, now + kKept); }

   private:
    config::ExpiringTable<digest::Key, std::monostate, digest::KeyHash> used_{kMost};
  };

  // Wrong ones are apart, so that guesses do not make room by the loss of right ones.
  Recent right_;
  Recent wrong_;
};

}  // namespace proxy::users
