// CONNECT, and what else becomes bytes both ways, unseen.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// The port has been allowed already; the address is checked when it is connected to. Returns as
// carry_both() does.
net::Task<void> tunnel(Client& client, const Request& request);

// Sends the client `head`, with which the tunnel begins, and what the server has sent after its
// own; the server what the client has sent after its own; then carries bytes both ways. Nothing of
// HTTP follows on either connection. Returns when both sides are done, or nothing has moved for the
// setting timeouts.body.
net::Task<void> carry_both(Client& client, net::Stream& server, const std::string& head,
                           std::string_view from_server = {});

}  // namespace proxy
