#include "peers/accuracy.hpp"

#include <algorithm>

namespace peers {
namespace {

// Counts of recent claims, packed into one word so that they change together.
struct Recent {
  std::uint32_t right;
  std::uint32_t wrong;

  static Recent from(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32)};
  }
  std::uint64_t packed() const { return std::uint64_t{wrong} << 32 | right; }
  std::uint32_t sum() const { return right + wrong; }

  Recent with(ClaimOutcome outcome) const {
    Recent next = *this;
    ++(outcome == ClaimOutcome::true_hit ? next.right : next.wrong);
    if (next.sum() < 2 * kRecentClaims) return next;
    return {next.right / 2, next.wrong / 2};
  }
  bool absurd() const { return sum() >= kRecentClaims && wrong > 4 * right; }
};

std::chrono::seconds rest_after(std::uint32_t failures_before) {
  return std::min(kLongestRest, kFirstRest * (1 << std::min(failures_before, 6U)));
}

}  // namespace

std::string_view to_string(FalseHit cause) {
  switch (cause) {
    case FalseHit::absent:
      return "absent";
    case FalseHit::gone:
      return "gone";
    case FalseHit::stale:
      return "stale";
    case FalseHit::variant:
      return "variant";
    case FalseHit::refused:
      return "refused";
    case FalseHit::untold:
      break;
  }
  return "untold";
}

void Accuracy::note(ClaimOutcome outcome, std::optional<std::chrono::microseconds> first_byte,
                    std::uint64_t bytes, SteadyTime now, FalseHit cause) {
  if (first_byte) measure(*first_byte);
  switch (outcome) {
    case ClaimOutcome::true_hit:
      counters_.true_hits.fetch_add(1, std::memory_order_relaxed);
      counters_.bytes_saved.fetch_add(bytes, std::memory_order_relaxed);
      failures_in_a_row_.store(0, std::memory_order_relaxed);
      return judge_claim(outcome, now);
    case ClaimOutcome::false_hit:
      count_false_hit(cause);
      return judge_claim(outcome, now);
    case ClaimOutcome::late_no:
      count_false_hit(cause);
      judge_claim(outcome, now);
      return rest_after_failure(now);
    case ClaimOutcome::refused:
    case ClaimOutcome::timed_out:
    case ClaimOutcome::broken:
      counters_.failures.fetch_add(1, std::memory_order_relaxed);
      return rest_after_failure(now);
  }
}

void Accuracy::probed(bool held) {
  counters_.probes.fetch_add(1, std::memory_order_relaxed);
  if (held) counters_.false_misses.fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::contradicted(SteadyTime now) {
  resting_until_.store(now + kLongestRest, std::memory_order_relaxed);
  counters_.contradictions.fetch_add(1, std::memory_order_release);  // who sees it sees the rest
}

void Accuracy::put_to_use(bool in_use, std::uint64_t total) {
  const auto usage = usage_.load(std::memory_order_relaxed);
  if (in_use == (usage >= 0)) return;
  const auto all = static_cast<std::int64_t>(total);
  const auto counted = in_use ? -1 - usage : all - usage;
  usage_.store(in_use ? all - counted : -1 - counted, std::memory_order_relaxed);
}

std::uint64_t Accuracy::lookups(std::uint64_t total) const {
  const auto usage = usage_.load(std::memory_order_relaxed);
  const auto counted = usage >= 0 ? static_cast<std::int64_t>(total) - usage : -1 - usage;
  // `total` may be older than usage_.
  return static_cast<std::uint64_t>(std::max<std::int64_t>(counted, 0));
}

bool Accuracy::resting(SteadyTime now) const {
  return now < resting_until_.load(std::memory_order_relaxed);
}

double Accuracy::cost() const {
  const Recent recent = Recent::from(recent_.load(std::memory_order_relaxed));
  const double came_true = (recent.right + 1.0) / (recent.sum() + 1.0);
  const auto measured = first_byte_us_.load(std::memory_order_relaxed);
  return (static_cast<double>(std::max<std::int64_t>(measured, 0)) + 1.0) / came_true;
}

Accuracy::Books Accuracy::books() const {
  Books books{.claims = counters_.claims.load(std::memory_order_relaxed),
              .true_hits = counters_.true_hits.load(std::memory_order_relaxed),
              .false_hits = 0,
              .by_cause = {},
              .failures = counters_.failures.load(std::memory_order_relaxed),
              .bytes_saved = counters_.bytes_saved.load(std::memory_order_relaxed),
              .first_byte = std::nullopt,
              .probes = counters_.probes.load(std::memory_order_relaxed),
              .false_misses = counters_.false_misses.load(std::memory_order_relaxed),
              .checks = counters_.checks.load(std::memory_order_relaxed),
              .contradictions = counters_.contradictions.load(std::memory_order_relaxed)};
  for (std::size_t cause = 0; cause < kFalseHits; ++cause) {
    books.by_cause[cause] = counters_.false_hits[cause].load(std::memory_order_relaxed);
    books.false_hits += books.by_cause[cause];
  }
  const auto measured = first_byte_us_.load(std::memory_order_relaxed);
  if (measured != kUnmeasured) books.first_byte = std::chrono::microseconds{measured};
  return books;
}

void Accuracy::measure(std::chrono::microseconds first_byte) {
  const std::int64_t sample = std::max<std::int64_t>(first_byte.count(), 0);
  std::int64_t before = first_byte_us_.load(std::memory_order_relaxed);
  std::int64_t after = 0;
  do {
    after = before == kUnmeasured ? sample : before + (sample - before) / 8;
  } while (!first_byte_us_.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

void Accuracy::count_false_hit(FalseHit cause) {
  counters_.false_hits[static_cast<std::size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::judge_claim(ClaimOutcome outcome, SteadyTime now) {
  std::uint64_t before = recent_.load(std::memory_order_relaxed);
  Recent after{};
  do {
    after = Recent::from(before).with(outcome);
  } while (!recent_.compare_exchange_weak(before, after.packed(), std::memory_order_relaxed));
  if (!after.absurd()) return;
  resting_until_.store(now + kLongestRest, std::memory_order_relaxed);
  recent_.store(0, std::memory_order_relaxed);
}

void Accuracy::rest_after_failure(SteadyTime now) {
  SteadyTime until = resting_until_.load(std::memory_order_relaxed);
  if (now < until) return;
  const auto before = failures_in_a_row_.load(std::memory_order_relaxed);
  // If several requests fail at once, only one of them doubles the rest.
  if (resting_until_.compare_exchange_strong(until, now + rest_after(before),
                                             std::memory_order_relaxed)) {
    failures_in_a_row_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace peers
