// The limits on how fast bytes are sent to clients: the settings limits.bandwidth and
// bandwidth_per_client. While bandwidth is short, clients take turns; otherwise nobody waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "config/networks.hpp"
#include "digest/keyed_hash.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy::crowd {

// Bytes that may be sent at a rate. Fills with time, up to what the rate allows in kSaved. So a
// pause is made up for at most once, and a thread that looks late loses nothing.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kSaved{200};
  // However low the rate is, a bucket has room for this many bytes.
  static constexpr std::uint64_t kLeastFull = 16 * 1024;

  // A bucket that is empty at `now`. `rate`: bytes per second.
  TokenBucket(std::uint64_t rate, Time now) : rate_(static_cast<double>(rate)), filled_(now) {}

  static TokenBucket full(std::uint64_t rate, Time now) {
    TokenBucket bucket(rate, now);
    bucket.bytes_ = bucket.most();
    return bucket;
  }

  // Returns how many bytes may be taken at `now`. `now` must not be earlier than at the last call.
  [[nodiscard]] std::uint64_t bytes(Time now) {
    const std::chrono::duration<double> elapsed = now - filled_;
    filled_ = now;
    put(rate_ * elapsed.count());
    return static_cast<std::uint64_t>(bytes_);
  }
  // Whether the bucket holds as much as it can at `now`.
  [[nodiscard]] bool is_full(Time now) const {
    const std::chrono::duration<double> elapsed = now - filled_;
    return bytes_ + rate_ * elapsed.count() >= most();
  }
  // Takes bytes, at most as many as bytes() has returned.
  void take(std::uint64_t bytes) { bytes_ -= static_cast<double>(bytes); }
  void give_back(std::uint64_t bytes) { put(static_cast<double>(bytes)); }

 private:
  [[nodiscard]] double most() const {
    const std::chrono::duration<double> saved = kSaved;
    return std::max(rate_ * saved.count(), static_cast<double>(kLeastFull));
  }
  void put(double bytes) { bytes_ = std::min(bytes_ + bytes, most()); }

  double rate_;
  double bytes_ = 0;
  Time filled_;
};

// The max-min fair shares of `total`. No share exceeds its limit in `most`; what such a share
// leaves over goes to the others, which are equal, but for the remainder of a division. Pure.
std::vector<std::uint64_t> fair_shares(std::uint64_t total, std::span<const std::uint64_t> most);

// The limits in bytes per second. Zero: no limit.
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

// The bandwidth of one client, and its responses that wait for more.
struct Lane {
  // The bytes that may be sent to the client without asking. Any thread may take from them and add
  // to them.
  std::atomic<std::uint64_t> allowance{0};

  // Takes up to `wanted` bytes. Zero: there are too few to be worth a write. Any thread.
  std::uint64_t take(std::uint64_t wanted);

  // Only Lanes uses the members below.
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
  void apply(const BandwidthLimits& limits, Time now);

  // How many clients that left are remembered.
  static constexpr std::size_t kMostLeft = 4096;

  // The lane of the client, for one more of its connections. Call leave() for each. A client begins
  // with a full bucket, or with the one that it left: with new connections it gets no more.
  Lane& enter(const config::Address& client, Time now);
  void leave(const config::Address& client, Time now);

  // Grants the wish at once, or lets it wait in the lane.
  void ask(Lane& lane, Wish& wish, Time now);
  // Removes the wish, which waits no longer.
  static void step_out(Lane& lane, const Wish& wish);

  // Whether any wish waits for a round.
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
  // The buckets of clients that left, until they would be full.
  std::unordered_map<config::Address, TokenBucket, Hash> left_;
  std::deque<Lane*> short_;  // in the order in which they are served
};

// The bandwidth of all clients. Lanes says how they share it. A thread of its own makes the rounds;
// it exists once there is a limit, and sleeps while nobody waits. Any thread may call any function.
class Bandwidth : boost::noncopyable {
 public:
  using Time = Lanes::Time;

  // The clock outlives this object.
  explicit Bandwidth(machine::Clock& clock) : clock_(clock) {}

  // Applies new limits, also to responses that are under way. Only one thread calls this.
  void follow(const BandwidthLimits& limits);
  [[nodiscard]] bool is_limited() const { return is_limited_.load(std::memory_order_relaxed); }

 private:
  friend class BandwidthUse;
  static constexpr std::chrono::milliseconds kRound{10};

  void run(const std::stop_token& stop);

  machine::Clock& clock_;
  std::atomic<bool> is_limited_{false};
  threads::Mutex mutex_;
  threads::StoppableCondition changed_;
  Lanes lanes_ GUARDED_BY(mutex_);
  std::jthread rounds_;
};

// The sending side of one client's connection. Belongs to one thread, that of the executor. The
// bandwidth outlives it.
class BandwidthUse : boost::noncopyable {
 public:
  using Time = Bandwidth::Time;

  // `client`: see counted_as().
  BandwidthUse(Bandwidth& bandwidth, const config::Address& client, net::Executor executor)
      : bandwidth_(bandwidth), client_(client), executor_(executor) {}
  ~BandwidthUse();

  // Whether there is a limit.
  [[nodiscard]] bool is_limited() const { return bandwidth_.is_limited(); }
  // Returns how many of the bytes the connection may send now. Zero: await wait(), then call this
  // again with the same number.
  std::uint64_t take(std::uint64_t wanted);
  // Ends once take() returns bytes, after `limit`, or by interrupt().
  net::Task<void> wait(std::optional<std::chrono::milliseconds> limit = std::nullopt);
  void interrupt();
  // Bytes that take() returned and that were not sent.
  void give_back(std::uint64_t bytes);

  // Whether the connection waits now, or has waited since then.
  [[nodiscard]] bool has_waited_since(Time time) const {
    return is_waiting_ || (waited_ && *waited_ >= time);
  }
  [[nodiscard]] bool is_waiting() const { return is_waiting_; }

 private:
  friend class Bandwidth;
  struct Asked : Wish {
    std::optional<net::Wakeup> wakeup;
  };

  void ask(std::uint64_t wanted) REQUIRES(bandwidth_.mutex_);

  Bandwidth& bandwidth_;
  const config::Address client_;
  const net::Executor executor_;
  Lane* lane_ = nullptr;  // null: it has asked for nothing yet
  Asked asked_ GUARDED_BY(bandwidth_.mutex_);
  bool has_asked_ = false;  // and has not been told what it got
  bool is_waiting_ = false;
  std::optional<Time> waited_;  // the end of the last wait
};

}  // namespace proxy::crowd
