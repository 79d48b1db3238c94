// What the answer to a forwarded request changes in the cache.
#pragma once

#include <chrono>

#include "proxy/cache/entry.hpp"
#include "proxy/request/request.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

// Drops the stored responses that the answer to an unsafe method invalidates (RFC 9111 4.4).
// Returns when they are gone for good, on disk too.
net::Task<void> invalidate(Worker& worker, const Request& request,
                           const http::ResponseHead& answer);

// Updates or drops the response stored for GET by the answer to HEAD (RFC 9111 4.3.5). `since`:
// when the HEAD was sent; what has been invalidated later stays as it is.
void heed_head(Process& process, const Request& request, const http::ResponseHead& answer,
               const cache::Times& times, std::chrono::steady_clock::time_point since);

}  // namespace proxy
