// When a peer is polled next, what a poll may take, and how long its digest counts. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "peers/peer.hpp"

namespace peers {

enum class Polled : std::uint8_t {
  fetched,    // a good digest
  unchanged,  // 304: the one we have is current
  building,   // a Squid's 404: it has none yet, or never will (memory only)
  // Our own form is not what it gives: it is to be asked in Squid's.
  other_form,
  resync,  // what changed does not fit what we hold: the whole is to be asked for
  failed,
};

struct LastPoll {
  PeerKind kind = PeerKind::unknown;
  Polled outcome = Polled::failed;
  std::uint32_t failures_in_a_row = 0;             // this one included
  std::optional<std::chrono::seconds> expires_in;  // by the answer's own Date and Expires
};

// The earliest time for the next poll. `jitter` is in [0, 1) and only keeps peers apart.
//   Hearsay, unknown  every `poll`, up to a tenth earlier; failing: 1 s, doubling to 30 s
//   Squid             at its Expires and up to 5 s more, 10 s apart at least, 1 h at most (300 s
//                     if it has no Expires, as Squid does); building: 10 s; failing: 5 s, doubling
//                     to 5 min
// What the answer itself calls for, another form or the whole, is asked for at once.
// A failing peer may be polled up to a tenth earlier, too.
SteadyTime next_poll(const LastPoll& last, std::chrono::milliseconds poll, double jitter,
                     SteadyTime now);

// What one poll may take.
struct PollLimits {
  std::chrono::milliseconds connect{2'000};
  std::chrono::milliseconds total{30'000};
  std::chrono::seconds stall{5};  // without 100 bytes a second, the wait for the head included
};

// From a good poll on: 60 s for what is polled each second; for a Squid 2 h, which is an hour more
// than two polls can be apart.
std::chrono::seconds usable_for(PeerKind kind);

}  // namespace peers
