#include "peers/probation.hpp"

#include <algorithm>

namespace peers {
namespace {

std::chrono::seconds rest_after(std::uint32_t failures_before) {
  return std::min(kLongestRest, kFirstRest * (1 << std::min(failures_before, 6U)));
}

}  // namespace

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
    case Reason::not_a_proxy:
      return "not-a-proxy";
    case Reason::refuses_us:
      return "refuses-us";
    case Reason::none:
      break;
  }
  return "none";
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
  if (rests_whatever_it_does(now) || breaks_off()) return;
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

bool Probation::rests_whatever_it_does(SteadyTime now) const {
  const auto why = reason();
  return resting(now) && (why == Reason::lies || why == Reason::contradicted ||
                          why == Reason::not_a_proxy || why == Reason::refuses_us);
}

void Probation::blame(Reason reason, SteadyTime now) {
  if (!rests_whatever_it_does(now)) reason_.store(reason, std::memory_order_relaxed);
}

void Probation::begin_rest(Reason reason) {
  reason_.store(reason, std::memory_order_relaxed);
  rests_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace peers
