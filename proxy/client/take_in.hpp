// Derives from a client and the settings what all rules about its request need.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Pins the policy in force, notes how the request arrived, finds the rule of its site, and
// completes its facts. Call this once, before any other use of the request.
void take_in(const Client& client, Request& request);

// Whether the request, which was taken in, is a neighbour's question that asks for the epoch of our
// digest. Only those learn it that may read the digest.
bool asks_for_epoch(const Request& request);

}  // namespace proxy
