// CONNECT: bytes both ways, unseen.
#pragma once

#include "proxy/client.hpp"
#include "proxy/request.hpp"

namespace proxy {

// The port has been allowed already; the address is checked when it is connected to. Returns when
// both sides are done, or nothing has moved for the setting timeouts.body.
net::Task<void> tunnel(Client& client, const Request& request);

}  // namespace proxy
