// The promises that every input is held to, beside those that the sanitizers check.
#pragma once

#include <deque>

#include "proxy/policy/policy.hpp"
#include "tests/fuzz/proxy/ends.hpp"
#include "tests/fuzz/proxy/script.hpp"

namespace fuzz {

// All that went over the connections of one input, which have ended.
struct Traffic {
  const Script& script;
  const proxy::policy::Policy& policy;
  const std::deque<ClientEnd>& clients;
  const std::deque<ServerEnd>& servers;
};

// Aborts unless each client got answers, in order, that a strict reader reads: at most one for each
// request, and only the last one may be cut. A body that is whole for the client consists of bytes
// that an origin or a neighbour sent for that URL in the same Content-Encoding, each at its place.
// If all these answers were whole, it is one of their bodies. A 200 with Content-Range in answer to
// Range reaches only clients that asked for a range, as the 200 may be a part.
void judge_answers(const Traffic& traffic);

// Aborts unless each request to a server is one that a strict reader reads, in normal form, without
// the fields that a client named in Connection, and with a client's body. Neighbours are asked by
// GET or HEAD, with only-if-cached, without credentials and cookies. An origin that the settings
// name gets no field that tells of another host, method or path, unless the set-up says append.
void judge_requests(const Traffic& traffic);

}  // namespace fuzz
