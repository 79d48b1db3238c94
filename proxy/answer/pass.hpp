// Requests that go to the origin as they are: nothing is shared, and stored only an answer to POST
// that says so (posted.hpp).
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Both bodies stream, in turn. An answer that tells of a change invalidates what is stored of it
// before the client hears of it (RFC 9111 4.4). `stale` (or null) stands in for an origin that
// fails where it may.
net::Task<void> pass(Client& client, const Request& request, BodyReader& body, http::Forward reason,
                     std::shared_ptr<const cache::Entry> stale);

}  // namespace proxy
