// Measures false misses: how often a neighbour holds a response that its digest does not claim.
// Takes a sample of the requests to the origin. No client waits for the measurement.
#pragma once

#include <optional>

#include "digest/key.hpp"
#include "proxy/http/head.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

struct SourceAccess;

// Call this when the origin is asked for a response that a sibling might have. In the share
// `digest.false_miss_sample` of its calls, asks a random usable peer that does not claim the key
// (probe_of()), and notes the result with Accuracy::probed() and missed(). Returns at once: a
// detached coroutine on the worker's thread does the rest, within the settings
// timeouts.peer_connect and peer_first_byte. The connection is not used again, so bytes after the
// head cannot reach a client.
void sample_false_miss(SourceAccess& access, const digest::Key& key, const Request& request);

// Whether the answer says that the peer holds the response; nothing if the answer does not tell.
std::optional<bool> says_it_holds(const http::ResponseHead& answer);

}  // namespace proxy
