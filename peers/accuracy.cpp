#include "peers/accuracy.hpp"

#include <algorithm>

#include "digest/shape.hpp"

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
    // Halved rather than cleared, so that the past fades and a liar does not begin anew every so
    // often.
    if (next.sum() < 2 * kRecentClaims) return next;
    return {next.right / 2, next.wrong / 2};
  }
  bool absurd() const { return sum() >= kRecentClaims && wrong > 4 * right; }
};

// A peer that held the response when it claimed it has not lied.
bool may_be_a_lie(FalseHit cause) {
  return cause == FalseHit::absent || cause == FalseHit::refused || cause == FalseHit::untold;
}

std::chrono::seconds rest_after(std::uint32_t failures_before) {
  return std::min(kLongestRest, kFirstRest * (1 << std::min(failures_before, 6U)));
}

}  // namespace

std::string_view to_string(Reason reason) {
  static constexpr std::array<std::string_view, kReasons> kTexts{
      "none", "refused",      "timed-out",   "broken",      "late",      "outrun",
      "lies", "contradicted", "poll-failed", "not-a-proxy", "refuses-us"};
  return digest::text_in(kTexts, reason);
}

void Probation::fail(Reason reason, SteadyTime now) {
  SteadyTime until = resting_until_.load(std::memory_order_relaxed);
  if (now < until) return;
  const auto before = failures_in_a_row_.load(std::memory_order_relaxed);
  // If several requests fail at once, only one of them doubles the rest.
  if (resting_until_.compare_exchange_strong(until, now + rest_after(before),
                                             std::memory_order_relaxed)) {
    failures_in_a_row_.fetch_add(1, std::memory_order_relaxed);
    begin_rest(reason);
  }
}

void Probation::lie(Reason reason, SteadyTime now) {
  resting_until_.store(now + kLongestRest, std::memory_order_relaxed);
  begin_rest(reason);
}

void Probation::outrun(SteadyTime now) {
  if (!outrun_.exchange(true, std::memory_order_relaxed)) blame(Reason::outrun, now);
}

void Probation::unresolved(SteadyTime now) {
  if (resting(now)) return;
  if (!on()) reason_.store(Reason::none, std::memory_order_relaxed);
  resting_until_.store(now + kFirstRest, std::memory_order_relaxed);
}

void Probation::prove() {
  failures_in_a_row_.store(0, std::memory_order_relaxed);
  outrun_.store(false, std::memory_order_relaxed);
}

void Probation::begin_to_send() {
  if (!breaks_off()) prove();
}

void Probation::heard(SteadyTime now) {
  heard_.store(now, std::memory_order_relaxed);
  if (must_rest(now) || breaks_off()) return;
  if (resting(now)) resting_until_.store(now, std::memory_order_relaxed);
}

void Probation::poll_failed(SteadyTime now) {
  if (!poll_failed_.exchange(true, std::memory_order_relaxed)) blame(Reason::poll_failed, now);
}

bool Probation::polled(SteadyTime now) {
  const bool is_back = poll_failed_.exchange(false, std::memory_order_relaxed);
  // Somebody else had its address when the poll failed.
  if (is_back && reason() == Reason::not_a_proxy)
    reason_.store(Reason::none, std::memory_order_relaxed);
  // Somebody at its address has answered us, as if it had polled us.
  if (is_back) heard(now);
  return is_back;
}

bool Probation::resting(SteadyTime now) const {
  return now < resting_until_.load(std::memory_order_relaxed);
}

bool Probation::on() const {
  return failures_in_a_row_.load(std::memory_order_relaxed) > 0 ||
         outrun_.load(std::memory_order_relaxed) || poll_failed_.load(std::memory_order_relaxed);
}

bool Probation::must_rest(SteadyTime now) const {
  const auto why = reason();
  return resting(now) && (why == Reason::lies || why == Reason::contradicted ||
                          why == Reason::not_a_proxy || why == Reason::refuses_us);
}

void Probation::blame(Reason reason, SteadyTime now) {
  if (!must_rest(now)) reason_.store(reason, std::memory_order_relaxed);
}

void Probation::begin_rest(Reason reason) {
  reason_.store(reason, std::memory_order_relaxed);
  rests_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

std::string_view to_string(FalseHit cause) {
  static constexpr std::array<std::string_view, kFalseHits> kTexts{
      "absent", "gone", "stale", "variant", "refused", "untold", "unknown", "unfit"};
  return digest::text_in(kTexts, cause);
}

bool beyond_prediction(std::uint64_t absent, std::uint64_t lookups, double rate) {
  constexpr double kChance = 10;  // so many of few lookups may be bad luck
  return static_cast<double>(absent) > 2 * rate * static_cast<double>(lookups) + kChance;
}

void Accuracy::record(const Asked& asked, SteadyTime now) {
  const auto [outcome, first_byte, bytes, cause, foreseen] = asked;
  if (first_byte) measure(outcome, *first_byte, now);
  add(counts_.bytes_saved, bytes);
  const bool counts = may_be_a_lie(cause) && !foreseen;
  const auto lie = cause == FalseHit::refused ? Reason::refuses_us : Reason::lies;
  switch (outcome) {
    case ClaimOutcome::true_hit:
      add(counts_.true_hits);
      probation_.prove();
      return judge_claim(outcome, now);
    case ClaimOutcome::false_hit:
      add(counts_.by_cause[static_cast<std::size_t>(cause)]);
      probation_.answered();
      if (cause != FalseHit::refused) probation_.serves_us();
      if (counts) judge_claim(outcome, now, lie);
      return;
    case ClaimOutcome::refuses_us:
      add(counts_.by_cause[static_cast<std::size_t>(FalseHit::refused)]);
      return probation_.fail(Reason::refuses_us, now);
    case ClaimOutcome::late_no:
      add(counts_.by_cause[static_cast<std::size_t>(cause)]);
      if (counts) judge_claim(outcome, now, lie);
      return probation_.fail(Reason::late, now);
    case ClaimOutcome::outrun:
      add(counts_.outruns);
      return probation_.outrun(now);
    case ClaimOutcome::overtaken:
      add(counts_.outruns);
      return probation_.begin_to_send();
    case ClaimOutcome::unclaimed_hit:
      add(counts_.unclaimed_hits);
      return probation_.prove();
    case ClaimOutcome::unclaimed_no:
      return probation_.answered();
    case ClaimOutcome::refused:
    case ClaimOutcome::timed_out:
    case ClaimOutcome::broken:
      add(counts_.failures);
      return probation_.fail(outcome == ClaimOutcome::refused     ? Reason::refused
                             : outcome == ClaimOutcome::timed_out ? Reason::timed_out
                                                                  : Reason::broken,
                             now);
  }
}

void Accuracy::contradicted(SteadyTime now) {
  probation_.lie(Reason::contradicted, now);
  counts_.contradictions.fetch_add(1, std::memory_order_release);  // who sees it sees the rest
}

bool Accuracy::not_a_proxy(SteadyTime now) {
  const bool is_known = probation_.resting(now) && probation_.reason() == Reason::not_a_proxy;
  add(counts_.failures);
  probation_.lie(Reason::not_a_proxy, now);
  return !is_known;
}

void Accuracy::begin_use(std::uint64_t total) {
  const auto usage = usage_.load(std::memory_order_relaxed);
  if (usage >= 0) return;
  usage_.store(static_cast<std::int64_t>(total) + 1 + usage, std::memory_order_relaxed);
}

void Accuracy::end_use(std::uint64_t total) {
  const auto usage = usage_.load(std::memory_order_relaxed);
  if (usage < 0) return;
  usage_.store(usage - static_cast<std::int64_t>(total) - 1, std::memory_order_relaxed);
}

std::uint64_t Accuracy::lookups(std::uint64_t total) const {
  const auto usage = usage_.load(std::memory_order_relaxed);
  const auto counted = usage >= 0 ? static_cast<std::int64_t>(total) - usage : -1 - usage;
  // `total` may be older than usage_.
  return static_cast<std::uint64_t>(std::max<std::int64_t>(counted, 0));
}

Accuracy::Standing Accuracy::standing() const {
  const Recent recent = Recent::from(recent_.load(std::memory_order_relaxed));
  return {
      .first_byte = first_byte(),
      .measured = measured_.load(std::memory_order_relaxed),
      // One true claim is assumed: a peer that nobody has asked is asked before one that was wrong.
      .came_true = (recent.right + 1.0) / (recent.sum() + 1.0),
      .under_way = under_way_.load(std::memory_order_relaxed),
      .on_probation = probation_.on()};
}

Accuracy::Books Accuracy::books() const {
  Books books;
  // A count may change meanwhile: they are read one by one.
  static_cast<AnswerCounts<std::uint64_t>&>(books) = {
      counts_.claims,   counts_.asked,       counts_.true_hits, {},
      counts_.failures, counts_.bytes_saved, counts_.outruns,   counts_.unclaimed_hits};
  static_cast<CheckCounts<std::uint64_t>&>(books) = {counts_.probes, counts_.false_misses,
                                                     counts_.checks, counts_.contradictions,
                                                     counts_.bytes_sent};
  for (std::size_t cause = 0; cause < kFalseHits; ++cause) {
    books.by_cause[cause] = counts_.by_cause[cause];
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
  const auto with = [&](FirstByte known) {
    // A slow answer long ago says little of a neighbour that is quick now.
    if (is_old && !at_least && 2 * first_byte < known.mean()) known = FirstByte();
    return at_least ? known.with_at_least(first_byte) : known.with(first_byte);
  };
  for (Estimate* const estimate : {&first_byte_, &answers_}) {
    if (at_least && estimate == &answers_) break;
    std::uint64_t before = estimate->load(std::memory_order_relaxed);
    while (!estimate->compare_exchange_weak(before, with(FirstByte::from(before)).packed(),
                                            std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
}

void Accuracy::judge_claim(ClaimOutcome outcome, SteadyTime now, Reason reason) {
  std::uint64_t before = recent_.load(std::memory_order_relaxed);
  Recent after{};
  do {
    after = Recent::from(before).with(outcome);
  } while (!recent_.compare_exchange_weak(before, after.packed(), std::memory_order_relaxed));
  if (!after.absurd()) return;
  // After its rest a peer is judged by what it does then.
  probation_.lie(reason, now);
  recent_.store(0, std::memory_order_relaxed);
}

}  // namespace peers
