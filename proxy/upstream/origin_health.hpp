// What origins have shown: which fail, since when and why, for the operator; which have asked for a
// rest, could not be reached a moment ago, or refuse ranges.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "config/expiring_table.hpp"
#include "digest/keyed_hash.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {

// Advice for the operator: where to look first if an origin failed so.
std::string_view advice_on(const Failure& failure);

// An origin is expected to answer if it has answered since this proxy was started, or is named by
// the settings. It fails once it fails kFailing requests in a row. Other names in clients' URLs may
// be mistakes: such an origin fails only after kFailingUnknown requests in a row, and a request
// that fails because the name has no address does not count. Clients choose the names, so the table
// is bounded: it has the kMost expected origins and the kMostUnknown others that failed first. Of
// the others, one that does not fail yet gives way to a newer one. An origin is listed until it
// answers, or for kForgotten after its last failure. Any thread. While nothing fails, an answer
// costs one hash and one store.
class OriginHealth {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostUnknown = 64;
  static constexpr std::uint64_t kFailing = 3;
  static constexpr std::uint64_t kFailingUnknown = 5;
  static constexpr std::chrono::minutes kForgotten{10};

  OriginHealth();

  // Whether an origin has failed and has not answered since.
  [[nodiscard]] bool has_troubles() const { return any_.load(std::memory_order_relaxed); }
  // Records that the origin has sent a whole response. If the log has reported its failure, logs
  // that the failure is over.
  void answered(const Endpoint& origin);
  // Records that the origin, or the network on the way to it, has failed a request. The log reports
  // that once until the origin answers: at the first failure if an answer was expected, else when
  // the origin counts as failing.
  void failed(const Endpoint& origin, const Failure& failure, Clock::time_point now);

  // The settings have changed: forgets the failures of origins that they named, and name no more.
  void forget_mapped(const std::function<bool(const Endpoint&)>& is_mapped);

  // The origin wants to be left alone until then (Retry-After). That binds what this proxy asks of
  // its own accord: refreshes, confirmations and checks. Clients' requests still reach the origin.
  // Of more than kMost origins, the one whose rest ends first is forgotten.
  void rest(const Endpoint& origin, Clock::time_point until);
  [[nodiscard]] bool rests(const Endpoint& origin, Clock::time_point now) const;

  struct Failing {
    std::string origin;          // "http://host:80"
    Failure why{};               // the last of them
    std::uint64_t failures = 0;  // in a row
    Clock::time_point since;     // the first of them
    Clock::time_point last{};    // the last of them
    bool mapped = false;         // the settings name the origin
  };
  // The origins that fail, in the order of their names.
  [[nodiscard]] std::vector<Failing> failing(Clock::time_point now) const {
    return all_that([now](const Trouble& trouble) { return trouble.fails(now); });
  }
  // The origins that have failed in the last kLately, be it once, sorted by name.
  static constexpr std::chrono::minutes kLately{1};
  [[nodiscard]] std::vector<Failing> failed_lately(Clock::time_point now) const {
    return all_that([now](const Trouble& trouble) { return now - trouble.last <= kLately; });
  }
  // The number of all failures that were given to failed(), of any origin.
  [[nodiscard]] std::uint64_t failures(Failure::What why) const {
    return counts_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  struct Trouble {
    Failure why;
    std::uint64_t failures;
    Clock::time_point since;
    Clock::time_point last;
    bool expected;

    [[nodiscard]] std::uint64_t most() const { return expected ? kFailing : kFailingUnknown; }
    [[nodiscard]] bool fails(Clock::time_point now) const {
      return failures >= most() && now - last <= kForgotten;
    }
    [[nodiscard]] bool is_said() const { return expected || failures >= kFailingUnknown; }
  };
  static constexpr std::size_t kKnown = 4096;

  // Where the mark of an origin that has answered is, and the mark of this origin.
  struct MarkSlot {
    std::atomic<std::uint32_t>& at;
    std::uint32_t mark;
    [[nodiscard]] bool is_marked() const { return at.load(std::memory_order_relaxed) == mark; }
  };
  [[nodiscard]] MarkSlot slot_of(const Endpoint& origin) const;
  std::vector<Failing> all_that(const std::function<bool(const Trouble&)>& wanted) const
      EXCLUDES(mutex_);
  bool make_room(const Trouble& newcomer) REQUIRES(mutex_);

  // Marks of origins that have answered. One may take the place of another, which is then unknown.
  const std::unique_ptr<std::atomic<std::uint32_t>[]> known_;
  std::array<std::atomic<std::uint64_t>, kFailures> counts_{};
  std::atomic<bool> any_{false};  // the table has an origin
  mutable threads::Mutex mutex_;
  std::unordered_map<Endpoint, Trouble> troubles_ GUARDED_BY(mutex_);
  std::atomic<bool> any_rests_{false};  // since the start
  config::ExpiringTable<Endpoint, std::monostate> rests_ GUARDED_BY(mutex_){kMost};
};

// Remembers endpoints that could not be reached a moment ago, so that not every request waits for
// the same failure. Not thread-safe.
class FailedEndpoints {
 public:
  using Clock = std::chrono::steady_clock;

  // `memory`: how long a failure is remembered; 0: not at all.
  explicit FailedEndpoints(std::chrono::milliseconds memory, std::size_t capacity = 1024)
      : memory_(memory), failures_(capacity) {}

  // Sets how long later failures are remembered.
  void remember_for(std::chrono::milliseconds memory) { memory_ = memory; }

  // Why the endpoint could not be connected to; no error if nothing is known.
  [[nodiscard]] net::error_code find(const Endpoint& endpoint, Clock::time_point now) const {
    const auto* const error = failures_.find(endpoint, now);
    return error ? *error : net::error_code();
  }
  // Records a connection that was refused, failed or timed out. Ignores other errors: those of
  // names, denied addresses and TLS.
  void record(const Endpoint& endpoint, net::error_code error, Clock::time_point now) {
    const bool of_connecting = error == Errc::connect_refused || error == Errc::connect_failed ||
                               error == Errc::connect_timed_out;
    if (of_connecting && memory_.count() > 0) failures_.put(endpoint, error, now + memory_);
  }

 private:
  std::chrono::milliseconds memory_;
  config::ExpiringTable<Endpoint, net::error_code> failures_;
};

// Whether an answer with this status may be due to the range that was asked for. Pure.
constexpr bool may_refuse_range(unsigned status) {
  return status >= 400 && status != 429 && status != 503;
}

// Which origins refuse the ranges that we ask for in place of the clients'. A table of kMost
// origins, each named by host and port. An origin is known to refuse once it has
// refused another range than the client's and then granted the client's own. It is forgotten kKept
// later, or when newer ones need its place. Any thread. Until an origin has refused a range, has()
// costs one comparison.
class RangeRefusals {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 256;
  static constexpr std::chrono::minutes kKept{60};

  // Records that the origin has answered another range than the client's by an error, or has hung
  // up. It may be about to refuse the client, too.
  void note_refused(std::string_view origin, Clock::time_point now) EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    const auto key = digest::TextHash{}(origin);
    if (!origins_.find(key, now)) origins_.put(key, Known::refused_one, now + kKept);
    any_.store(true, std::memory_order_relaxed);
  }
  // Records that the origin has answered the client's own range, after another one was of no use.
  // Has no effect unless the origin has refused that one.
  void record_granted(std::string_view origin, Clock::time_point now) EXCLUDES(mutex_) {
    if (!any_.load(std::memory_order_relaxed)) return;
    const threads::MutexLock lock(mutex_);
    const auto key = digest::TextHash{}(origin);
    if (origins_.find(key, now)) origins_.put(key, Known::refuses, now + kKept);
  }
  // Whether the origin is known to refuse other ranges than the client's.
  [[nodiscard]] bool has(std::string_view origin, Clock::time_point now) const EXCLUDES(mutex_) {
    if (!any_.load(std::memory_order_relaxed)) return false;
    const threads::MutexLock lock(mutex_);
    const auto* const known = origins_.find(digest::TextHash{}(origin), now);
    return known && *known == Known::refuses;
  }

 private:
  enum class Known : std::uint8_t { refused_one, refuses };

  std::atomic<bool> any_{false};
  mutable threads::Mutex mutex_;
  config::ExpiringTable<std::size_t, Known> origins_ GUARDED_BY(mutex_){kMost};
};

}  // namespace proxy::upstream
