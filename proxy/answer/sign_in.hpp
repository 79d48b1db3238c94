// Finds out who asks, where an access rule needs to know.
#pragma once

#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// If the rule that decides names users, checks the credentials of the request. Returns nothing if
// no user is needed, or the user is known; client.record.user then names the user. Else returns why
// the request is refused: 407 asks for credentials. They are asked for only where nobody can
// listen: over loopback, unless access.users.cleartext is set. A client of a gateway takes it for
// the origin, and cannot name a user to a proxy: it is denied.
net::Task<std::optional<Refusal>> sign_in(Client& client, const Request& request);

}  // namespace proxy
