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

// What was held when it was claimed is no lie.
bool may_be_a_lie(FalseHit cause) {
  return cause != FalseHit::gone && cause != FalseHit::stale && cause != FalseHit::variant;
}

Reason reason_of(ClaimOutcome failure) {
  if (failure == ClaimOutcome::refused) return Reason::refused;
  return failure == ClaimOutcome::timed_out ? Reason::timed_out : Reason::broken;
}

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

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::refused:
      return "refused";
    case Reason::timed_out:
      return "timed-out";
    case Reason::broken:
      return "broken";
    case Reason::late:
      return "late";
    case Reason::outrun:
      return "outrun";
    case Reason::lies:
      return "lies";
    case Reason::contradicted:
      return "contradicted";
    case Reason::poll_failed:
      return "poll-failed";
    case Reason::none:
      break;
  }
  return "none";
}

bool beyond_prediction(std::uint64_t absent, std::uint64_t lookups, double rate) {
  constexpr double kChance = 10;  // so many of few lookups may be bad luck
  return static_cast<double>(absent) > 2 * rate * static_cast<double>(lookups) + kChance;
}

void Accuracy::note(ClaimOutcome outcome, std::optional<std::chrono::microseconds> first_byte,
                    std::uint64_t bytes, SteadyTime now, FalseHit cause, bool foreseen) {
  if (first_byte) measure(outcome, *first_byte, now);
  const bool counts = may_be_a_lie(cause) && !foreseen;
  switch (outcome) {
    case ClaimOutcome::true_hit:
      counters_.true_hits.fetch_add(1, std::memory_order_relaxed);
      counters_.bytes_saved.fetch_add(bytes, std::memory_order_relaxed);
      prove();
      return judge_claim(outcome, now);
    case ClaimOutcome::false_hit:
      count_false_hit(cause);
      outrun_.store(false, std::memory_order_relaxed);
      if (counts) judge_claim(outcome, now);
      return;
    case ClaimOutcome::late_no:
      count_false_hit(cause);
      if (counts) judge_claim(outcome, now);
      return rest_after_failure(Reason::late, now);
    case ClaimOutcome::outrun:
      counters_.outruns.fetch_add(1, std::memory_order_relaxed);
      if (!outrun_.exchange(true, std::memory_order_relaxed)) {
        blame(Reason::outrun, now);
      }
      return;
    case ClaimOutcome::overtaken:
      counters_.outruns.fetch_add(1, std::memory_order_relaxed);
      return prove();
    case ClaimOutcome::refused:
    case ClaimOutcome::timed_out:
    case ClaimOutcome::broken:
      counters_.failures.fetch_add(1, std::memory_order_relaxed);
      return rest_after_failure(reason_of(outcome), now);
  }
}

// The peer has begun to send what it claims.
void Accuracy::prove() {
  failures_in_a_row_.store(0, std::memory_order_relaxed);
  outrun_.store(false, std::memory_order_relaxed);
}

void Accuracy::polled(bool failed, SteadyTime now) {
  const bool failed_before = poll_failed_.exchange(failed, std::memory_order_relaxed);
  if (failed && !failed_before) blame(Reason::poll_failed, now);
  if (!failed && failed_before) heard(now);
}

void Accuracy::heard(SteadyTime now) {
  heard_.store(now, std::memory_order_relaxed);
  if (resting(now) && !rests_for_a_lie(now)) resting_until_.store(now, std::memory_order_relaxed);
}

bool Accuracy::rests_for_a_lie(SteadyTime now) const {
  const auto reason = reason_.load(std::memory_order_relaxed);
  return resting(now) && (reason == Reason::lies || reason == Reason::contradicted);
}

void Accuracy::blame(Reason reason, SteadyTime now) {
  if (!rests_for_a_lie(now)) reason_.store(reason, std::memory_order_relaxed);
}

void Accuracy::probed(bool held) {
  counters_.probes.fetch_add(1, std::memory_order_relaxed);
  if (held) counters_.false_misses.fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::contradicted(SteadyTime now) {
  rest_long(Reason::contradicted, now);
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

double Accuracy::came_true() const {
  const Recent recent = Recent::from(recent_.load(std::memory_order_relaxed));
  return (recent.right + 1.0) / (recent.sum() + 1.0);
}

double Accuracy::cost() const {
  const auto measured = FirstByte::from(first_byte_.load(std::memory_order_relaxed)).mean();
  return (static_cast<double>(measured.count()) + 1.0) / came_true();
}

Accuracy::Standing Accuracy::standing() const {
  return {.first_byte = FirstByte::from(first_byte_.load(std::memory_order_relaxed)),
          .measured = measured_.load(std::memory_order_relaxed),
          .came_true = came_true(),
          .under_way = under_way_.load(std::memory_order_relaxed),
          .on_probation = failures_in_a_row_.load(std::memory_order_relaxed) > 0 ||
                          outrun_.load(std::memory_order_relaxed) ||
                          poll_failed_.load(std::memory_order_relaxed)};
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
              .contradictions = counters_.contradictions.load(std::memory_order_relaxed),
              .outruns = counters_.outruns.load(std::memory_order_relaxed)};
  for (std::size_t cause = 0; cause < kFalseHits; ++cause) {
    books.by_cause[cause] = counters_.false_hits[cause].load(std::memory_order_relaxed);
    books.false_hits += books.by_cause[cause];
  }
  for (std::size_t reason = 0; reason < kReasons; ++reason) {
    books.rests[reason] = counters_.rests[reason].load(std::memory_order_relaxed);
  }
  books.reason = reason_.load(std::memory_order_relaxed);
  const auto measured = FirstByte::from(first_byte_.load(std::memory_order_relaxed));
  if (measured.measured()) books.first_byte = measured.mean();
  return books;
}

void Accuracy::measure(ClaimOutcome outcome, std::chrono::microseconds first_byte, SteadyTime now) {
  const bool at_least = outcome == ClaimOutcome::outrun || outcome == ClaimOutcome::timed_out;
  std::uint64_t before = first_byte_.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    const auto known = FirstByte::from(before);
    after = (at_least ? known.with_at_least(first_byte) : known.with(first_byte)).packed();
  } while (!first_byte_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  measured_.store(now, std::memory_order_relaxed);
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
  rest_long(Reason::lies, now);
  recent_.store(0, std::memory_order_relaxed);
}

void Accuracy::rest_long(Reason reason, SteadyTime now) {
  resting_until_.store(now + kLongestRest, std::memory_order_relaxed);
  reason_.store(reason, std::memory_order_relaxed);
  counters_.rests[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::rest_after_failure(Reason reason, SteadyTime now) {
  SteadyTime until = resting_until_.load(std::memory_order_relaxed);
  if (now < until) return;
  const auto before = failures_in_a_row_.load(std::memory_order_relaxed);
  // If several requests fail at once, only one of them doubles the rest.
  if (resting_until_.compare_exchange_strong(until, now + rest_after(before),
                                             std::memory_order_relaxed)) {
    failures_in_a_row_.fetch_add(1, std::memory_order_relaxed);
    reason_.store(reason, std::memory_order_relaxed);
    counters_.rests[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace peers
