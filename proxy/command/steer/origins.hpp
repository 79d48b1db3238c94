// hearsay origins: what origins did in the last hour, and what requests wait for now.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// Prints origins_text(), or the page /hearsay/origins as it is.
SteerResult origins(const Steer& steer);

// The page /hearsay/origins as tables of at most this width: see table(). Nothing: it is no such
// page.
std::optional<std::string> origins_text(const std::string& page, std::size_t width);

}  // namespace proxy::command
