// CONNECT through a parent.
#pragma once

#include <cstdint>

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy {

enum class ThroughParent : std::uint8_t {
  answered,  // the tunnel has ended, or was refused
  no_way,    // no parent has a way to the host, and the host itself may be asked
};
// Asks the parents of the route, in turn, for a tunnel to the request's host, and carries it to its
// end. A parent that answers with an error of its own is asked no more; the client gets any other
// refusal as it is.
net::Task<ThroughParent> tunnel_through_parent(Client& client, const Request& request,
                                               const upstream::Route& route);

}  // namespace proxy
