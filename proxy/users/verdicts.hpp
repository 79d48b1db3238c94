// The verdicts on credentials that were checked lately.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>

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
  // Wrong ones are apart, so that guesses do not make room by the loss of right ones.
  class Recent {
   public:
    bool use(const digest::Key& key, Time now) {
      drop_old(now);
      const auto found = by_key_.find(key);
      if (found == by_key_.end()) return false;
      found->second->used = now;
      uses_.splice(uses_.end(), uses_, found->second);
      return true;
    }
    void add(const digest::Key& key, Time now) {
      if (use(key, now)) return;
      if (uses_.size() == kMost) drop_first();
      by_key_[key] = uses_.insert(uses_.end(), {key, now});
    }

   private:
    struct Use {
      digest::Key key;
      Time used;
    };
    struct Hash {
      std::size_t operator()(const digest::Key& key) const {
        std::size_t part = 0;  // the key is a hash
        std::memcpy(&part, &key, sizeof part);
        return part;
      }
    };

    void drop_old(Time now) {
      while (!uses_.empty() && uses_.front().used + kKept <= now) drop_first();
    }
    void drop_first() {
      by_key_.erase(uses_.front().key);
      uses_.pop_front();
    }

    std::list<Use> uses_;  // the oldest first
    std::unordered_map<digest::Key, std::list<Use>::iterator, Hash> by_key_;
  };

  Recent right_;
  Recent wrong_;
};

}  // namespace proxy::users
