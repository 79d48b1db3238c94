// The settings limits.bandwidth and bandwidth_per_client: how fast bytes are sent to clients.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "peers/threads/mutex.hpp"
#include "proxy/crowd/lanes.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy {

// Any thread. lanes.hpp says how clients share. A thread of its own makes the rounds; it exists
// once there is a limit, and sleeps while nobody waits.
class Bandwidth {
 public:
  using Time = Lanes::Time;

  Bandwidth() = default;
  Bandwidth(const Bandwidth&) = delete;
  Bandwidth& operator=(const Bandwidth&) = delete;

  // Also applies to responses that are under way. For one thread.
  void follow(const BandwidthLimits& limits);
  [[nodiscard]] bool is_limited() const { return is_limited_.load(std::memory_order_relaxed); }

 private:
  friend class BandwidthUse;
  static constexpr std::chrono::milliseconds kRound{10};

  void run(const std::stop_token& stop);

  std::atomic<bool> is_limited_{false};
  threads::Mutex mutex_;
  threads::StoppableCondition changed_;
  Lanes lanes_ GUARDED_BY(mutex_);
  std::jthread rounds_;
};

// What one client's connection sends. Belongs to one thread, that of the executor. The bandwidth
// outlives it.
class BandwidthUse {
 public:
  using Time = Bandwidth::Time;

  // `client`: see counted_as().
  BandwidthUse(Bandwidth& bandwidth, const config::Address& client, net::Executor executor)
      : bandwidth_(bandwidth), client_(client), executor_(executor) {}
  ~BandwidthUse();
  BandwidthUse(const BandwidthUse&) = delete;
  BandwidthUse& operator=(const BandwidthUse&) = delete;

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
    std::optional<Wakeup> wakeup;
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

}  // namespace proxy
