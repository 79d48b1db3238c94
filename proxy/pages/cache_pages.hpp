// /admin/cache: what the cache holds, for those who may change it, and whether it is undamaged.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Each answers with the lines of inspect/live.hpp, as they come (send_slices.hpp).

// All that is stored, or what begins with the parameter `prefix`.
net::Task<void> serve_cache_list(Client& client, const Request& request, RequestBody& body);

// All that is stored of the parameter `url`.
net::Task<void> serve_cache_show(Client& client, const Request& request, RequestBody& body);

// Checks the disk. One verification at a time runs; a second one is answered 409.
net::Task<void> serve_cache_verify(Client& client, const Request& request, RequestBody& body);

}  // namespace proxy
