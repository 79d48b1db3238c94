// How often a peer's claims came true, how fast it answers, and when it is not asked for a while.
#pragma once

#include <array>
#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "peers/first_byte.hpp"

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
  contradicted,  // the origin, or the digest that names it, contradicts what it gave
  poll_failed,   // the last poll of its digest failed
  not_a_proxy,   // an answer at its address was not its own
  refuses_us,    // it serves nothing to our address
};
inline constexpr std::size_t kReasons = 11;

// The name that /digest and /metrics use.
std::string_view to_string(Reason reason);

inline constexpr std::chrono::seconds kFirstRest{1};
inline constexpr std::chrono::seconds kLongestRest{60};

// When a peer is not asked, or by one request at a time, and why. Any thread may call anything:
// there are only atomics, no locks.
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
  [[nodiscard]] bool has_trial() const { return trial_.load(std::memory_order_relaxed); }

  bool resting(SteadyTime now) const;
  // Whether the peer has failed or was outrun, and nothing it sent since shows that it works; or
  // the last poll of its digest failed. One request at a time tries it.
  bool on() const;
  // When the peer was last heard; SteadyTime::min() if never.
  SteadyTime last_heard() const { return heard_.load(std::memory_order_relaxed); }
  // Why it rests or is on probation, if it does.
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }
  // How many rests the peer had for this reason.
  std::uint64_t rests(std::size_t reason) const {
    return rests_[reason].load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool must_rest(SteadyTime now) const;
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

// How asking a peer ended.
enum class ClaimOutcome : std::uint8_t {
  true_hit,   // it answered with the response
  false_hit,  // a valid answer without the response: 504, or a Squid's 502 (RFC 9111
              // section 5.2.1.7)
  late_no,    // as false_hit, but so late that the question has cost the client time
  refused,    // no connection, or a status that a sibling must not send
  timed_out,
  broken,         // not HTTP, or cut short
  outrun,         // given up before its first byte, because another source had answered
  overtaken,      // it began to send the response, but another source had answered before
  unclaimed_hit,  // it had not claimed the key, but answered with the response
  unclaimed_no,   // it had not claimed the key, and has nothing of use
  refuses_us,     // it said that it serves nothing to our address
};

// Why a claim was false, as far as the peer's answer says.
enum class FalseHit : std::uint8_t {
  absent,   // the peer does not hold it and did not recently: an error of the filter
  gone,     // the peer dropped it after the digest that we use was made
  stale,    // held, but too old for this request
  variant,  // held, but not the variant that the request needs
  refused,  // the peer refused to answer, whatever it holds
  untold,   // the answer does not say
  unknown,  // the peer does not hold it, and does not know whether it did recently
  unfit,    // held, but another version, or one that neighbours do not share
};
inline constexpr std::size_t kFalseHits = 8;

// The name that /digest and /metrics use.
std::string_view to_string(FalseHit cause);

// A peer counts as lying if more than four fifths of this many recent claims (or up to twice as
// many) were false. The bound is not one half: the honest digest of a Squid claims 9 % of the keys
// that it does not hold. So if a Squid holds a tenth of our misses, half of its claims are false,
// but that tenth is worth asking for. A peer that held the response when it claimed it has not
// lied: so claims of what is gone, stale or another variant do not count, nor those of what is
// unknown. If the peer refused the question about its last false claim, it rests as one that
// refuses us.
inline constexpr std::uint32_t kRecentClaims = 100;

// After this time without an answer, an answer in less than half of the expected time replaces the
// estimate.
inline constexpr std::chrono::seconds kFades{10};

// Whether so many claims of what a peer never held are more than its filter's false-positive rate
// explains, given the number of lookups in its digest. Pure.
bool beyond_prediction(std::uint64_t absent, std::uint64_t lookups, double rate);

// How asking a peer ended.
struct Asked {
  ClaimOutcome outcome;
  // The time from the request to the head of the answer; for timed_out and outrun the time waited.
  // Empty if neither is known.
  std::optional<std::chrono::microseconds> first_byte = {};
  std::uint64_t bytes = 0;            // of the body that were used, also those before a cut
  FalseHit cause = FalseHit::untold;  // of a false hit
  bool foreseen = false;              // the false-positive rate of its filter explains it
};

// Counts of the results of questions to a peer, since the process began. Number: a std::uint64_t,
// or an atomic one.
template <class Number>
struct AnswerCounts {
  Number claims{0};  // how often the peer was a claimant, asked or not
  Number asked{0};   // questions to it for what it claimed
  Number true_hits{0};
  std::array<Number, kFalseHits> by_cause{};  // false hits, indexed by FalseHit
  Number failures{0};                         // refused, timed_out, broken, not_a_proxy()
  Number bytes_saved{0};                      // body bytes that it sent and that were used
  Number outruns{0};                          // answers that another source had made useless
  Number unclaimed_hits{0};                   // responses that it gave without having claimed them
};

// The checks of a peer's answers, and the digests that the peer has read of ours, as numbers.
template <class Number>
struct CheckCounts {
  Number probes{0};          // answered questions for keys that the peer did not claim
  Number false_misses{0};    // how many of the probed keys it held
  Number checks{0};          // responses that were compared with the origin's
  Number contradictions{0};  // responses that never were the origin's, or had a wrong digest
  Number bytes_sent{0};      // bodies of our digest that the peer was sent
};

// The record of one peer. Any thread may call anything: there are only atomics, no locks. Counters
// start at 0 with the process and never decrease.
class Accuracy {
 public:
  struct Books : AnswerCounts<std::uint64_t>, CheckCounts<std::uint64_t> {
    std::uint64_t false_hits = 0;                         // the sum of by_cause; late ones too
    std::optional<std::chrono::microseconds> first_byte;  // moving average; empty if never measured
    std::array<std::uint64_t, kReasons> rests{};          // indexed by Reason
    Reason reason = Reason::none;  // why it rests, or is on probation; none: it does not, or is not
  };

  // The facts that decide whether, and before whom, the peer is asked.
  struct Standing {
    FirstByte first_byte;                     // of answers, and of silences while they lasted
    SteadyTime measured = SteadyTime::min();  // when the last time was
    double came_true = 1;                     // the share of its recent claims
    std::uint32_t under_way = 0;              // questions to it, of all threads
    bool on_probation = false;                // see Probation::on()
  };

  void claimed() { add(counts_.claims); }

  // Records that the peer is asked for what it claims.
  void ask() { add(counts_.asked); }

  // Records how asking the peer ended. A late no counts as a failure to Probation, and a peer that
  // lies (kRecentClaims) as a liar.
  void record(const Asked& asked, SteadyTime now);

  // Records the result of a poll in Probation. How long a peer took before it failed says nothing
  // of one that is back: its time is measured anew.
  void poll_failed(SteadyTime now) { probation_.poll_failed(now); }
  void polled(SteadyTime now) {
    if (!probation_.polled(now)) return;
    first_byte_.store(0, std::memory_order_relaxed);
    answers_.store(0, std::memory_order_relaxed);
  }

  // Records that the peer has answered a probe, a question for a key that it did not claim; the
  // second: that it holds the key. Neither has another effect.
  void probed() { add(counts_.probes); }
  void missed() { add(counts_.false_misses); }

  // Records that a response of the peer is being compared with the origin's. Has no other effect.
  void checked() { add(counts_.checks); }
  // Records that a response of the peer was wrong: the origin never sent it, or it does not have
  // the digest by which the URL names it. The peer rests for kLongestRest.
  void contradicted(SteadyTime now);

  // Records that somebody else has answered at the peer's address. The peer rests for kLongestRest.
  // Returns false if the peer rests for that already.
  bool not_a_proxy(SteadyTime now);

  // Records that the peer was sent a body of our digest.
  void sent_digest(std::uint64_t bytes) { add(counts_.bytes_sent, bytes); }

  // Records that the peer's digest is consulted from now on, or no longer. `total` is the
  // directory's count of lookups so far. One thread only.
  void begin_use(std::uint64_t total);
  void end_use(std::uint64_t total);
  // How many lookups consulted the peer's digest, given the directory's count.
  std::uint64_t lookups(std::uint64_t total) const;

  Probation& probation() { return probation_; }
  const Probation& probation() const { return probation_; }
  bool resting(SteadyTime now) const { return probation_.resting(now); }
  Standing standing() const;
  // The time to first byte that standing() gives.
  FirstByte first_byte() const {
    return FirstByte::from(first_byte_.load(std::memory_order_acquire));
  }
  // The time of its answers alone: for how long it is worth waiting for one. If silences counted, a
  // peer that answers only some questions would be waited for ever longer.
  FirstByte answers() const { return FirstByte::from(answers_.load(std::memory_order_relaxed)); }

  Books books() const;

 private:
  friend class Asking;

  // Read by monitoring alone.
  struct Counts : AnswerCounts<std::atomic<std::uint64_t>>,
                  CheckCounts<std::atomic<std::uint64_t>> {};

  static void add(std::atomic<std::uint64_t>& count, std::uint64_t by = 1) {
    count.fetch_add(by, std::memory_order_relaxed);
  }
  using Estimate = std::atomic<std::uint64_t>;  // FirstByte::packed()

  void measure(ClaimOutcome outcome, std::chrono::microseconds first_byte, SteadyTime now);
  void judge_claim(ClaimOutcome outcome, SteadyTime now, Reason reason = Reason::lies);

  Counts counts_;
  // Packed into one word, so that both parts are read together. While the digest is in use: the
  // directory's total minus the peer's lookups (not negative). Otherwise: -1 minus the peer's
  // lookups.
  std::atomic<std::int64_t> usage_{-1};
  Estimate first_byte_{0};
  Estimate answers_{0};
  std::atomic<SteadyTime> measured_{SteadyTime::min()};
  std::atomic<std::uint64_t> recent_{0};  // true hits in the lower half, false hits in the upper
  std::atomic<std::uint32_t> under_way_{0};
  Probation probation_;
};

// Whether a question is a trial: Probation::begin_trial() was true.
enum class Trial : bool { no, yes };

// Counts a question to a peer while it is under way. Then ends the trial, if the question is one.
class Asking : boost::noncopyable {
 public:
  Asking(Accuracy& peer, Trial trial) : peer_(peer), trial_(trial) {
    peer_.under_way_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Asking() {
    peer_.under_way_.fetch_sub(1, std::memory_order_relaxed);
    if (trial_ == Trial::yes) peer_.probation().end_trial();
  }

 private:
  Accuracy& peer_;
  const Trial trial_;
};

}  // namespace peers
