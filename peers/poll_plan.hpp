// When a peer is polled next, what a poll may take, and how long its digest stays usable. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"

namespace peers {

enum class Polled : std::uint8_t {
  fetched,    // a good digest
  unchanged,  // 304: the digest we have is current
  building,   // a Squid's 404: it has no digest yet, or never will (memory only)
  // The peer does not serve the native form: ask for Squid's.
  other_form,
  resync,  // the delta does not fit the digest we hold: ask for a whole one
  failed,
};

struct LastPoll {
  PeerKind kind = PeerKind::unknown;
  Polled outcome = Polled::failed;
  std::uint32_t failures_in_a_row = 0;             // including this one
  std::optional<std::chrono::seconds> expires_in;  // the response's Expires minus its Date
  std::chrono::milliseconds held{0};     // how long the peer held the poll, as it was asked to
  std::chrono::milliseconds overdue{0};  // of a failed poll: how long its answer was waited for,
                                         // beyond the time that the peer was asked to hold it
  bool unresolved = false;               // it failed since the name of the host was not resolved
};

// The earliest time of the next poll. `jitter` is in [0, 1) and only spreads the polls of several
// peers.
//   Hearsay, unknown  every `poll`, up to a tenth earlier, from the time when the last one began
//                     to be held, if it was
//   Squid             at its Expires or up to 5 s later, at least 10 s and at most 1 h from now
//                     (300 s if there is no Expires, as Squid does); building: 10 s
//   failing           1 s from the time when its answer was due, doubling to 2 s for a Hearsay, to
//                     30 s for a peer that never answered, to 5 min for a Squid; to 2 s where the
//                     name of its host was not resolved, since that says nothing of the peer
// If the answer calls for another form or for a whole digest, the next poll is due at once. A
// failing peer may also be polled up to a tenth earlier. The exchange may begin a poll a twentieth
// of `poll` earlier still, together with others.
SteadyTime next_poll(const LastPoll& last, std::chrono::milliseconds poll, double jitter,
                     SteadyTime now);

// What one poll may take. A poll that may be held has its hold beside `total` and the silence.
struct PollLimits {
  std::chrono::milliseconds connect{2'000};  // of a peer that is down; else the silence ends before
  std::chrono::milliseconds total{30'000};
  std::chrono::seconds stall{5};  // with under 100 bytes a second, once the answer has begun
  // A peer may be silent for this long: from the request on, and between two parts of its answer. A
  // busy neighbour answers sooner. A peer that is down may be silent for `stall`: its polls then
  // succeed even if the peer always answers late.
  std::chrono::milliseconds silence{1'000};
  // The poll asks a Hearsay to hold it at least this long while the digest does not change. A quiet
  // neighbour thus costs one poll in this time, and a change is known as soon as it is published.
  std::chrono::milliseconds hold{1'000};
};

// How soon a peer that stops without a word, or loses its power, is down (kDownAfter), at most:
//   Hearsay  `poll`, hold_of() and twice `silence` later: 4 s if `poll` is 1 s. If its digest was
//            quiet, its poll is held already, and it takes 3 s
//   Squid    twice `silence` after its next poll is due: 2 s
// A peer that refuses connections is down 1 s after its next poll is due. A peer that lacks
// processor time for less than twice `silence` is not down. For a peer that always answers late,
// `silence` here is what silence_of() says.

// For how long a peer may be silent in its next poll: twice as long as its last good answer took
// (`took`, a hold not counted), but at least `silence`, and at most `stall`.
std::chrono::milliseconds silence_of(const PollLimits& limits, std::uint32_t failures_in_a_row,
                                     std::chrono::milliseconds took);

// For how long a Hearsay is asked to hold a poll: if it is polled seldom, for longer, up to 5 s.
std::chrono::milliseconds hold_of(const PollLimits& limits, std::chrono::milliseconds poll);

// How long the peer held a poll: the wait for its answer, as far as it was asked to wait.
std::chrono::milliseconds held_for(std::chrono::milliseconds asked,
                                   std::chrono::milliseconds waited);

// How long a digest is usable after a good poll: 60 s if it is polled each second; 2 h for a Squid,
// an hour more than the longest time between two polls.
std::chrono::seconds usable_for(PeerKind kind);

}  // namespace peers
