// The rest of a body whose source is silent, but may go on.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "proxy/sources/attempt.hpp"

namespace proxy {

// Whether reading the body has ended because a neighbour that fetches it itself is silent. The
// connection is still usable if the wait has lasted at least 1 s: see Fetch::body().
bool is_silent(const Outcome<void>& body, const Attempt& attempt);

// Asks `rest`, and waits meanwhile for more of the body of `silent`, for at most `idle`. Returns
// `rest` if its answer comes first and `fits`: then `silent` is abandoned. Else returns nothing and
// gives `rest` up: the body of `silent` goes on, has failed, or is still silent.
net::Task<std::optional<Attempt>> race_for_rest(SourceAccess& access, Attempt& silent, Attempt rest,
                                                std::function<bool(Attempt&)> fits,
                                                std::chrono::milliseconds idle);

}  // namespace proxy
