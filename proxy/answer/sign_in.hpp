// Proxy authentication: the user is identified where an access rule names users.
#pragma once

#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

// Checks the credentials of the request if the access rule that matches it names users. Returns
// nothing if no user is needed, or the user is known; client.record.user then names the user. Else
// returns why the request is refused: 407 asks for credentials. A password that crosses the network
// can be read there, so only clients over loopback are asked for one, unless access.users.cleartext
// is set. A client of a gateway is denied, because it takes the gateway for the origin and cannot
// name a user to a proxy.
net::Task<std::optional<Refusal>> sign_in(Client& client, const Request& request);

}  // namespace proxy
