// The origin's part in a fill.
#pragma once

#include "proxy/fetching/context.hpp"
#include "proxy/fetching/origin_answer.hpp"

namespace proxy {

// Asks the origin the question, asks again if the answer calls for another question, and writes the
// last answer. When this returns, the fill has ended.
net::Task<void> fill_from_origin(FillContext& context, OriginQuestion question);

}  // namespace proxy
