// OPTIONS and TRACE that may be forwarded no further (Max-Forwards: 0) are answered here.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

bool is_last_hop(const Request& request);

// As the final recipient (RFC 9110 7.6.2): OPTIONS with the methods that we forward, TRACE with
// what arrived, without credentials. Nobody stores it.
net::Task<void> answer_as_last(Client& client, const Request& request);

}  // namespace proxy
