// What origins did in the last hour, and which requests wait for a server now.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/machine/clock.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::upstream {

// How long origins took to their first byte, as quantiles need it: counts of times in buckets whose
// upper bound is at most a quarter above the lower one, from 1 ms to a minute. A value.
class FirstBytes {
 public:
  using Time = std::chrono::microseconds;

  // A time below zero counts as zero.
  void add(Time took) { ++in_bucket_[bucket_of(took)]; }
  void add(const FirstBytes& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) in_bucket_[i] += other.in_bucket_[i];
  }
  // The time below which this share of the times lies, interpolated within a bucket. Nothing: no
  // time was added.
  [[nodiscard]] std::optional<Time> quantile(double share) const;

 private:
  static constexpr std::int64_t kUnit = 250;  // microseconds
  // Four of one unit each, then four to each power of two, up to 65 s.
  static constexpr std::size_t kBuckets = 68;

  static std::size_t bucket_of(Time took) {
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0) / kUnit);
    if (units < 4) return static_cast<std::size_t>(units);
    const auto power = static_cast<std::size_t>(std::bit_width(units)) - 2;  // from 1 on
    return std::min(4 * power + ((units >> (power - 1)) & 3U), kBuckets - 1);
  }
  // The lower bound of the bucket, in units.
  static double begin_of(std::size_t bucket) {
    if (bucket < 4) return static_cast<double>(bucket);
    return static_cast<double>((4 + bucket % 4) << (bucket / 4 - 1));
  }

  std::array<std::uint32_t, kBuckets> in_bucket_{};
};

// The sums of one origin over a period.
struct OriginSums {
  std::uint64_t bytes = 0;  // of bodies received
  std::uint32_t requests = 0;
  std::uint32_t errors = 0;                         // answers with a status from 500 on
  std::array<std::uint32_t, kFailures> failures{};  // requests without a whole answer, by cause
  FirstBytes first_bytes{};

  void add(const OriginSums& other);
  // The requests that got no whole answer, for whatever cause, or an error.
  [[nodiscard]] std::uint64_t failed() const;
};

// What one origin did in the last hour. Counts by periods of ten minutes, so that the hour ends
// with a whole period. A period in which the origin was not asked takes no memory.
class OriginRecord {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes kPeriod{10};
  static constexpr std::int64_t kPeriods = 6;  // the one under way included

  // The sums of the period under way.
  OriginSums& at(Clock::time_point now);
  [[nodiscard]] OriginSums of_hour(Clock::time_point now) const;
  // The number of requests in the last hour. Cheap, unlike the sums.
  [[nodiscard]] std::uint64_t requests(Clock::time_point now) const;

  Clock::time_point asked{};     // for the last time
  Clock::time_point answered{};  // its last head; 0: none

 private:
  struct Period {
    std::int64_t number;  // since the beginning of the clock
    OriginSums sums;
  };
  std::vector<Period> periods_;  // the oldest first
};

class TrafficOfThread;

// `name`: the address of the server, from the name servers.
enum class Awaited : std::uint8_t { nothing, name, connection, first_byte, body };
std::string_view word(Awaited what);  // "first-byte"

// One request to a server, while it is under way: what it waits for, and since when. Belongs to one
// thread; others see it through OriginTraffic. It is in the thread's list from
// turn_to() to end(), and counts for the origin what becomes of the request.
class UnderWay : public boost::intrusive::list_base_hook<>, boost::noncopyable {
 public:
  using Clock = std::chrono::steady_clock;

  enum class To : std::uint8_t {
    origin,  // also through a parent
    neighbour,
    redirected,  // an origin, for a URL that another one has given: nobody sees its query
  };

  // `head` begins with the request line. It and `at` outlive this object.
  UnderWay(TrafficOfThread& at, std::string_view head, To to = To::origin)
      : at_(at), head_(head), to_(to) {}
  ~UnderWay() { end(); }

  // `server` is asked now: the origin, or the parent `through`. Counts a request of the origin's,
  // unless the same request is counted and still open. All outlive this object.
  void turn_to(const Endpoint& origin, const Endpoint& server, const Parent* through,
               Clock::time_point now);
  void await(Awaited what) { awaited_.store(what, std::memory_order_relaxed); }
  void await(Awaited what, Clock::time_point since) {
    since_.store(since, std::memory_order_relaxed);
    await(what);
  }
  // A part of the request's body was sent. The first byte is awaited from now on.
  void sent(Clock::time_point now) { since_.store(now, std::memory_order_relaxed); }
  [[nodiscard]] Awaited awaited() const { return awaited_.load(std::memory_order_relaxed); }
  // The head of the final answer has arrived.
  void answered(unsigned status, Clock::time_point now);
  // Records that the request has failed, before its head or in its body. The failure counts if the
  // origin, the way to it or the name servers are the cause.
  void failed(Failure::What why, Clock::time_point now);
  // Records that a part of the body has arrived.
  void received(std::size_t bytes) {
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  // Records that the request waits for nothing any more. If it was given up after kPatience without
  // an answer, that counts as a failure, of the name servers if the request waited for them. May be
  // called again once more bytes have been received.
  static constexpr std::chrono::seconds kPatience{3};
  void end();

 private:
  friend class TrafficOfThread;
  friend class OriginTraffic;

  [[nodiscard]] bool is_of_neighbour() const { return to_ == To::neighbour; }

  TrafficOfThread& at_;
  const std::string_view head_;
  const To to_;
  bool is_open_ = false;  // neither answered nor failed
  // Change under the lock of at_.
  const Endpoint* origin_ = nullptr;
  const Endpoint* server_ = nullptr;
  const Parent* through_ = nullptr;
  std::atomic<Awaited> awaited_{Awaited::nothing};
  std::atomic<Clock::time_point> since_{};
  std::atomic<std::uint64_t> bytes_{0};  // that the origin's record does not count yet
};

// The traffic as one thread has seen it. A fetch takes its lock three times, and so do threads that
// read it.
class alignas(64) TrafficOfThread {
 public:
  using Clock = std::chrono::steady_clock;
  // Clients choose the names, so the table is bounded: the origin gives way that was asked least in
  // the last hour, and of several the one that was asked last the longest ago.
  static constexpr std::size_t kMost = 200;

  explicit TrafficOfThread(machine::Clock& clock) : clock_(clock) {}

 private:
  friend class UnderWay;
  friend class OriginTraffic;
  using Records = std::unordered_map<Endpoint, OriginRecord>;

  OriginRecord& record_of(const Endpoint& origin, Clock::time_point now) REQUIRES(mutex_);
  void make_room(Clock::time_point now) REQUIRES(mutex_);

  machine::Clock& clock_;
  mutable threads::Mutex mutex_;
  boost::intrusive::list<UnderWay, boost::intrusive::constant_time_size<false>> under_way_
      GUARDED_BY(mutex_);
  Records records_ GUARDED_BY(mutex_);
  // The last record that record_of() found, since the next call mostly looks for the same one.
  Records::value_type* last_ GUARDED_BY(mutex_) = nullptr;
};

class OriginTraffic {
 public:
  using Clock = std::chrono::steady_clock;

  explicit OriginTraffic(machine::Clock& clock) : clock_(clock) {}

  // Call this before the threads start. After that, any thread may call the other functions.
  TrafficOfThread& add_thread() { return of_threads_.emplace_back(clock_); }

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
  // The silent origins, in the order of their names.
  [[nodiscard]] std::vector<Silence> silences(Clock::time_point now) const;

 private:
  machine::Clock& clock_;
  std::deque<TrafficOfThread> of_threads_;
};

}  // namespace proxy::upstream
