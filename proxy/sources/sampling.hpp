// False misses: how often a neighbour holds a response that its digest does not claim. Measured on
// a sample of the requests that went to the origin, off the clients' path.
#pragma once

#include <optional>

#include "digest/key.hpp"
#include "proxy/http/head.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Worker;

// For the share `digest.false_miss_sample` of its calls: asks one usable peer that does not claim
// the key, chosen at random (probe_of()), and notes the result in Accuracy::probed alone. Returns
// at once; a detached coroutine on the worker's thread does the rest, within the settings
// timeouts.peer_connect and peer_first_byte. Bytes that the peer sends after the head meet no
// client's request. Call this when the origin is asked for a response that a sibling might have.
void sample_false_miss(Worker& worker, const digest::Key& key, const Request& request);

// Whether the peer holds the response, by its answer; nothing if the answer does not tell.
std::optional<bool> says_it_holds(const http::ResponseHead& answer);

}  // namespace proxy
