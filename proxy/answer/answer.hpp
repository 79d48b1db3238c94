// The request path: one coroutine from a parsed request to its answer.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Answers the request through client.reply. Afterwards reply.may_go_on() tells whether the
// connection can take another one; `body` has been read to its end, or not.
net::Task<void> answer(Client& client, Request& request, BodyReader& body);

}  // namespace proxy
