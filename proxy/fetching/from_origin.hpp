// The origin's part in a fill.
#pragma once

#include "proxy/fetching/context.hpp"
#include "proxy/fetching/origin_answer.hpp"

namespace proxy::fetching {

// The question as it is put to the origin, not asked yet. `route`: the way to the origin.
sources::Attempt attempt_at_origin(blocks::FetchAccess& access, const policy::Request& request,
                                   const OriginQuestion& question, upstream::Route route);

// Gives an origin's interim head to the clients that wait.
net::Soon<void> pass_on_interim(const FillContext& context, const http::ResponseHead& head);

// Asks the origin the question, asks again if the answer calls for another question, and writes the
// last answer. When this returns, the fill has ended. `begun`: the question, if it was asked
// already.
net::Task<void> fill_from_origin(FillContext& context, OriginQuestion question,
                                 std::optional<sources::Attempt> begun = std::nullopt);

}  // namespace proxy::fetching
