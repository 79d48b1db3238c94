// Answers requests whose response has to be fetched.
#pragma once

#include <cstdint>

#include "proxy/client/client.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy {

// Answers from a fill: from another request's if it fits this request, else from a new one. The
// verdict is fetch, revalidate or complete. `begun`: the origin was asked already for this request
// (Attempt::ask() has returned), so that the fill is a new one.
net::Task<void> answer_miss(Client& client, const Request& request, Lookup lookup,
                            std::optional<Attempt> begun = std::nullopt);

// Answers from the fill of another request, if it fits this one. Returns whether an answer was
// sent.
net::Task<bool> answer_by_others_fill(Client& client, const Request& request, const Lookup& lookup,
                                      std::shared_ptr<Fill> fill);

// Whom a refresh may ask.
enum class Whom : std::uint8_t { anyone, origin };
// Begins to validate the stale entry that was found, unless a validation is under way. No client
// waits for it.
void refresh(Client& client, const Request& request, const Lookup& lookup,
             Whom whom = Whom::anyone);

// Call this when a guest's unconfirmed response answers the request. In the share
// `digest.confirm_sample` of its calls, asks the origin whether it has the same response, as
// refresh() does: a 304 confirms the stored one, any other response replaces it. So guests cost the
// origin at most this share of the requests that they answer.
void confirm_some(Client& client, const Request& request, const Lookup& lookup);

}  // namespace proxy
