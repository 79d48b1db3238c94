#include "peers/poll_plan.hpp"

#include <algorithm>

namespace peers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFirstPause{1};  // after a failure
// A Hearsay that has worked is mostly back soon, and until then its claims are lost.
constexpr seconds kHearsayBack{2};
constexpr seconds kUnknownBack{30};
constexpr seconds kSquidBack{300};
constexpr seconds kLongestWait{5};  // that a Hearsay is asked to hold a poll
constexpr seconds kSquidNearest{10};
constexpr seconds kSquidFarthest{3600};
constexpr seconds kSquidDefault{300};
constexpr seconds kSquidSpread{5};

milliseconds share(milliseconds whole, double part) {
  return std::chrono::duration_cast<milliseconds>(whole * part);
}

milliseconds earlier(milliseconds gap, double jitter) {
  return gap - share(gap, 0.1 * jitter);
}

milliseconds pause_after(const LastPoll& last) {
  const milliseconds longest = last.unresolved || last.kind == PeerKind::hearsay ? kHearsayBack
                               : last.kind == PeerKind::squid                    ? kSquidBack
                                                                                 : kUnknownBack;
  const auto failures = last.failures_in_a_row;
  const std::uint32_t doublings = std::min(failures > 0 ? failures - 1 : 0, 16U);
  return std::min<milliseconds>(longest, kFirstPause * (1 << doublings));
}

milliseconds squid_gap(std::optional<seconds> expires_in, double jitter) {
  const seconds expires =
      std::clamp(expires_in.value_or(kSquidDefault), seconds{0}, kSquidFarthest);
  return std::clamp<milliseconds>(expires + share(kSquidSpread, jitter), kSquidNearest,
                                  kSquidFarthest);
}

}  // namespace

SteadyTime next_poll(const LastPoll& last, milliseconds poll, double jitter, SteadyTime now) {
  const bool squid = last.kind == PeerKind::squid;
  switch (last.outcome) {
    case Polled::fetched:
    case Polled::unchanged:
      if (squid) return now + squid_gap(last.expires_in, jitter);
      return now + std::max(earlier(poll, jitter) - last.held, milliseconds{0});
    case Polled::other_form:
    case Polled::resync:
      return now;
    case Polled::building:
      return now + kSquidNearest;
    case Polled::failed:
      break;
  }
  const milliseconds pause = earlier(pause_after(last), jitter);
  return now + std::max(pause - last.overdue, milliseconds{0});
}

milliseconds silence_of(const PollLimits& limits, std::uint32_t failures_in_a_row,
                        milliseconds took) {
  const milliseconds stall = limits.stall;
  if (failures_in_a_row >= kDownAfter) return stall;
  return std::min(std::max(limits.silence, 2 * took), stall);
}

milliseconds hold_of(const PollLimits& limits, milliseconds poll) {
  return std::max(limits.hold, std::min<milliseconds>(poll, kLongestWait));
}

milliseconds held_for(milliseconds asked, milliseconds waited) {
  return std::clamp(waited, milliseconds{0}, asked);
}

std::chrono::seconds usable_for(PeerKind kind) {
  return kind == PeerKind::squid ? std::chrono::hours{2} : seconds{60};
}

}  // namespace peers
