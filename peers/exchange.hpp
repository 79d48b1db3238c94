// The control thread: fetches every peer's digest over HTTP and drives what else runs by the clock.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "peers/holdings.hpp"
#include "peers/poll_plan.hpp"

namespace peers {

// GET /digest/native from each peer, what changed since the generation that we hold, or
// /squid-internal-periodic/store_digest; in origin-form and directly, whenever next_poll() says so.
// PeerDigest::automatic asks natively first. Who does not answer so is asked in Squid's form from
// then on, and natively again when it turns out to be a Hearsay, and every kNativeAgain.
// Conditional (ETag) with a Hearsay only: nobody has seen a Squid's 304. A delta that does not fit
// what we hold is counted as a resync, and all of the digest is asked for at once. An answer is
// bounded while it comes in, decoded into a new digest, checked, and only then replaces the old one
// in the directory; a bad one is counted and its reason kept. All digests kept stay under
// settings.peer_memory together; those still coming in are held to as much again.
class Exchange {
 public:
  // `tick` is called on the control thread at once and then every settings.period, with wall time
  // that never steps back. `agent` is our User-Agent. The directory must outlive the exchange.
  Exchange(PeerDirectory& directory, const config::DigestSettings& settings, std::string agent,
           std::function<void(WallTime)> tick, PollLimits limits = {});

  // Stops the thread at once, also amid a transfer.
  ~Exchange();

 private:
  class Loop;

  std::unique_ptr<Loop> loop_;
};

}  // namespace peers
