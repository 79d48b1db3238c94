// Answers requests whose response has to be fetched.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/fetching/lookup.hpp"

namespace proxy::answer {

// Answers from a fill: from another request's if it fits this request, else from a new one. A
// response that is probably for this client alone needs no fill if it comes at once as a whole. The
// verdict is fetch, revalidate or complete.
net::Task<void> answer_miss(client::Client& client, const policy::Request& request,
                            fetching::Lookup lookup);

// Answers from the fill of another request, if it fits this one. Returns whether an answer was
// sent.
net::Task<bool> answer_by_others_fill(client::Client& client, const policy::Request& request,
                                      const fetching::Lookup& lookup,
                                      std::shared_ptr<fill::Fill> fill);

}  // namespace proxy::answer
