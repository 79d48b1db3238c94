// The pages from which neighbours read our digest.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Sends the digest in Squid's form, or 304.
net::Task<void> serve_store_digest(Client& client, const Request& request, RequestBody& body);

// Sends the digest in our own form, or 304. The digest is whole, or the changes since the
// generation that the URL names.
net::Task<void> serve_native_digest(Client& client, const Request& request, RequestBody& body);

}  // namespace proxy
