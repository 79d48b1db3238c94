// How often a neighbour holds what its digest does not say: measured on a sample of the requests
// that went to the origin, off the clients' path.
#pragma once

#include <optional>

#include "digest/key.hpp"
#include "proxy/http/head.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Worker;

// For the share `digest.false_miss_sample` of its calls: asks one usable peer that does not claim
// the key, chosen at random (probe_of()), and keeps what comes of it in Accuracy::probed alone.
// Returns at once; a detached coroutine on the worker's thread does the rest, within the settings
// timeouts.peer_connect and peer_first_byte. Whatever the peer sends after the head meets no
// client's request. Call it where a sibling might have answered the request and the origin is asked
// instead.
void sample_false_miss(Worker& worker, const digest::Key& key, const Request& request);

// Whether the peer that gave this answer holds what it was asked for; nothing where it does not
// say.
std::optional<bool> says_it_holds(const http::ResponseHead& answer);

}  // namespace proxy
