// Answers from the cache, and the validations that nobody waits for.
#pragma once

#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/fetching/lookup.hpp"

namespace proxy::answer {

// Sends the stored entry. If the entry is an object, fetches its missing blocks; if it turns out to
// be outdated, answers as a miss. In a share of the hits on a guest's unconfirmed response, asks
// the origin whether it has the same one. `detail`: for Cache-Status: why the entry answers
// although it is stale, or empty. May consume `lookup`, which outlives the task.
net::Soon<void> answer_hit(client::Client& client, const policy::Request& request,
                           fetching::Lookup& lookup, std::string_view detail = {});

// Begins to validate the stale entry that was found, unless a validation is under way. No client
// waits for it.
void refresh(client::Client& client, const policy::Request& request,
             const fetching::Lookup& lookup);

// Call this after a look-up that found no answer. If a response that is stored under another URL
// has the body that this request is for (blocks/content_record.hpp), sets `lookup` to that hit. If
// the digest of the body is not known, allocates no coroutine frame. `lookup` outlives the task.
net::Soon<void> look_elsewhere(client::Client& client, const policy::Request& request,
                               fetching::Lookup& lookup);

}  // namespace proxy::answer
