// How clients share the bandwidth: by turns while it is short, without a wait otherwise.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "config/networks.hpp"
#include "digest/keyed_hash.hpp"
#include "proxy/crowd/token_bucket.hpp"

namespace proxy {

// In bytes per second. Zero: no limit.
struct BandwidthLimits {
  std::uint64_t all = 0;  // all clients together
  std::uint64_t per_client = 0;

  [[nodiscard]] bool any() const { return all > 0 || per_client > 0; }
};

// One connection's wish to send. Its owner keeps it in place until it has got something, or has
// stepped out.
struct Wish {
  std::uint64_t bytes = 0;    // wanted
  std::uint64_t granted = 0;  // more than zero once the wish is granted, in part or as a whole
  bool waits = false;
};

// The part of one client.
struct Lane {
  // What the client may send without asking. Any thread may take from it and add to it.
  std::atomic<std::uint64_t> allowance{0};

  // Takes up to `wanted` bytes. Zero: there are too few to be worth a write. Any thread.
  std::uint64_t take(std::uint64_t wanted);

  // These are for Lanes.
  std::optional<TokenBucket> bucket;  // of limits.bandwidth_per_client
  std::deque<Wish*> wishes;           // in the order of their arrival
  std::size_t users = 0;              // connections
  bool is_short = false;              // listed in Lanes::short_
};

// While the limits suffice, a client gets a slice of bytes whenever it asks. Once they do not,
// wishes wait, and each round divides what has become free since the last one equally among the
// clients that wait, however many connections they have. A client's connections share its part
// equally.
//
// Not thread-safe: see Bandwidth. Time is given by the caller, and never goes back.
class Lanes {
 public:
  using Time = TokenBucket::Time;
  // Less is not worth a write, unless less is wanted.
  static constexpr std::uint64_t kLeast = 4 * 1024;

  // Connections keep their lanes when the limits change.
  void follow(const BandwidthLimits& limits, Time now);

  // How many clients that left are remembered.
  static constexpr std::size_t kMostLeft = 4096;

  // The lane of the client, for one more of its connections. Call leave() for each. A client begins
  // with a full bucket, or with the one that it left: with new connections it gets no more.
  Lane& enter(const config::Address& client, Time now);
  void leave(const config::Address& client, Time now);

  // Grants the wish at once, or lets it wait in the lane.
  void ask(Lane& lane, Wish& wish, Time now);
  // The wish no longer waits.
  static void step_out(Lane& lane, const Wish& wish);

  // Whether rounds are needed.
  [[nodiscard]] bool anyone_waits() const { return !short_.empty(); }
  // Returns the wishes that are granted now; they no longer wait.
  std::vector<Wish*> round(Time now);

 private:
  struct Hash {
    std::size_t operator()(const config::Address& address) const {
      return digest::keyed_hash(address);
    }
  };

  [[nodiscard]] std::optional<TokenBucket> bucket_for(const config::Address& client, Time now);
  // Whether one more client that leaves can be remembered.
  [[nodiscard]] bool may_remember(Time now);
  [[nodiscard]] std::uint64_t free_for(Lane& lane, Time now);
  void pay(Lane& lane, std::uint64_t bytes);
  void put_back_unspent();
  void grant(Lane& lane, std::uint64_t share, std::vector<Wish*>& granted);
  // How many of the lanes, from the first one on, are served in this round.
  [[nodiscard]] std::size_t lanes_served(std::uint64_t free) const;

  BandwidthLimits limits_;
  std::uint64_t slice_ = kLeast;
  std::optional<TokenBucket> all_;
  bool all_is_short_ = false;  // nobody gets anything before the next round
  std::unordered_map<config::Address, Lane, Hash> lanes_;
  // Of clients that left, until they would be full.
  std::unordered_map<config::Address, TokenBucket, Hash> left_;
  std::deque<Lane*> short_;  // in the order in which they are served
};

}  // namespace proxy
