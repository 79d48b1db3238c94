// What origins did in the last hour, and which requests wait for a server now.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/upstream/origin_record.hpp"
#include "proxy/upstream/under_way.hpp"

namespace proxy::upstream {

// As one thread has seen it. Its lock is taken three times by a fetch, and by those who look.
class alignas(64) TrafficOfThread {
 public:
  using Clock = std::chrono::steady_clock;
  // Clients choose the names, so the table is bounded: the origin gives way that was asked least in
  // the last hour, and of several the one that was asked last the longest ago.
  static constexpr std::size_t kMost = 200;

 private:
  friend class UnderWay;
  friend class OriginTraffic;
  using Records = std::unordered_map<Endpoint, OriginRecord>;

  OriginRecord& record_of(const Endpoint& origin, Clock::time_point now) REQUIRES(mutex_);
  void make_room(Clock::time_point now) REQUIRES(mutex_);
  [[nodiscard]] std::optional<Clock::time_point> answered(const Endpoint& origin) const;

  mutable threads::Mutex mutex_;
  boost::intrusive::list<UnderWay, boost::intrusive::constant_time_size<false>> under_way_
      GUARDED_BY(mutex_);
  Records records_ GUARDED_BY(mutex_);
  // What record_of() has found; mostly, the next call wants it, too.
  Records::value_type* last_ GUARDED_BY(mutex_) = nullptr;
};

class OriginTraffic {
 public:
  using Clock = std::chrono::steady_clock;

  // Before the threads start. The others may be called by any thread after that.
  TrafficOfThread& add_thread() { return of_threads_.emplace_back(); }

  struct Origin {
    std::string name;  // "http://host:80"
    OriginSums sums{};
    std::size_t waiting = 0;  // requests that wait for it now
  };
  // The origins that were asked in the last hour, those with most requests first.
  [[nodiscard]] std::vector<Origin> origins(Clock::time_point now) const;

  struct Wait {
    enum class Of : std::uint8_t { origin, parent, neighbour };
    std::string method;
    std::string url;  // at most 1 KiB of it
    std::string server;
    Of of = Of::origin;
    Awaited what = Awaited::nothing;
    Clock::time_point since;
    std::uint64_t bytes = 0;  // of the body, so far
  };
  struct Waits {
    std::size_t number = 0;  // of all
    std::vector<Wait> longest{};
  };
  // The requests that wait for a server, the `most` that have waited longest, in that order.
  [[nodiscard]] Waits waits(std::size_t most) const;

  // An origin for which requests have waited for UnderWay::kPatience, for a connection or a head.
  struct Silence {
    std::string origin;
    bool mapped = false;       // the settings name the origin
    std::size_t requests = 0;  // that have waited so long
    Clock::time_point since;   // the first of them waits
    Clock::time_point silent;  // since then the origin has answered nothing
  };
  // In the order of their names.
  [[nodiscard]] std::vector<Silence> silences(Clock::time_point now) const;

 private:
  std::deque<TrafficOfThread> of_threads_;
};

}  // namespace proxy::upstream
