// The origin's answer to a forwarded request, on to the client.
#pragma once

#include "proxy/answer/forwarding.hpp"
#include "proxy/answer/post_capture.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy {

// Sends the final answer that `forwarding` has got. `reason` is why the request went forward.
// `capture` (or null) gets a copy of the body, and stores it once it is whole. An answer that the
// origin cuts is aborted.
net::Task<void> relay(Client& client, const Request& request, Forwarding& forwarding,
                      http::Forward reason, PostCapture* capture);

}  // namespace proxy
