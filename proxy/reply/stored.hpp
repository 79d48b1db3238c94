// A whole stored response as this client asks for it.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"

namespace proxy {

// Sends 304 if `unmodified` (cache::is_unmodified_for), the parts that Range selects or 416, else
// the whole entry. Bodies are written from the store's blocks, without a copy. Fields of this
// response alone are in client.response.fields() already.
net::Task<void> send_stored(Client& client, const Request& request, const cache::Entry& entry,
                            cache::Time now, bool unmodified);

// Sends the 304: also for an entry whose body is not complete yet.
net::Task<void> send_not_modified(Client& client, const cache::Entry& entry);

// A boundary for multipart/byteranges that nobody can predict, so that no body contains it.
std::string random_boundary();

}  // namespace proxy
