// Answers that have to be fetched.
#pragma once

#include "proxy/answer/lookup.hpp"
#include "proxy/client/client.hpp"

namespace proxy {

// Answers from a fill: that of another request if it fits this one, else one that is begun here.
// The verdict is fetch, revalidate or complete.
net::Task<void> answer_miss(Client& client, const Request& request, Lookup lookup);

// Begins to validate the stale entry that was found, unless that is under way. Nobody waits for it.
void refresh(Client& client, const Request& request, const Lookup& lookup);

}  // namespace proxy
