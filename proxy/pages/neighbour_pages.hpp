// The pages from which neighbours read our digest.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Sends the digest in Squid's form, or 304.
net::Task<void> serve_store_digest(const PagesAccess& pages, Client& client, const Request& request,
                                   RequestBody& body);

// Sends the digest in our own form, or 304. The digest is whole, or the changes since the
// generation that the URL names. A poll with `wait` in its URL that would get 304 is held until the
// digest changes, for that many milliseconds at most (peers/native_target.hpp).
net::Task<void> serve_native_digest(const PagesAccess& pages, Client& client,
                                    const Request& request, RequestBody& body);

}  // namespace proxy
