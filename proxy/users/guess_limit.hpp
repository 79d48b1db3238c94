// How many wrong passwords each client address may try. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>

#include "config/networks.hpp"
#include "digest/keyed_hash.hpp"

namespace proxy::users {

// Whom guesses are charged to.
struct Guesser {
  config::Address client{};
  std::optional<config::Address> network;  // one host may have all its addresses
};

// Each client has kGuesses, of which one comes back in kPause. Each network has kOfNetwork times as
// many, and they come back as many times as fast. Time never goes back.
class GuessLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kGuesses = 10;
  static constexpr std::chrono::seconds kPause{6};
  static constexpr int kOfNetwork = 10;
  // While more clients than these have guessed lately, new ones may not; likewise networks.
  static constexpr std::size_t kMostClients = 4096;

  // Whether a password of the client may be checked.
  bool may_guess(const Guesser& who, Time now) {
    return clients_.have_room(who.client, now) &&
           (!who.network || networks_.have_room(*who.network, now));
  }
  // The password was wrong.
  void charge(const Guesser& who, Time now) {
    clients_.charge(who.client, now);
    if (who.network) networks_.charge(*who.network, now);
  }

 private:
  class Charges {
   public:
    Charges(int most, std::chrono::milliseconds pause) : most_(most), pause_(pause) {}

    bool have_room(const config::Address& address, Time now) {
      const auto found = whole_at_.find(address);
      if (found != whole_at_.end()) {
        return std::max(found->second, now) + pause_ <= now + most_ * pause_;
      }
      if (whole_at_.size() >= kMostClients) {
        std::erase_if(whole_at_, [now](const auto& each) { return each.second <= now; });
      }
      return whole_at_.size() < kMostClients;
    }
    void charge(const config::Address& address, Time now) {
      auto& whole_at = whole_at_.try_emplace(address, now).first->second;
      whole_at = std::max(whole_at, now) + pause_;
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
    std::unordered_map<config::Address, Time, Hash> whole_at_;
  };

  Charges clients_{kGuesses, kPause};
  Charges networks_{kGuesses * kOfNetwork, std::chrono::milliseconds(kPause) / kOfNetwork};
};

}  // namespace proxy::users
