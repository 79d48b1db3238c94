// The request path: from a parsed request to its answer.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Answers the request through client.response and notes in client.record how. `body` has been read
// to its end or not: the session looks. A response that is started and not finished on return is
// the session's to abort. Runs on the worker's thread.
net::Task<void> answer(Client& client, Request& request, RequestBody& body);

}  // namespace proxy
