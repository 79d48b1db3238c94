// Responses from the store, or from a fill, to the client.
#pragma once

#include "proxy/blocks/presence.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/reply/object_answer.hpp"

namespace proxy {

// Appends Cache-Status to the reply's fields, with the request's key where the settings say so.
void add_cache_status(Client& client, const Request& request, http::CacheStatus status);

// A hit, as send_stored() sends it. `detail`: by whose leave, where it is stale.
net::Task<void> serve(Client& client, const Request& request, const cache::Entry& entry,
                      cache::Time now, std::string_view detail = {});

struct HeldObject {
  digest::Key key;  // of the URL
  std::shared_ptr<const cache::Entry> entry;
  Presence there = Presence::stored;  // of what is wanted of it
};
// Likewise from a large object, whose missing blocks are fetched. False: nothing was sent, as the
// origin has another version, or says nothing more of this one.
net::Task<bool> serve_object(Client& client, const Request& request, HeldObject held,
                             cache::Time now, std::string_view detail = {});

// What was held before, though its origin was asked.
net::Task<void> deliver_stored(Client& client, const Request& request, const FillHead& head,
                               http::Forward reason);

// What a fill brings, while it comes. `reason` is why this request went forward. A fill that fails
// under way leaves a response that the client can tell is cut. False: as serve_object(), where the
// caller `may_begin_anew`.
net::Task<bool> deliver(Client& client, const Request& request, FillReader& reader,
                        const FillHead& head, http::Forward reason, bool may_begin_anew);

}  // namespace proxy
