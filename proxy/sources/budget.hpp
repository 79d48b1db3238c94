// Which claimants are worth asking, and how long to wait for them, given what the origin takes.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "config/settings.hpp"
#include "peers/accuracy.hpp"

namespace proxy {

// What asking claimants may cost a request.
struct Budget {
  using Time = std::chrono::microseconds;
  // A patience that lasts as long as the time-outs allow.
  static constexpr Time kEndless = std::chrono::hours{1};

  // A claimant that is expected to take longer is not asked. Nothing: the origin's time is unknown.
  std::optional<Time> longest;
  // The next source is asked at the latest when so much time has passed since the first question.
  Time patience;
};

// `origin`: the estimate for the request's origin.
//
// A near origin (under 10 ms) is spared only where the client hardly notices: a claimant may take
// 5 ms longer. Three times the origin's time plus 20 ms would let a neighbour that is 10 ms away
// make each request to an origin in the same room four times as long.
Budget budget_against(const peers::FirstByte& origin, config::Prefer prefer);

enum class Ask : std::uint8_t {
  yes,
  no,
  // By one request at a time, which asks its next source at once, too.
  on_trial,
};
// Whether to ask a claimant. One that was too slow is tried again after a while, because it may
// have been slow for a passing reason.
Ask whether_to_ask(const peers::Accuracy::Standing& claimant, const Budget& budget,
                   peers::SteadyTime now);

// What this proxy has, or has had and left with a neighbour, of a URL that no neighbour claims.
enum class Held : std::uint8_t { nothing, stale };

// Whether a request for such a URL may wait for a neighbour of the site to say whether it is being
// fetched: the origin takes at least eight times as long, or is unknown. For what is stale here,
// twice as long is enough: copies grow stale everywhere at the same time, so a neighbour probably
// renews its own.
bool site_pays(const peers::FirstByte& origin, const peers::FirstByte& neighbour,
               config::Prefer prefer, Held held);

// Whether the origin is asked before this claimant, or at once beside it: the origin's time is
// unknown, and asking tells it, but the claimant is known not to be near.
bool origin_comes_first(const peers::FirstByte& claimant, const Budget& budget);

// How long to wait for a claimant before the next source is asked, too: its own 95th percentile,
// from 10 ms to budget.patience. 50 ms are assumed of a claimant that was never measured. No time
// at all if origin_comes_first(). With Prefer::neighbours, as long as the time-outs allow.
Budget::Time patience_with(const peers::FirstByte& claimant, const Budget& budget);

// How long to wait for more of a neighbour's body, if another source may have the rest: as long as
// for its first byte, but 50 ms at least. A neighbour's disk may take that long.
Budget::Time patience_in_body(const peers::FirstByte& neighbour, const Budget& budget);

// How long to wait for more of a body that a neighbour is fetching itself, before the origin is
// asked for the rest, too: as long as the origin mostly takes, but 1 s at least.
Budget::Time patience_in_fetched_body(const peers::FirstByte& origin);

// How long to wait for a parent before the next server of the route is asked, too: as long as the
// origin mostly takes, or 200 ms if that is unknown. With Prefer::neighbours, which is for a line
// that is paid by the byte, as long as the time-outs allow.
Budget::Time patience_with_parent(const peers::FirstByte& origin, config::Prefer prefer);

// How long to wait for a neighbour that is fetching the response itself, which began before: as
// long as the origin mostly takes.
Budget::Time patience_with_fetch(const peers::FirstByte& origin);

}  // namespace proxy
