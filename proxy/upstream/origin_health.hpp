// Which origins fail, since when and why, for the operator; and which have asked for a rest.
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
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {

// What the operator should look at first where an origin failed so.
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
  // The origin has sent a whole response. If the log tells of its failure, a line tells that it is
  // over.
  void answered(const Endpoint& origin);
  // The origin has failed a request in a way that is its own, or the network's. The log tells of it
  // once until it answers: at the first failure if an answer was expected, else when it fails.
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
  [[nodiscard]] std::vector<Failing> failing(Clock::time_point now) const;
  // Those that have failed in the last kLately, be it once, likewise.
  static constexpr std::chrono::minutes kLately{1};
  [[nodiscard]] std::vector<Failing> failed_lately(Clock::time_point now) const;
  // All failures that are given to failed(), of any origin.
  [[nodiscard]] std::uint64_t failures(Failure::What why) const;

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

  std::atomic<std::uint32_t>& place_of(const Endpoint& origin, std::uint32_t& mark) const;
  bool is_expected(const Endpoint& origin) const;
  template <class Wanted>
  std::vector<Failing> all_that(Wanted wanted) const EXCLUDES(mutex_);
  void forget_old(Clock::time_point now) REQUIRES(mutex_);
  bool make_room(bool expected) REQUIRES(mutex_);

  // Marks of origins that have answered. One may take the place of another, which is then unknown.
  const std::unique_ptr<std::atomic<std::uint32_t>[]> known_;
  std::array<std::atomic<std::uint64_t>, kFailures> counts_{};
  std::atomic<bool> any_{false};  // the table has an origin
  mutable threads::Mutex mutex_;
  std::unordered_map<Endpoint, Trouble> troubles_ GUARDED_BY(mutex_);
  std::atomic<bool> any_rests_{false};  // since the start
  std::unordered_map<Endpoint, Clock::time_point> rests_ GUARDED_BY(mutex_);
};

}  // namespace proxy::upstream
