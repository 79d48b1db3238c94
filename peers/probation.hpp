// When a peer is not asked, or by one request at a time, and why.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace peers {

using SteadyTime = std::chrono::steady_clock::time_point;

// Why a peer rests, or is asked by one request at a time.
enum class Reason : std::uint8_t {
  none,
  refused,
  timed_out,
  broken,
  late,          // it took long to say no
  outrun,        // it was silent for longer than it mostly takes
  lies,          // most of its recent claims were false
  contradicted,  // the origin contradicts what it gave
  poll_failed,   // the last poll of its digest failed
  not_a_proxy,   // an answer at its address was not its own
  refuses_us,    // it serves nothing to our address
};
inline constexpr std::size_t kReasons = 11;

// As /digest and /metrics spell it.
std::string_view to_string(Reason reason);

inline constexpr std::chrono::seconds kFirstRest{1};
inline constexpr std::chrono::seconds kLongestRest{60};

// Any thread may call anything: there are only atomics, no locks.
class Probation {
 public:
  // Records a failure. The peer rests for kFirstRest; each further failure doubles the rest up to
  // kLongestRest, until prove(). Failures of requests that were under way when the rest began count
  // as one.
  void fail(Reason reason, SteadyTime now);
  // Records a lie, or an answer of somebody else. The peer rests for kLongestRest.
  void lie(Reason reason, SteadyTime now);
  // Records that another source had answered before the peer began to.
  void outrun(SteadyTime now);
  // Records that the name of its host was not resolved: the peer rests for kFirstRest. That is no
  // failure of its own, and gives no reason.
  void unresolved(SteadyTime now);
  // Records that the peer has said no in time.
  void answered() { outrun_.store(false, std::memory_order_relaxed); }
  // Records that the peer has sent what it claims.
  void prove();
  // Records an answer that is no refusal. If the peer had refused us, that is over.
  void serves_us() {
    if (reason() == Reason::refuses_us) prove();
  }
  // Records that it has begun to. That proves nothing of a peer whose answers break off.
  void begin_to_send();
  // Whether the last failure was an answer that broke off.
  [[nodiscard]] bool breaks_off() const { return on() && reason() == Reason::broken; }
  // Records that the peer has polled us, so that it runs. Ends a rest after a failure to answer,
  // not one after a lie, a refusal or an answer that broke off: the peer is on probation then.
  void heard(SteadyTime now);
  // Records that our poll of its digest has failed.
  void poll_failed(SteadyTime now);
  // Records that our poll of its digest was good. Returns whether the peer is back: the last poll
  // had failed. Then it counts as heard(), and ends a rest for what somebody else had answered.
  bool polled(SteadyTime now);

  // Begins a trial, unless one is under way. Returns whether it has begun. end_trial() must follow.
  bool begin_trial() { return !trial_.exchange(true, std::memory_order_relaxed); }
  void end_trial() { trial_.store(false, std::memory_order_relaxed); }

  bool resting(SteadyTime now) const;
  // Whether the peer has failed or was outrun, and nothing it sent since shows that it works; or
  // the last poll of its digest failed. One request at a time tries it.
  bool on() const;
  // When the peer was last heard; SteadyTime::min() if never.
  SteadyTime last_heard() const { return heard_.load(std::memory_order_relaxed); }
  // Why it rests or is on probation, if it does.
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }
  // How many rests it had for this reason.
  std::uint64_t rests(std::size_t reason) const {
    return rests_[reason].load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool rests_whatever_it_does(SteadyTime now) const;
  void blame(Reason reason, SteadyTime now);
  void begin_rest(Reason reason);

  std::atomic<std::uint32_t> failures_in_a_row_{0};
  std::atomic<SteadyTime> resting_until_{SteadyTime::min()};
  std::atomic<bool> outrun_{false};  // since its last answer
  std::atomic<bool> poll_failed_{false};
  std::atomic<bool> trial_{false};
  std::atomic<SteadyTime> heard_{SteadyTime::min()};
  std::atomic<Reason> reason_{Reason::none};
  std::array<std::atomic<std::uint64_t>, kReasons> rests_{};
};

}  // namespace peers
