// Answers a neighbour that asks for what this proxy does not claim (peers/site.hpp).
#pragma once

#include <optional>

#include "peers/site.hpp"
#include "proxy/client/client.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

// The neighbour that asks so, by its epoch. Nothing if the request is no such question.
std::optional<peers::Epoch> site_asker(const Request& request);

// Answers from the fill that is under way here, as it grows; else as `refusal` says, with the name
// of the neighbour that fetches the response, if another one does.
net::Task<void> answer_of_site(Client& client, const Request& request, const Lookup& lookup,
                               peers::Epoch asker, Refusal refusal);

}  // namespace proxy
