// Passes the origin's answer to a forwarded request on to the client.
#pragma once

#include "proxy/answer/passed_request.hpp"
#include "proxy/answer/post_capture.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy {

// Sends the final answer that `passed` has received at `times`. `reason`: why the request was
// forwarded. `capture` (or null) gets a copy of the body, and stores it once it is whole. If the
// origin cuts the answer, aborts the client's, too.
net::Task<void> relay(Client& client, const Request& request, PassedRequest& passed,
                      const cache::Times& times, http::Forward reason, PostCapture* capture);

}  // namespace proxy
