// How often a peer's claims came true, how fast it answers, and when it is left alone.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace peers {

using SteadyTime = std::chrono::steady_clock::time_point;

// How asking a claimant ended.
enum class ClaimOutcome : std::uint8_t {
  true_hit,   // it had the object
  false_hit,  // a good answer that says no: 504, or a Squid's 502 (RFC 9111 section 5.2.1.7)
  refused,    // no connection, or a status that a sibling must not give
  timed_out,
  broken,  // no HTTP, or cut short
};

// Why a claim was false, as far as the peer's answer tells.
enum class FalseHit : std::uint8_t {
  absent,   // it does not hold it, and did not lately: the filter's error
  gone,     // it left the peer's cache since the digest that we go by
  stale,    // held, but too old for this request
  variant,  // held, but not in the variant that was asked for
  refused,  // it may not or would not answer, whatever it holds
  untold,   // the answer does not say
};
inline constexpr std::size_t kFalseHits = 6;

// As in /digest and /metrics.
std::string_view to_string(FalseHit cause);

inline constexpr std::chrono::seconds kFirstRest{1};
inline constexpr std::chrono::seconds kLongestRest{60};

// A peer lies when more than four fifths of this many recent claims (or up to twice as many) were
// false. Not half: a Squid's honest digest is wrong for 9 % of what it does not hold, so a half of
// its claims is when it holds a tenth of what we miss, and that tenth is worth asking for.
inline constexpr std::uint32_t kRecentClaims = 100;

// The books on one peer. Any thread may call anything: atomics only, no locks. Counters start at 0
// with the process and never fall.
class Accuracy {
 public:
  struct Books {
    std::uint64_t claims = 0;  // times it was named as a claimant, asked or not
    std::uint64_t true_hits = 0;
    std::uint64_t false_hits = 0;                         // the sum of what follows
    std::array<std::uint64_t, kFalseHits> by_cause{};     // by FalseHit
    std::uint64_t failures = 0;                           // refused, timed_out or broken
    std::uint64_t bytes_saved = 0;                        // body bytes of true hits
    std::optional<std::chrono::microseconds> first_byte;  // moving average; none if never measured
    std::uint64_t probes = 0;        // times it was asked for what it did not claim, and answered
    std::uint64_t false_misses = 0;  // of those, how often it held it
    std::uint64_t bytes_sent = 0;    // of our digest, to it
  };

  void claimed() { claims_.fetch_add(1, std::memory_order_relaxed); }

  // first_byte: from the request to the answer's head; for timed_out the time waited; empty if
  // there was none. A failure rests the peer: kFirstRest, doubled by each further failure up to
  // kLongestRest, reset by an answer. Failures of requests that were under way when the rest began
  // are one failure. A peer that lies too often gets kLongestRest at once. `cause` is that of a
  // false_hit.
  void note(ClaimOutcome outcome, std::optional<std::chrono::microseconds> first_byte,
            std::uint64_t bytes, SteadyTime now, FalseHit cause = FalseHit::untold);

  // How a question for what it did not claim was answered. Nothing else follows from it.
  void probed(bool held);

  // It was sent a body of our digest.
  void sent_digest(std::uint64_t bytes) { bytes_sent_.fetch_add(bytes, std::memory_order_relaxed); }

  // Lookups, of which the directory counts `total` in all: from that one on the peer's digest is in
  // use, or is not. One thread only.
  void put_to_use(bool in_use, std::uint64_t total);
  // How many its digest was asked in.
  std::uint64_t lookups(std::uint64_t total) const;

  bool resting(SteadyTime now) const;

  // What a true hit is likely to cost here: the average time to first byte over the share of claims
  // that came true lately, in microseconds. A peer never measured costs next to nothing, so that it
  // gets measured.
  double cost() const;

  Books books() const;

 private:
  void measure(std::chrono::microseconds first_byte);
  void judge_claim(ClaimOutcome outcome, SteadyTime now);
  void rest_after_failure(SteadyTime now);

  static constexpr std::int64_t kUnmeasured = -1;

  std::atomic<std::uint64_t> claims_{0};
  std::atomic<std::uint64_t> true_hits_{0};
  std::array<std::atomic<std::uint64_t>, kFalseHits> false_hits_{};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> bytes_saved_{0};
  std::atomic<std::uint64_t> probes_{0};
  std::atomic<std::uint64_t> false_misses_{0};
  std::atomic<std::uint64_t> bytes_sent_{0};
  // One word, so that it is read as one: not negative, the total less the peer's lookups while its
  // digest is in use; else -1 less the peer's lookups.
  std::atomic<std::int64_t> usage_{-1};
  std::atomic<std::int64_t> first_byte_us_{kUnmeasured};
  std::atomic<std::uint64_t> recent_{0};  // true hits in the lower half, false hits in the upper
  std::atomic<std::uint32_t> failures_in_a_row_{0};
  std::atomic<SteadyTime> resting_until_{SteadyTime::min()};
};

}  // namespace peers
