// hearsay peers: what the proxy knows of each neighbour.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// Prints peers_text(), or the page /digest as it is.
SteerResult peers(const Steer& steer);

// The peers of the page /digest as a table of at most this width: see table(). Nothing: it is no
// such page.
std::optional<std::string> peers_text(const std::string& digest, std::size_t width);

}  // namespace proxy::command
