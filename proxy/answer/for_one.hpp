// Misses whose response is probably for one client alone.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/lookup/lookup.hpp"

namespace proxy {

// Whether the miss is probably for this client alone: other requests may not have its response, or
// could not have the last one. Only a plain question to the origin itself counts.
bool is_for_one(const Client& client, const Request& request, const Lookup& lookup);

// Asks the origin without a fill, if a connection to it is idle, so that there is nothing to wait
// for but the answer. If nothing stores the answer, and its whole body has come with its head,
// passes it on. A fill takes over in all other cases. Only if is_for_one().
net::Task<void> answer_for_one(Client& client, const Request& request, Lookup lookup);

}  // namespace proxy
