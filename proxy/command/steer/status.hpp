// hearsay status: whether the proxy works, and what it holds.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/samples.hpp"
#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// Prints status_text(), or the page /health as it is. Returns 0; if `strict`, kRefusal unless the
// status is "ok".
SteerResult status(const Steer& steer, bool strict);

// The pages /health, /digest and /metrics in words. Nothing: they are no such pages.
std::optional<std::string> status_text(const std::string& health, const std::string& digest,
                                       const Samples& metrics);

}  // namespace proxy::command
