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

// A peer that held the response when it claimed it has not lied.
bool may_be_a_lie(FalseHit cause) {
  return cause == FalseHit::absent || cause == FalseHit::refused || cause == FalseHit::untold;
}

Reason reason_of(ClaimOutcome failure) {
  if (failure == ClaimOutcome::refused) return Reason::refused;
  return failure == ClaimOutcome::timed_out ? Reason::timed_out : Reason::broken;
}

// Of a peer that rests for its false claims, given why the last one was false.
Reason reason_of(FalseHit cause) {
  return cause == FalseHit::refused ? Reason::refuses_us : Reason::lies;
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
    case FalseHit::unknown:
      return "unknown";
    case FalseHit::unfit:
      return "unfit";
    case FalseHit::untold:
      break;
  }
  return "untold";
}

bool beyond_prediction(std::uint64_t absent, std::uint64_t lookups, double rate) {
  constexpr double kChance = 10;  // so many of few lookups may be bad luck
  return static_cast<double>(absent) > 2 * rate * static_cast<double>(lookups) + kChance;
}

void Accuracy::note(ClaimOutcome outcome, std::optional<std::chrono::microseconds> first_byte,
                    std::uint64_t bytes, SteadyTime now, FalseHit cause, bool foreseen) {
  if (first_byte) measure(outcome, *first_byte, now);
  counters_.bytes_saved.fetch_add(bytes, std::memory_order_relaxed);
  const bool counts = may_be_a_lie(cause) && !foreseen;
  switch (outcome) {
    case ClaimOutcome::true_hit:
      counters_.true_hits.fetch_add(1, std::memory_order_relaxed);
      probation_.prove();
      return judge_claim(outcome, now);
    case ClaimOutcome::false_hit:
      count_false_hit(cause);
      probation_.answered();
      if (cause != FalseHit::refused) probation_.serves_us();
      if (counts) judge_claim(outcome, now, reason_of(cause));
      return;
    case ClaimOutcome::refuses_us:
      count_false_hit(FalseHit::refused);
      return probation_.fail(Reason::refuses_us, now);
    case ClaimOutcome::late_no:
      count_false_hit(cause);
      if (counts) judge_claim(outcome, now, reason_of(cause));
      return probation_.fail(Reason::late, now);
    case ClaimOutcome::outrun:
      counters_.outruns.fetch_add(1, std::memory_order_relaxed);
      return probation_.outrun(now);
    case ClaimOutcome::overtaken:
      counters_.outruns.fetch_add(1, std::memory_order_relaxed);
      return probation_.begin_to_send();
    case ClaimOutcome::unclaimed_hit:
      counters_.unclaimed_hits.fetch_add(1, std::memory_order_relaxed);
      return probation_.prove();
    case ClaimOutcome::unclaimed_no:
      return probation_.answered();
    case ClaimOutcome::refused:
    case ClaimOutcome::timed_out:
    case ClaimOutcome::broken:
      counters_.failures.fetch_add(1, std::memory_order_relaxed);
      return probation_.fail(reason_of(outcome), now);
  }
}

void Accuracy::probed(bool held) {
  counters_.probes.fetch_add(1, std::memory_order_relaxed);
  if (held) counters_.false_misses.fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::contradicted(SteadyTime now) {
  probation_.lie(Reason::contradicted, now);
  counters_.contradictions.fetch_add(1, std::memory_order_release);  // who sees it sees the rest
}

bool Accuracy::not_a_proxy(SteadyTime now) {
  const bool is_known = probation_.resting(now) && probation_.reason() == Reason::not_a_proxy;
  counters_.failures.fetch_add(1, std::memory_order_relaxed);
  probation_.lie(Reason::not_a_proxy, now);
  return !is_known;
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

double Accuracy::came_true() const {
  const Recent recent = Recent::from(recent_.load(std::memory_order_relaxed));
  return (recent.right + 1.0) / (recent.sum() + 1.0);
}

Accuracy::Standing Accuracy::standing() const {
  return {.first_byte = first_byte(),
          .measured = measured_.load(std::memory_order_relaxed),
          .came_true = came_true(),
          .under_way = under_way_.load(std::memory_order_relaxed),
          .on_probation = probation_.on()};
}

Accuracy::Books Accuracy::books() const {
  Books books{.claims = counters_.claims.load(std::memory_order_relaxed),
              .asked = counters_.asked.load(std::memory_order_relaxed),
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
              .outruns = counters_.outruns.load(std::memory_order_relaxed),
              .unclaimed_hits = counters_.unclaimed_hits.load(std::memory_order_relaxed)};
  for (std::size_t cause = 0; cause < kFalseHits; ++cause) {
    books.by_cause[cause] = counters_.false_hits[cause].load(std::memory_order_relaxed);
    books.false_hits += books.by_cause[cause];
  }
  for (std::size_t reason = 0; reason < kReasons; ++reason) {
    books.rests[reason] = probation_.rests(reason);
  }
  books.reason = probation_.reason();
  const auto measured = FirstByte::from(first_byte_.load(std::memory_order_relaxed));
  if (measured.measured()) books.first_byte = measured.mean();
  return books;
}

void Accuracy::measure(ClaimOutcome outcome, std::chrono::microseconds first_byte, SteadyTime now) {
  // Before the estimate: who sees that there is one sees when it was made.
  const auto last = measured_.exchange(now, std::memory_order_relaxed);
  const bool is_old = last != SteadyTime::min() && now - last >= kFades;
  const bool at_least = outcome == ClaimOutcome::outrun || outcome == ClaimOutcome::timed_out;
  std::uint64_t before = first_byte_.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    auto known = FirstByte::from(before);
    // A slow answer long ago says little of a neighbour that is quick now.
    if (is_old && !at_least && 2 * first_byte < known.mean()) known = FirstByte();
    after = (at_least ? known.with_at_least(first_byte) : known.with(first_byte)).packed();
  } while (!first_byte_.compare_exchange_weak(before, after, std::memory_order_release,
                                              std::memory_order_relaxed));
}

void Accuracy::count_false_hit(FalseHit cause) {
  counters_.false_hits[static_cast<std::size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
}

void Accuracy::judge_claim(ClaimOutcome outcome, SteadyTime now, Reason reason) {
  std::uint64_t before = recent_.load(std::memory_order_relaxed);
  Recent after{};
  do {
    after = Recent::from(before).with(outcome);
  } while (!recent_.compare_exchange_weak(before, after.packed(), std::memory_order_relaxed));
  if (!after.absurd()) return;
  probation_.lie(reason, now);
  recent_.store(0, std::memory_order_relaxed);
}

}  // namespace peers
