// Questions of our own, for which no client waits: whether what neighbours give is the origin's,
// and how often they hold what their digests do not claim. A sample of the requests causes them.
#pragma once

#include <cstdint>
#include <optional>

#include "digest/key.hpp"
#include "peers/peer.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/task.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

struct SourceAccess;

// A response that a neighbour has given. `length`: of the complete body, if known.
struct Given {
  cache::Ref<const cache::Entry> entry;
  std::optional<std::uint64_t> length;
  peers::PeerRef by;
};

// Asks the origin for what the neighbour gave, and compares (examination.hpp). If the two differ in
// a way that no change at the origin explains, drops the stored responses of the URL, and asks
// twice more. If all answers contradict the neighbour, rests it, and drops all of it that no origin
// has confirmed, in memory, on disk and under way. Returns at once; a detached coroutine on the
// worker's thread does the rest. The origin's bodies are not read, unless they are short. Does
// nothing if too many questions are under way.
void check_given(SourceAccess& access, const Request& request, Given given);
// Call this when a neighbour has given a response to the request. Returns whether check_given() is
// to be called: in the share `digest.check_sample` of the calls.
bool is_to_be_checked(SourceAccess& access, const Request& request);

// Call this when the origin is asked for a response that a sibling might have. In the share
// `digest.false_miss_sample` of its calls, asks a random usable peer that does not claim the key
// (probe_of()), and notes the result with Accuracy::probed(). Returns at once: a detached coroutine
// on the worker's thread does the rest, within the settings timeouts.peer_connect and
// peer_first_byte. The connection is not used again, so bytes after the head cannot reach a client.
void sample_false_miss(SourceAccess& access, const digest::Key& key, const Request& request);

// For a neighbour at whose address somebody else has answered: drops all that the neighbour gave
// and no origin has confirmed, in memory, on disk and under way, in a detached coroutine, and says
// in the log what was dropped.
void disown(SourceAccess& access, const peers::PeerRef& peer);

}  // namespace proxy
