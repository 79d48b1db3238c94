// Purging: drops stored responses on the operator's order.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// PURGE of a URL: drops all stored responses of the URL, and ends the digest's claim. A response of
// the URL that is being fetched is not stored, and no neighbour is asked for the URL for a minute.
// The answer is 200 with the number of responses dropped, 404 if there were none, or 403 to clients
// outside access.admin; the request is never forwarded. A target in origin-form means the same URL
// as in a GET: on a mapped host, PURGE drops the responses of reverse mode.
net::Task<void> serve_purge(const PagesAccess& pages, Client& client, const Request& request);

// POST of a PurgeOrder to our own page: drops the responses of all URLs that the order names, in
// both key spaces. The answer is JSON, sent after the responses are dropped.
net::Task<void> serve_purge_order(const PagesAccess& pages, Client& client, const Request& request,
                                  RequestBody& body);

}  // namespace proxy
