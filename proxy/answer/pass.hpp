// Requests that go to the origin as they are. Nothing is shared with other requests; the only
// answer that may be stored is one to POST (post_capture.hpp).
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Forwards the request and its body, and answers with what the origin answers. If the answer tells
// of a change, the stored responses that it outdates are dropped before the client hears of it (RFC
// 9111 4.4). `reason` is why the request goes forward. `stale` (or null) may stand in for an origin
// that fails.
net::Task<void> pass(Client& client, const Request& request, RequestBody& body,
                     http::Forward reason, std::shared_ptr<const cache::Entry> stale);

}  // namespace proxy
