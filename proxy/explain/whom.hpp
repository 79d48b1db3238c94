// Whom a request would be sent to.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/explain/explanation.hpp"

namespace proxy {

// Fills in the parents and the server to which a tunnel leads.
void explain_tunnel(const Request& request, Explanation& explanation);

// Fills in no_neighbours, peers, owner and origin, by the rules that a miss follows. The verdict of
// `lookup` is that of the explanation.
void explain_whom(const ServeAccess& access, const Request& request, const Lookup& lookup,
                  Explanation& explanation);

}  // namespace proxy
