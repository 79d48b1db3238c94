// Answers OPTIONS and TRACE that may be forwarded no further (Max-Forwards: 0).
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Whether the request may be forwarded no further.
bool is_last_hop(const Request& request);

// Answers as the final recipient (RFC 9110 7.6.2): OPTIONS with the methods that this proxy
// forwards, TRACE with the request as it arrived, without credentials.
net::Task<void> answer_as_last(Client& client, const Request& request);

}  // namespace proxy
