// How often a peer's claims came true, how fast it answers, and when it is not asked for a while.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "peers/first_byte.hpp"
#include "peers/probation.hpp"

namespace peers {

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

// As /digest and /metrics spell it.
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

// The record of one peer. Any thread may call anything: there are only atomics, no locks. Counters
// start at 0 with the process and never decrease.
class Accuracy {
 public:
  struct Books {
    std::uint64_t claims = 0;  // how often the peer was a claimant, asked or not
    std::uint64_t asked = 0;   // questions to it for what it claimed
    std::uint64_t true_hits = 0;
    std::uint64_t false_hits = 0;                      // the sum of by_cause; late ones too
    std::array<std::uint64_t, kFalseHits> by_cause{};  // indexed by FalseHit
    std::uint64_t failures = 0;                        // refused, timed_out, broken, not_a_proxy()
    std::uint64_t bytes_saved = 0;                     // body bytes that it sent and that were used
    std::optional<std::chrono::microseconds> first_byte;  // moving average; empty if never measured
    std::uint64_t probes = 0;          // answered questions for keys that the peer did not claim
    std::uint64_t false_misses = 0;    // how many of the probed keys it held
    std::uint64_t checks = 0;          // responses that were compared with the origin's
    std::uint64_t contradictions = 0;  // how many never were the origin's
    std::uint64_t outruns = 0;         // answers that another source had made useless
    std::uint64_t unclaimed_hits = 0;  // responses that it gave without having claimed them
    std::array<std::uint64_t, kReasons> rests{};  // indexed by Reason
    Reason reason = Reason::none;  // why it rests, or is on probation; none: it does not, or is not
  };

  // What decides whether, and before whom, the peer is asked.
  struct Standing {
    FirstByte first_byte;
    SteadyTime measured = SteadyTime::min();  // when the last time was
    double came_true = 1;                     // the share of its recent claims
    std::uint32_t under_way = 0;              // questions to it, of all threads
    bool on_probation = false;                // see Probation::on()
  };

  void claimed() { counters_.claims.fetch_add(1, std::memory_order_relaxed); }

  // Records that the peer is asked for what it claims.
  void ask() { counters_.asked.fetch_add(1, std::memory_order_relaxed); }

  // Records how asking the peer ended. `first_byte` is the time from the request to the head of the
  // answer; for timed_out and outrun the time waited; empty if neither is known. `bytes` are the
  // body bytes that were used, also those before a cut; `cause` is for a false hit; `foreseen`: its
  // filter explains it. A late no counts as a failure to Probation, and a peer that lies
  // (kRecentClaims) as a liar.
  void note(ClaimOutcome outcome, std::optional<std::chrono::microseconds> first_byte,
            std::uint64_t bytes, SteadyTime now, FalseHit cause = FalseHit::untold,
            bool foreseen = false);

  // As those of Probation. How long a peer took before it failed says nothing of one that is back:
  // its time is measured anew.
  void poll_failed(SteadyTime now) { probation_.poll_failed(now); }
  void polled(SteadyTime now) {
    if (probation_.polled(now)) first_byte_.store(0, std::memory_order_relaxed);
  }

  // Records that a question to the peer begins or ends; see Asking.
  void begin_asking() { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void end_asking() { under_way_.fetch_sub(1, std::memory_order_relaxed); }

  // Records the answer to a probe: a question for a key that the peer did not claim. Has no other
  // effect.
  void probed(bool held);

  // Records that a response of the peer is being compared with the origin's. Has no other effect.
  void checked() { counters_.checks.fetch_add(1, std::memory_order_relaxed); }
  // Records that a response of the peer never was the origin's. The peer rests for kLongestRest.
  void contradicted(SteadyTime now);

  // Records that somebody else has answered at the peer's address. The peer rests for kLongestRest.
  // Returns false if the peer rests for that already.
  bool not_a_proxy(SteadyTime now);

  // Records that the peer was sent a body of our digest.
  void sent_digest(std::uint64_t bytes) {
    counters_.bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
  }

  // Records whether the peer's digest is consulted from now on. `total` is the directory's count of
  // lookups so far. One thread only.
  void put_to_use(bool in_use, std::uint64_t total);
  // How many lookups consulted the peer's digest, given the directory's count.
  std::uint64_t lookups(std::uint64_t total) const;

  Probation& probation() { return probation_; }
  const Probation& probation() const { return probation_; }
  bool resting(SteadyTime now) const { return probation_.resting(now); }
  Standing standing() const;
  // That of standing().
  FirstByte first_byte() const {
    return FirstByte::from(first_byte_.load(std::memory_order_acquire));
  }

  Books books() const;
  // Bytes of bodies of our digest that the peer was sent.
  std::uint64_t bytes_sent() const { return counters_.bytes_sent.load(std::memory_order_relaxed); }

 private:
  // Read by monitoring alone.
  struct Counters {
    std::atomic<std::uint64_t> claims{0};
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::uint64_t> true_hits{0};
    std::array<std::atomic<std::uint64_t>, kFalseHits> false_hits{};
    std::atomic<std::uint64_t> failures{0};
    std::atomic<std::uint64_t> bytes_saved{0};
    std::atomic<std::uint64_t> probes{0};
    std::atomic<std::uint64_t> false_misses{0};
    std::atomic<std::uint64_t> checks{0};
    std::atomic<std::uint64_t> contradictions{0};
    std::atomic<std::uint64_t> bytes_sent{0};
    std::atomic<std::uint64_t> outruns{0};
    std::atomic<std::uint64_t> unclaimed_hits{0};
  };

  void measure(ClaimOutcome outcome, std::chrono::microseconds first_byte, SteadyTime now);
  [[nodiscard]] double came_true() const;
  void count_false_hit(FalseHit cause);
  void judge_claim(ClaimOutcome outcome, SteadyTime now, Reason reason = Reason::lies);

  Counters counters_;
  // Packed into one word, so that both parts are read together. While the digest is in use: the
  // directory's total minus the peer's lookups (not negative). Otherwise: -1 minus the peer's
  // lookups.
  std::atomic<std::int64_t> usage_{-1};
  std::atomic<std::uint64_t> first_byte_{0};  // FirstByte::packed()
  std::atomic<SteadyTime> measured_{SteadyTime::min()};
  std::atomic<std::uint64_t> recent_{0};  // true hits in the lower half, false hits in the upper
  std::atomic<std::uint32_t> under_way_{0};
  Probation probation_;
};

// Counts a question to a peer while it is under way. `on_trial`: Probation::begin_trial() was true.
class Asking {
 public:
  Asking(Accuracy& peer, bool on_trial) : peer_(peer), on_trial_(on_trial) { peer_.begin_asking(); }
  ~Asking() {
    peer_.end_asking();
    if (on_trial_) peer_.probation().end_trial();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Accuracy& peer_;
  const bool on_trial_;
};

}  // namespace peers
