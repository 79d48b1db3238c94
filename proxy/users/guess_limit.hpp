// How many passwords each client address may have checked. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <unordered_map>

#include "config/networks.hpp"
#include "digest/keyed_hash.hpp"

namespace proxy::users {

// Each client has kGuesses, of which one comes back in kPause. Time never goes back.
class GuessLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kGuesses = 10;
  static constexpr std::chrono::seconds kPause{6};
  // While more clients than these have guessed lately, new ones may not.
  static constexpr std::size_t kMostClients = 4096;

  // Whether the client may guess; if so, it has one guess less.
  bool take(const config::Address& client, Time now) {
    if (clients_.size() >= kMostClients && !clients_.contains(client)) forget(now);
    if (clients_.size() >= kMostClients && !clients_.contains(client)) return false;
    auto& whole_at = clients_.try_emplace(client, now).first->second;
    const auto from = std::max(whole_at, now);
    if (from + kPause > now + kGuesses * kPause) return false;
    whole_at = from + kPause;
    return true;
  }
  // The guess was right: it does not count.
  void give_back(const config::Address& client) {
    const auto found = clients_.find(client);
    if (found != clients_.end()) found->second -= kPause;
  }

 private:
  struct Hash {
    std::size_t operator()(const config::Address& address) const {
      return digest::keyed_hash(address);
    }
  };

  // Those that have all guesses again.
  void forget(Time now) {
    std::erase_if(clients_, [now](const auto& client) { return client.second <= now; });
  }

  // When each client has all guesses again.
  std::unordered_map<config::Address, Time, Hash> clients_;
};

}  // namespace proxy::users
