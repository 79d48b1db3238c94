// Derives from a client and the settings what all rules about its request need.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Pins the policy in force, notes how the request arrived, finds the rule of its site, and
// completes its facts. Call this once, before any other use of the request.
void take_in(const Client& client, Request& request);

// Whether a neighbour asks by this request for the epoch of our digest. Only a client that may read
// the digest learns it. Call this after take_in().
bool asks_for_epoch(const Request& request);

}  // namespace proxy
