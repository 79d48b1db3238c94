// Sends a stored response: whole, in parts, or as 304.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"

namespace proxy {

struct Request;

// Sends 304 if `unmodified` (cache::is_unmodified_for), the parts that Range selects or 416, else
// the whole entry. Bodies are written from the store's blocks, without a copy. The caller has added
// the fields of this response alone to client.response.fields().
net::Soon<void> send_stored(Client& client, const Request& request, const cache::Entry& entry,
                            cache::Time now, bool unmodified);

// Sends the 304. The entry's body need not be complete yet.
net::Task<void> send_not_modified(Client& client, const cache::Entry& entry);

// An unpredictable boundary for multipart/byteranges, so that no body contains it.
std::string random_boundary();

}  // namespace proxy
