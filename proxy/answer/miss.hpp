// Answers requests whose response has to be fetched.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/fetching/lookup.hpp"

namespace proxy::answer {

// The one beginning of a miss. If the response is probably for this client alone, and a connection
// to the origin is idle, asks the origin at once. If nothing stores the answer, and its whole body
// has come with its head, passes it on; else a fill takes over the question. All other misses are
// answered from a fill: from another request's if it fits this request, else from a new one. The
// verdict is fetch, revalidate or complete.
net::Task<void> answer_miss(client::Client& client, const policy::Request& request,
                            fetching::Lookup lookup);

// Answers from an entry that a fill has stored since the search. Returns whether an answer was
// sent.
net::Task<bool> answer_by_new_entry(client::Client& client, const policy::Request& request,
                                    const fetching::Lookup& lookup);

// Answers from the fill of another request, if it fits this one. Returns whether an answer was
// sent.
net::Task<bool> answer_by_others_fill(client::Client& client, const policy::Request& request,
                                      const fetching::Lookup& lookup,
                                      std::shared_ptr<fill::Fill> fill);

}  // namespace proxy::answer
