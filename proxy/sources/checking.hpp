// Checks neighbours: compares a sample of what they give with what the origin says. No client waits
// for that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "peers/peer.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Worker;

// A response that a neighbour has given. `length`: of the complete body, if known.
struct Given {
  std::shared_ptr<const cache::Entry> entry;
  std::optional<std::uint64_t> length;
  peers::PeerRef by;
};

// Asks the origin for what the neighbour gave, and compares (contradiction.hpp). Distrusts the
// neighbour if the origin contradicts it three times in a row: the servers of one origin may
// differ. Returns at once; a detached coroutine on the worker's thread does the rest. The origin's
// bodies are not read, unless they are short. Does nothing if too many questions are under way.
void check_given(Worker& worker, const Request& request, Given given);
// Call this when a neighbour has given a response to the request. As check_given(), in the share
// `digest.check_sample` of the calls.
void sample_given(Worker& worker, const Request& request, Given given);

// The neighbour has given a response for this URL that never was the origin's. Rests the neighbour,
// says so in the log, and purges all that it gave and no origin has confirmed: in memory, on disk
// and under way. Returns at once; the purge is done on the worker's thread and the thread `aside`.
void distrust(Worker& worker, peers::PeerRef peer, std::string_view url);

}  // namespace proxy
