// Requests that go to the origin as they are: nothing is shared or stored.
#pragma once

#include "digest/key.hpp"
#include "proxy/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/request.hpp"

namespace proxy {

// Both bodies stream, in turn. A non-error answer to an unsafe method invalidates what is stored
// under `key`, that of a GET for the same URL (RFC 9111 4.4).
net::Task<void> pass(Client& client, const Request& request, BodyReader& body,
                     const digest::Key& key, http::Forward reason);

}  // namespace proxy
