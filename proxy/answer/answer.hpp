// The request path: from a parsed request to its answer.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::answer {

// Answers the request through client.response, and fills client.record for the log. On return
// `body` may be unread, and a response may be started but not finished: the session checks for the
// first, and aborts the second. Runs on the thread of client.access.
net::Task<void> answer(const pages::PagesAccess& pages, client::Client& client,
                       policy::Request& request, client::RequestBody& body);

}  // namespace proxy::answer
