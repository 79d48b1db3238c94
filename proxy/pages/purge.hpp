// Purging: stored responses are dropped by order of the operator, not by the rules of caching.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// PURGE of a URL: drops all that is stored for the URL, with the digest's claim. A response that is
// being fetched for the URL is not stored, and no neighbour is asked for the URL for a minute. The
// answer is 200 with the number of responses dropped, 404 if there were none, or 403 to clients
// outside access.admin; the request is never forwarded. A target in origin-form means the URL that
// a GET would mean: of a mapped site, what reverse mode stored.
net::Task<void> serve_purge(Client& client, const Request& request);

// POST of a PurgeOrder to our own page: the same for all URLs that the order names, in both key
// spaces. The answer, JSON, comes when they are gone.
net::Task<void> serve_purge_order(Client& client, const Request& request, RequestBody& body);

}  // namespace proxy
