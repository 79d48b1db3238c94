// What the answer to a forwarded request changes in the cache.
#pragma once

#include <chrono>

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Drops the stored responses that the answer to an unsafe method invalidates (RFC 9111 4.4).
// Returns when they are gone for good, on disk too.
net::Task<void> invalidate(const ServeAccess& access, const Request& request,
                           const http::ResponseHead& answer);

// The answer to HEAD updates or drops the response that is stored for GET (RFC 9111 4.3.5).
// `since`: the time when the HEAD was sent. If the URL was invalidated after it, changes nothing.
void heed_head(const ServeAccess& access, const Request& request, const http::ResponseHead& answer,
               const cache::Times& times, std::chrono::steady_clock::time_point since);

}  // namespace proxy
