// Our digest as neighbours read it.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// The digest in Squid's form, or 304.
net::Task<void> serve_store_digest(Client& client, const Request& request, RequestBody& body);

// The digest in our own form, whole or as the changes since the generation in the URL, or 304.
net::Task<void> serve_native_digest(Client& client, const Request& request, RequestBody& body);

}  // namespace proxy
