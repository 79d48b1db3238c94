// The control thread: fetches the digest of every peer over HTTP and drives periodic work.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "digest/random_words.hpp"
#include "peers/directory.hpp"
#include "peers/poll.hpp"
#include "peers/threads/alarm.hpp"

namespace peers {

// Goes on from the reports that the directory has. Polls each peer whenever next_poll() says so,
// directly and in origin-form: with GET /digest/native for what changed since the generation that
// we hold, or with /squid-internal-periodic/store_digest. PeerDigest::automatic asks for the native
// form first. If a peer refuses the native form, the exchange asks for Squid's form instead. It
// tries the native form again every kNativeAgain, and when the peer's answers show that it is a
// Hearsay.
//
// A Hearsay whose digest we hold is asked to hold the poll until its digest changes, for
// hold_time() at most. An older one answers at once, and is polled as often as ever.
//
// Requests are conditional (ETag) only to a Hearsay: Squid has never been seen to send a 304. A
// delta that does not fit the digest we hold counts as a resync, and the next request asks for a
// whole digest at once. An answer is bounded while it arrives, decoded into a new digest and
// checked. Only then does it replace the old digest in the directory. A bad answer is counted and
// its reason kept. All kept digests together take at most settings.peer_memory, shared out as
// poll.hpp says; answers that are still arriving may take twice as much again. A peer
// whose answers cost too much time is polled less often (WorkAccount).
//
// A peer whose answer names our own epoch is ourselves: it claims nothing, is left out of what the
// directory tells (Peer::is_ourselves()), and is polled every kOurselvesAgain, since its name may
// lead to another proxy later.
class Exchange {
 public:
  // Everything that is given by reference or pointer must outlive the exchange.
  struct Needs {
    PeerDirectory& directory;
    config::DigestSettings settings;
    std::string agent;  // our User-Agent
    // Called on the control thread: at the start, then every settings.period, and also when a peer
    // goes down (kDownAfter) and when `hurry` rings.
    std::function<void()> tick;
    std::function<SteadyTime()> now;  // steady time; any thread
    digest::RandomWords random;       // spreads the polls
    PollLimits limits = {};
    threads::Alarm* hurry = nullptr;  // null: none
    // The control thread increments this at least once a second while it makes progress. Null:
    // nothing is counted.
    std::atomic<std::uint64_t>* turns = nullptr;
    std::function<bool(Epoch)> names_us = [](Epoch) { return false; };  // tells our own epochs
  };

  // Starts the control thread.
  explicit Exchange(Needs needs);
  // Stops the thread at once, even in the middle of a transfer.
  ~Exchange();

 private:
  class Loop;

  std::unique_ptr<Loop> loop_;
};

}  // namespace peers
