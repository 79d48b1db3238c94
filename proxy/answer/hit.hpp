// Answers from the cache.
#pragma once

#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/reply/deliver.hpp"

namespace proxy {

// Sends the stored entry. If the entry is an object, fetches its missing blocks. `detail`: for
// Cache-Status: why the entry answers although it is stale, or empty. Delivered::begin_anew: the
// entry is of no use, see begin_anew().
net::Task<Delivered> serve_hit(Client& client, const Request& request, const Lookup& lookup,
                               std::string_view detail = {});

}  // namespace proxy
