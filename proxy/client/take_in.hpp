// Derives from a client and the settings what all rules about its request need.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Pins the policy in force, notes how the request arrived, finds the rule of its site, and
// completes its facts. Call this once, before any other use of the request.
void take_in(const Client& client, Request& request);

}  // namespace proxy
