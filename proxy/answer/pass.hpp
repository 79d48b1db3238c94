// Forwards requests to the origin as they are. Other requests do not share their answers; only an
// answer to POST may be stored.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::answer {

// Forwards the request and its body, and passes on the origin's answer. If the answer shows that
// stored responses are outdated, they are dropped before the client gets the answer (RFC 9111 4.4).
// `reason`: why the request is forwarded. `stale` (or null) may stand in for an origin that fails.
net::Task<void> pass(client::Client& client, const policy::Request& request,
                     client::RequestBody& body, http::Forward reason,
                     cache::Ref<const cache::Entry> stale);

}  // namespace proxy::answer
