// hearsay top: what the proxy does, second by second.
#pragma once

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// Looks at /metrics each second, and shows top_text() until SIGINT or SIGTERM. With `once`, for
// programs, and where stdout is no terminal, shows one second. As JSON: a line for each second.
SteerResult top(const Steer& steer, bool once);

}  // namespace proxy::command
