// The origin's part in a fill.
#pragma once

#include "proxy/filling/context.hpp"
#include "proxy/filling/origin_answer.hpp"

namespace proxy {

// Asks the origin the question, and the next one where the answer asks for that, and writes the
// answer. The fill has ended then.
net::Task<void> fill_from_origin(FillContext& context, OriginQuestion question);

}  // namespace proxy
