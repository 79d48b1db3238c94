// A whole stored response as this client asks for it.
#pragma once

#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"

namespace proxy {

// 304 if `unmodified` (cache::is_unmodified_for), the parts that its Range selects or 416, else all
// of it: gathered writes, no copy. What else the response says is in client.reply.fields() already.
net::Task<void> send_stored(Client& client, const Request& request, const cache::Entry& entry,
                            cache::Time now, bool unmodified);

// Likewise for a response whose body is still coming.
net::Task<void> send_not_modified(Client& client, const cache::Entry& entry);

// For multipart/byteranges: one that nobody can have put into the bytes between.
std::string random_boundary();

}  // namespace proxy
