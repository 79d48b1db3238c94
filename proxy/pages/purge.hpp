// Purging: what is stored goes by order of the operator, not of the rules.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"
#include "proxy/wire/input.hpp"

namespace proxy {

// PURGE of a URL: all that is stored for it goes, the digest's claim with it, what is being fetched
// for it is not stored, and for a minute no neighbour is asked for it. Answered by 200 and how many
// responses that were, 404 where none was, 403 to others than access.admin; never forwarded. In
// origin-form it is of the URL that a GET would have: of a mapped site what is stored in reverse
// mode.
net::Task<void> serve_purge(Client& client, const Request& request);

// POST of a PurgeOrder to our own page: the same for all the URLs that it names, in both key
// spaces. The answer, JSON, comes when they are gone.
net::Task<void> serve_purge_order(Client& client, const Request& request, BodyReader& body);

}  // namespace proxy
